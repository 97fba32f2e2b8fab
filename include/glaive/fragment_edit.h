#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/columns.h"
#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/scan.h"
#include "glaive/schema.h"
#include "glaive/write.h"

namespace glaive {

/// Rows of a fragment as its files have them.
struct FragmentRows {
  uint64_t physical = 0;  ///< deleted ones included
  uint64_t deleted = 0;

  uint64_t live() const { return physical - deleted; }
};

/// What FragmentMetadata knows where the manifest says it. Old writers' do not: then a data file
/// and the deletion file are opened. Errors: those of opening them, naming the file.
arrow::Result<FragmentRows> RowsOfFragment(const Dataset& dataset,
                                           const FragmentMetadata& fragment);

}  // namespace glaive

// Changes of one fragment that commit nothing: workers make them, and give what they get to whoever
// commits for all. Files that are named in a result are on stable storage, as `durability` says; a
// call that fails leaves none. InvalidInput for a fragment that the version does not have.
namespace glaive {

/// A fragment with more columns, for an operation that merges; the schema is the whole table's, and
/// the same for every fragment of a version.
struct WidenedFragment {
  FragmentMetadata fragment;
  TableSchema schema;
};

/// As the AddColumns and MergeColumns of a table, for one fragment. A stream has its rows only.
arrow::Result<WidenedFragment> AddFragmentColumns(const Dataset& dataset, uint64_t fragment_id,
                                                  const NewColumns& columns,
                                                  const VersionOptions& options = {});
arrow::Result<WidenedFragment> MergeFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options = {});

/// A fragment in which some columns lie in a new file.
struct RewrittenFragment {
  FragmentMetadata fragment;
  std::vector<int32_t> fields_modified;  ///< ids of fields with other values, parents included
  std::string matched_offsets;           ///< physical rows that were matched: portable Roaring
};

/// Gives the columns of `stream` but its key to the rows whose key is there; other rows keep their
/// values. Structs may come in part. `left_on` may be _rowid or _rowaddr.
arrow::Result<RewrittenFragment> UpdateFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options = {});

/// The fragment with a deletion file that hides the rows for which `predicate` is true as well;
/// nothing where no row is left. The fragment as it is where none is hit.
arrow::Result<std::optional<FragmentMetadata>> DeleteFromFragment(
    const Dataset& dataset, uint64_t fragment_id, const Predicate& predicate,
    const VersionOptions& options = {});
/// The same for rows by their physical offset. Errors: InvalidInput for one that is not there.
arrow::Result<std::optional<FragmentMetadata>> DeleteFragmentRows(
    const Dataset& dataset, uint64_t fragment_id, std::span<const uint64_t> offsets,
    const VersionOptions& options = {});

/// Opens what the fragment refers to. Errors: Corrupt, naming the file, where files hold another
/// number of rows than the fragment, a field twice, or deletions that cannot be.
arrow::Status ValidateFragment(const Dataset& dataset, uint64_t fragment_id);

/// A file in the table's data/ (or in a base), as an operation that refers to it wants it. Its
/// columns are matched to the table's by name. Errors: InvalidInput for columns that do not fit.
arrow::Result<DataFileInfo> DescribeDataFile(const Dataset& dataset, std::string_view path,
                                             std::optional<uint32_t> base_id = std::nullopt);

/// A fragment made of such a file. Errors: also InvalidInput where a column is missing that cannot
/// be null.
arrow::Result<FragmentMetadata> AdoptDataFile(const Dataset& dataset, std::string_view path,
                                              uint64_t fragment_id);

/// Writes a stream as one fragment, of one file; limits on the size of files do not count.
arrow::Result<FragmentMetadata> CreateFragment(std::shared_ptr<arrow::RecordBatchReader> stream,
                                               std::string_view uri, uint64_t fragment_id,
                                               const WriteOptions& options = {});

}  // namespace glaive
