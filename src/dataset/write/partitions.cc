#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/executor.h"
#include "dataset/write/crew.h"
#include "dataset/write/stream.h"

namespace glaive::dataset {
namespace {

class PartitionedWrite {
 public:
  PartitionedWrite(const SliceableReader& rows, const std::vector<uint64_t>& first_rows,
                   const RowsTarget& target)
      : rows_(rows),
        first_rows_(first_rows),
        target_(target),
        executor_(CpuThreads() - std::min(CpuThreads(), first_rows.size())),
        written_(first_rows.size()),
        crew_(CpuThreads(), target.options.progress, target.options.events) {}

  arrow::Result<WrittenFragments> Run() && {
    size_t files_before = 0;
    const uint64_t rows_per_file = target_.options.limits.max_rows_per_file;
    for (size_t i = 0; i < first_rows_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto slice, rows_.Slice(first_rows_[i], NumRows(i)));
      crew_.Start([this, i, files_before, slice = std::move(slice)]() -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(auto written, WriteInOrder(slice, target_, OptionsOf(files_before)));
        written_[i].emplace(std::move(written));
        return arrow::Status::OK();
      });
      files_before += (NumRows(i) - 1) / rows_per_file + 1;
    }
    const arrow::Status of_caller = crew_.WaitForAtMost(0);
    crew_.Stop();
    const auto failed = crew_.FirstFailed();
    if (failed && (of_caller.ok() || KindOf(crew_.results()[*failed]) != ErrorKind::kCancelled)) {
      return ErrorOfPartition(crew_.results()[*failed], *failed, first_rows_[*failed],
                              NumRows(*failed));
    }
    ARROW_RETURN_NOT_OK(of_caller);
    WrittenFragments all = *std::move(written_.front());
    for (size_t i = 1; i < written_.size(); ++i) all.Append(*std::move(written_[i]));
    return all;
  }

 private:
  uint64_t NumRows(size_t index) const {
    const bool is_last = index + 1 == first_rows_.size();
    return (is_last ? rows_.num_rows() : first_rows_[index + 1]) - first_rows_[index];
  }

  FragmentWriterOptions OptionsOf(size_t files_before) {
    FragmentWriterOptions options = target_.options;
    uint64_t& cache_bytes = options.limits.data_cache_bytes;
    if (cache_bytes > 0) cache_bytes = std::max<uint64_t>(cache_bytes / first_rows_.size(), 1);
    options.files_before = files_before;
    options.progress = crew_.JobProgress();
    options.events = crew_.JobEvents();
    options.output = [this](auto out) { return crew_.TakingTurns(std::move(out)); };
    options.executor = &executor_;
    return options;
  }

  const SliceableReader& rows_;
  const std::vector<uint64_t>& first_rows_;
  const RowsTarget target_;
  Executor executor_;  // with what the partitions' own threads leave of the cores
  std::vector<std::optional<WrittenFragments>> written_;
  WriteCrew crew_;
};

}  // namespace

arrow::Result<WrittenFragments> WritePartitions(const SliceableReader& rows,
                                                const std::vector<uint64_t>& first_rows,
                                                const RowsTarget& target) {
  return PartitionedWrite(rows, first_rows, target).Run();
}

}  // namespace glaive::dataset
