#include "dataset/columns/job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "core/pieces.h"
#include "read/fragment_reader.h"
#include "read/row_pieces.h"

namespace glaive::dataset {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;
using Reader = std::shared_ptr<const read::FragmentReader>;

constexpr uint64_t kBudget = uint64_t{512} << 20;
constexpr uint64_t kBatchBytes = uint64_t{2} << 20;
constexpr uint64_t kMaxBatchRows = uint64_t{64} << 10;

// The number of physical rows that are read at a time: their values take about kBatchBytes.
read::PieceLimits LimitsOf(const ColumnJob& job) {
  const uint64_t min_rows = std::max<uint64_t>(job.batch_rows, 1);
  const uint64_t max_rows = job.batch_rows == 0 ? kMaxBatchRows : job.batch_rows;
  return {.bytes = kBatchBytes, .min_rows = min_rows, .max_rows = max_rows};
}

uint64_t RowsFrom(const ColumnJob& job, const read::FragmentReader& rows, uint64_t begin) {
  const RowRange left{begin, rows.physical_rows()};
  const uint64_t fit =
      read::RowsWithin({&left, 1}, LimitsOf(job), [&](uint64_t row) { return rows.SizeFrom(row); });
  return std::min(fit, left.size());
}

arrow::Result<ColumnFileWriter> OpenWriter(const ColumnJob& job, const wire::DataFragment& fragment,
                                           const read::FragmentReader& rows) {
  ARROW_ASSIGN_OR_RAISE(auto deletions,
                        read::Deletions(job.snapshot, fragment, rows.physical_rows()));
  return ColumnFileWriter::Make(job.snapshot, job.fields, std::move(deletions),
                                rows.physical_rows());
}

// Some physical rows of a fragment, a piece at a time: read, computed on and written.
class RowsInPieces {
 public:
  RowsInPieces(const ColumnJob& job, Reader rows, RowRange physical)
      : rows_(std::move(rows)),
        physical_(physical),
        most_bytes_(read::MostBytes(LimitsOf(job))),
        pieces_(physical.size(), [physical](uint64_t) { return physical.size(); }) {}

  bool at_end() const { return pieces_.at_end(); }
  // Of the piece that was read last.
  const RowRange& range() const { return range_; }

  // The live rows of the next piece, as `compute` makes them, if there are any.
  arrow::Result<Batch> Next(const ComputeBatch& compute) {
    return pieces_.Next([&](Piece piece) -> arrow::Result<Batch> {
      range_ = {physical_.begin + piece.begin, physical_.begin + piece.begin + piece.size};
      const uint64_t most = piece.is_single() ? UINT64_MAX : most_bytes_;
      ARROW_ASSIGN_OR_RAISE(Batch batch, rows_->Read(rows_->deletions().LiveRanges(range_), most));
      if (!compute || batch->num_rows() == 0) return batch;
      return compute(batch);
    });
  }

 private:
  Reader rows_;
  RowRange physical_;
  uint64_t most_bytes_;
  RowRange range_;
  Pieces pieces_;
};

// One fragment after the other on this thread; waits for nobody.
arrow::Result<ColumnFile> ComputeHere(const ColumnJob& job, const wire::DataFragment& fragment,
                                      const ComputeBatch& compute) {
  ARROW_ASSIGN_OR_RAISE(const Reader rows,
                        read::FragmentReader::Open(job.snapshot, fragment, job.inputs));
  ARROW_ASSIGN_OR_RAISE(ColumnFileWriter writer, OpenWriter(job, fragment, *rows));
  for (uint64_t begin = 0; begin < rows->physical_rows();) {
    const uint64_t end = begin + RowsFrom(job, *rows, begin);
    RowsInPieces pieces(job, rows, {begin, end});
    while (!pieces.at_end()) {
      ARROW_ASSIGN_OR_RAISE(const Batch batch, pieces.Next(compute));
      ARROW_RETURN_NOT_OK(writer.Write(pieces.range().size(), batch));
    }
    begin = end;
  }
  return std::move(writer).Finish();
}

// Ranges of one fragment: read by any thread, which also computes on them if `anywhere`, and
// written by the caller.
arrow::Result<ColumnFile> ComputePipelined(const ColumnJob& job, const wire::DataFragment& fragment,
                                           const ComputeBatch& anywhere,
                                           const ComputeNumberedBatch& in_turn) {
  ARROW_ASSIGN_OR_RAISE(const Reader rows,
                        read::FragmentReader::Open(job.snapshot, fragment, job.inputs));
  ARROW_ASSIGN_OR_RAISE(ColumnFileWriter writer, OpenWriter(job, fragment, *rows));
  uint64_t begin = 0;
  uint64_t next_batch = 0;
  const auto next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
    if (begin >= rows->physical_rows()) return std::nullopt;
    const uint64_t index = next_batch++;
    const RowRange physical{begin, begin + RowsFrom(job, *rows, begin)};
    begin = physical.end;
    struct State {
      RowsInPieces pieces;
      Batch batch;
      uint64_t num_done;  // pieces
    };
    const auto state = std::make_shared<State>(State{RowsInPieces(job, rows, physical), {}, 0});
    const auto run = [&anywhere, state] {
      return state->pieces.Next(anywhere).Value(&state->batch);
    };
    const auto emit = [&, index, state]() -> arrow::Status {
      // The number of a piece behind the first is that of no batch.
      const uint64_t number = index | state->num_done++ << 32;
      if (in_turn && state->batch->num_rows() > 0) {
        ARROW_ASSIGN_OR_RAISE(state->batch, in_turn(number, state->batch));
      }
      ARROW_RETURN_NOT_OK(writer.Write(state->pieces.range().size(), state->batch));
      state->batch = nullptr;
      if (!job.progress) return arrow::Status::OK();
      return job.progress({.rows = writer.rows(), .total_rows = rows->physical_rows()});
    };
    const double bytes =
        static_cast<double>(physical.size()) * rows->SizeFrom(physical.begin).bytes;
    return WorkUnit{static_cast<uint64_t>(std::clamp(bytes, static_cast<double>(physical.size()),
                                                     static_cast<double>(kBudget))),
                    run, emit, [state] { return !state->pieces.at_end(); }};
  };
  MemoryBudget budget(kBatchBytes * 16);
  ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, next));
  return std::move(writer).Finish();
}

arrow::Status InFragment(const arrow::Status& status, const wire::DataFragment& fragment) {
  return status.ok() ? status : WithContext(status, "in fragment {}", fragment.id);
}

}  // namespace

arrow::Result<ColumnFile> ComputeInTurn(const ColumnJob& job, const wire::DataFragment& fragment,
                                        const ComputeNumberedBatch& compute) {
  auto file = ComputePipelined(job, fragment, nullptr, compute);
  if (!file.ok()) return InFragment(file.status(), fragment);
  return file;
}

arrow::Result<std::vector<ColumnFile>> ComputeFiles(const ColumnJob& job,
                                                    const ComputeBatch& compute) {
  std::vector<ColumnFile> files;
  files.reserve(job.fragments.size());
  if (job.fragments.size() < CpuThreads()) {
    for (const wire::DataFragment& fragment : job.fragments) {
      auto file = ComputePipelined(job, fragment, compute, nullptr);
      ARROW_RETURN_NOT_OK(InFragment(file.status(), fragment));
      files.push_back(*std::move(file));
    }
    return files;
  }
  // More are begun than there are threads only where files are small.
  constexpr uint64_t kBytesPerRow = 64;
  std::vector<std::optional<ColumnFile>> made(job.fragments.size());
  size_t begun = 0;
  const auto next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
    if (begun == job.fragments.size()) return std::nullopt;
    const wire::DataFragment& fragment = job.fragments[begun];
    auto& place = made[begun++];
    const auto run = [&]() -> arrow::Status {
      auto file = ComputeHere(job, fragment, compute);
      ARROW_RETURN_NOT_OK(InFragment(file.status(), fragment));
      place.emplace(*std::move(file));
      return arrow::Status::OK();
    };
    const auto emit = [&, index = begun]() -> arrow::Status {
      if (!job.progress) return arrow::Status::OK();
      return job.progress({.tasks = index, .total_tasks = job.fragments.size()});
    };
    return WorkUnit{std::min(fragment.physical_rows * kBytesPerRow, kBudget / CpuThreads()), run,
                    emit};
  };
  MemoryBudget budget(kBudget);
  ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, next));
  for (auto& file : made) files.push_back(*std::move(file));
  return files;
}

}  // namespace glaive::dataset
