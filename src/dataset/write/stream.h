#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "dataset/write/fragment_writer.h"
#include "dataset/write/sliceable_reader.h"
#include "table/manifest/location.h"
#include "wire/schema.h"

namespace glaive::dataset {

// What the parts of a write have in common. Borrows all of it.
struct RowsTarget {
  const table::TableLocation& table;
  const wire::Schema& fields;  // of the files, with their ids
  const FragmentWriterOptions& options;
};

// Writes the rows of a stream, as WriteOptions::n_jobs describes it. Errors of the stream and of
// callbacks come as they are; with n_jobs > 1 others name the partition.
arrow::Result<WrittenFragments> WriteStream(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const RowsTarget& target, int64_t n_jobs);

// The three ways to do it.

// File after file.
arrow::Result<WrittenFragments> WriteInOrder(std::shared_ptr<arrow::RecordBatchReader> stream,
                                             const RowsTarget& target,
                                             const FragmentWriterOptions& options);

// The same files; each is finished by another thread while the next ones are filled. At most
// `max_files` are open at a time, whose rows and pages take no more memory than those of one.
arrow::Result<WrittenFragments> WriteOverlapped(std::shared_ptr<arrow::RecordBatchReader> stream,
                                                const RowsTarget& target, size_t max_files);

// Rows from each of `first_rows` up to the next through a pipeline of its own.
arrow::Result<WrittenFragments> WritePartitions(const SliceableReader& rows,
                                                const std::vector<uint64_t>& first_rows,
                                                const RowsTarget& target);

// The first row of each of at most `max_parts` parts of about the same bytes, none below 32 MiB or
// one full file. A part ends where a file would end anyway, if that is not far.
std::vector<uint64_t> CutRows(const SliceableReader& rows, size_t max_parts,
                              const FileLimits& limits);

// "partition 2 (first row 5000, 2500 rows): ..."
arrow::Status ErrorOfPartition(const arrow::Status& cause, size_t index, uint64_t first_row,
                               uint64_t num_rows);

}  // namespace glaive::dataset
