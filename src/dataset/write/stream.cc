#include "dataset/write/stream.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>
#include <fmt/core.h>

#include "core/error.h"
#include "core/executor.h"
#include "dataset/write/input_stream.h"

namespace glaive::dataset {

arrow::Status ErrorOfPartition(const arrow::Status& cause, size_t index, uint64_t first_row,
                               uint64_t num_rows) {
  return ErrorOfPart(
      cause, fmt::format("partition {} (first row {}, {} rows)", index, first_row, num_rows));
}

arrow::Result<WrittenFragments> WriteInOrder(std::shared_ptr<arrow::RecordBatchReader> stream,
                                             const RowsTarget& target,
                                             const FragmentWriterOptions& options) {
  ARROW_ASSIGN_OR_RAISE(InputStream input, InputStream::Make(std::move(stream), target.fields));
  ARROW_ASSIGN_OR_RAISE(FragmentWriter writer,
                        FragmentWriter::Make(target.table, target.fields, options));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input.Next());
    if (batch == nullptr) return std::move(writer).Finish();
    ARROW_RETURN_NOT_OK(writer.Write(*batch));
  }
}

arrow::Result<WrittenFragments> WriteStream(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const RowsTarget& target, int64_t n_jobs) {
  if (n_jobs < 1) return InvalidInput("n_jobs must be at least 1, not {}", n_jobs);
  const auto* rows = dynamic_cast<const SliceableReader*>(stream.get());
  FragmentWriterOptions options = target.options;
  options.rows_stay = rows != nullptr && rows->is_in_memory();
  const RowsTarget own = {.table = target.table, .fields = target.fields, .options = options};
  if (n_jobs == 1) return WriteInOrder(std::move(stream), own, options);
  const size_t max_files =
      std::min<uint64_t>(static_cast<uint64_t>(n_jobs), std::max(CpuThreads(), IoThreads()));
  if (rows != nullptr) {
    const auto first_rows = CutRows(*rows, max_files, options.limits);
    if (first_rows.size() > 1) return WritePartitions(*rows, first_rows, own);
  }
  return WriteOverlapped(std::move(stream), own, max_files);
}

}  // namespace glaive::dataset
