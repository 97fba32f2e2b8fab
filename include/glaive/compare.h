#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/progress.h"

namespace glaive {

/// A hash of rows that does not depend on their order, nor on how they are cut into batches: equal
/// rows give equal hashes, other rows other ones but for a chance of about 2^-64. Values count, in
/// order of the columns; of types only what the values show, so that a string is a string whatever
/// the width of its offsets.
struct RowHash {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const RowHash&) const = default;
  std::string ToString() const;  ///< 32 hex digits
};

/// The rows of a fragment.
struct FragmentContent {
  uint64_t id = 0;
  uint64_t num_rows = 0;
  RowHash rows;     ///< of the values of all columns
  RowHash row_ids;  ///< of the values and the row ids
};

/// A version as a reader sees it.
struct TableContent {
  uint64_t version = 0;
  std::shared_ptr<arrow::Schema> schema;
  uint64_t num_rows = 0;
  RowHash rows;
  std::vector<FragmentContent> fragments;  ///< ascending by id; those without rows are left out
};

/// Reads all of a version.
arrow::Result<TableContent> ContentOf(const Dataset& dataset,
                                      const ProgressCallback& progress = {});

/// The same of rows that come from elsewhere, such as another engine. The last two columns have to
/// be _rowid and _rowaddr.
arrow::Result<TableContent> ContentOf(arrow::RecordBatchReader& rows, uint64_t version,
                                      const ProgressCallback& progress = {});

/// What is different, a line for each; empty where nothing is. With `by_fragment`, fragments and
/// row ids have to be the same ones too, as for one table read by two engines.
std::vector<std::string> Compare(const TableContent& a, const TableContent& b, bool by_fragment);

}  // namespace glaive
