#include "dataset/column_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "read/fragment_reader.h"

namespace glaive::dataset {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;
using Reader = std::shared_ptr<const read::FragmentReader>;

constexpr uint64_t kBudget = uint64_t{512} << 20;
constexpr uint64_t kBatchBytes = uint64_t{2} << 20;
constexpr uint64_t kMinBatchRows = 1024;
constexpr uint64_t kMaxBatchRows = uint64_t{64} << 10;

uint64_t BatchRows(const ColumnJob& job, const read::FragmentReader& rows) {
  if (job.batch_rows != 0) return job.batch_rows;
  const auto fitting =
      static_cast<uint64_t>(static_cast<double>(kBatchBytes) / std::max(rows.BytesPerRow(), 1.0));
  return std::clamp(fitting, kMinBatchRows, kMaxBatchRows);
}

arrow::Result<ColumnFileWriter> OpenWriter(const ColumnJob& job, const wire::DataFragment& fragment,
                                           const read::FragmentReader& rows) {
  ARROW_ASSIGN_OR_RAISE(auto deletions,
                        read::Deletions(job.snapshot, fragment, rows.physical_rows()));
  return ColumnFileWriter::Make(job.snapshot, job.fields, std::move(deletions),
                                rows.physical_rows());
}

arrow::Result<Batch> ReadLive(const read::FragmentReader& rows, RowRange physical) {
  return rows.Read(rows.deletions().LiveRanges(physical));
}

// One fragment after the other on this thread; waits for nobody.
arrow::Result<ColumnFile> ComputeHere(const ColumnJob& job, const wire::DataFragment& fragment,
                                      const ComputeBatch& compute) {
  ARROW_ASSIGN_OR_RAISE(const Reader rows,
                        read::FragmentReader::Open(job.snapshot, fragment, job.inputs));
  ARROW_ASSIGN_OR_RAISE(ColumnFileWriter writer, OpenWriter(job, fragment, *rows));
  const uint64_t step = BatchRows(job, *rows);
  for (uint64_t begin = 0; begin < rows->physical_rows(); begin += step) {
    const RowRange physical{begin, std::min(begin + step, rows->physical_rows())};
    ARROW_ASSIGN_OR_RAISE(Batch batch, ReadLive(*rows, physical));
    if (batch->num_rows() > 0) {
      ARROW_ASSIGN_OR_RAISE(batch, compute(batch));
    }
    ARROW_RETURN_NOT_OK(writer.Write(physical.size(), batch));
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
  const uint64_t step = BatchRows(job, *rows);
  uint64_t next_batch = 0;
  const auto next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
    const uint64_t index = next_batch++;
    if (index * step >= rows->physical_rows()) return std::nullopt;
    const RowRange physical{index * step, std::min((index + 1) * step, rows->physical_rows())};
    auto batch = std::make_shared<Batch>();
    const auto run = [&anywhere, rows, physical, batch]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(*batch, ReadLive(*rows, physical));
      if (anywhere && (*batch)->num_rows() > 0) {
        ARROW_ASSIGN_OR_RAISE(*batch, anywhere(*batch));
      }
      return arrow::Status::OK();
    };
    const auto emit = [&, physical, index, batch]() -> arrow::Status {
      if (in_turn && (*batch)->num_rows() > 0) {
        ARROW_ASSIGN_OR_RAISE(*batch, in_turn(index, *batch));
      }
      ARROW_RETURN_NOT_OK(writer.Write(physical.size(), *batch));
      if (!job.progress) return arrow::Status::OK();
      return job.progress({.rows = writer.rows(), .total_rows = rows->physical_rows()});
    };
    const auto bytes = static_cast<uint64_t>(static_cast<double>(physical.size()) *
                                             std::max(rows->BytesPerRow(), 1.0));
    return WorkUnit{bytes, run, emit};
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
