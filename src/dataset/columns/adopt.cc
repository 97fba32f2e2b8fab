#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/edited_fragment.h"
#include "dataset/write/added_fields.h"
#include "dataset/write/input_stream.h"
#include "glaive/columns.h"
#include "read/snapshot.h"
#include "table/manifest/fragment_metadata.h"
#include "wire/file_version.h"
#include "wire/schema.h"

namespace glaive {
namespace {

struct FoundFile {
  wire::DataFile file;
  uint64_t num_rows = 0;
};

// The columns of a file come in the order of its own schema; each gets the id of the table's field
// at the same place of the tree.
arrow::Status MatchFields(const std::vector<wire::Field>& file,
                          const std::vector<wire::Field>& table, FileVersion version,
                          std::vector<int32_t>* ids) {
  for (const wire::Field& field : file) {
    const auto found = std::ranges::find(table, field.name, &wire::Field::name);
    // Items of lists may be called otherwise.
    const bool is_item = table.size() == 1 && file.size() == 1;
    const wire::Field& match = found == table.end() && is_item ? table.front() : *found;
    const bool is_single = wire::IsSingleColumn(field);
    if (is_single || version == FileVersion::k2_0) ids->push_back(match.id);
    if (!is_single) {
      ARROW_RETURN_NOT_OK(MatchFields(field.children, match.children, version, ids));
    }
  }
  return arrow::Status::OK();
}

// `table` is the schema that the columns are matched to.
arrow::Result<FoundFile> FindFile(const Dataset& dataset, std::string_view path,
                                  std::optional<uint32_t> base_id, const wire::Schema& table) {
  FoundFile found;
  found.file.path = std::string(path);
  found.file.base_id = base_id;
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        read::OpenDataFile(dataset::SnapshotOf(dataset), found.file));
  const file::FileMetadata& metadata = reader->metadata();
  ARROW_ASSIGN_OR_RAISE(const auto columns, wire::ToArrow(metadata.schema));
  ARROW_RETURN_NOT_OK(dataset::FieldsToAppend(table, *columns).status());
  ARROW_RETURN_NOT_OK(
      MatchFields(metadata.schema.fields, table.fields, metadata.version, &found.file.fields));
  if (found.file.fields.size() != metadata.columns.size()) {
    return Corrupt({reader->path()}, "it has {} columns, but {} fields that need one",
                   metadata.columns.size(), found.file.fields.size());
  }
  for (size_t i = 0; i < found.file.fields.size(); ++i) {
    found.file.column_indices.push_back(static_cast<int32_t>(i));
  }
  const auto [major, minor] = wire::NumbersOf(metadata.version);
  found.file.file_major_version = major;
  found.file.file_minor_version = minor;
  found.file.file_size_bytes = metadata.file_size;
  found.num_rows = metadata.num_rows;
  return found;
}

}  // namespace

arrow::Result<DataFileInfo> DescribeDataFile(const Dataset& dataset, std::string_view path,
                                             std::optional<uint32_t> base_id) {
  // Other files may hold what is not in this one.
  const wire::Schema table = dataset::AllNullable(StateOf(dataset)->manifest->schema);
  ARROW_ASSIGN_OR_RAISE(FoundFile found, FindFile(dataset, path, base_id, table));
  wire::DataFragment fragment;
  fragment.files.push_back(std::move(found.file));
  return table::MakeFragmentMetadata(std::move(fragment)).files().front();
}

arrow::Result<FragmentMetadata> AdoptDataFile(const Dataset& dataset, std::string_view path,
                                              uint64_t fragment_id) {
  ARROW_ASSIGN_OR_RAISE(FoundFile found,
                        FindFile(dataset, path, std::nullopt, StateOf(dataset)->manifest->schema));
  wire::DataFragment fragment;
  fragment.id = fragment_id;
  fragment.physical_rows = found.num_rows;
  fragment.files.push_back(std::move(found.file));
  return table::MakeFragmentMetadata(std::move(fragment));
}

arrow::Result<FragmentMetadata> CreateFragment(std::shared_ptr<arrow::RecordBatchReader> stream,
                                               std::string_view uri, uint64_t fragment_id,
                                               const WriteOptions& options) {
  WriteOptions one_file = options;
  one_file.limits.max_rows_per_file = INT64_MAX;
  one_file.limits.max_bytes_per_file = INT64_MAX;
  ARROW_ASSIGN_OR_RAISE(const auto written, WriteFragments(std::move(stream), uri, one_file));
  if (written.empty()) return InvalidInput("a fragment of no rows");
  wire::DataFragment fragment = StateOf(written.front())->fragment;
  fragment.id = fragment_id;
  return table::MakeFragmentMetadata(std::move(fragment));
}

arrow::Status ValidateFragment(const Dataset& dataset, uint64_t fragment_id) {
  ARROW_ASSIGN_OR_RAISE(const auto fragment, dataset::FragmentOf(dataset, fragment_id));
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  std::vector<int32_t> seen;
  for (const wire::DataFile& file : fragment.files) {
    for (const int32_t id : file.fields) {
      if (id < 0) continue;  // dead, or row lineage
      if (std::ranges::count(seen, id) > 0) {
        return Corrupt({file.path}, "fragment {} lists field {} twice", fragment_id, id);
      }
      seen.push_back(id);
    }
    ARROW_ASSIGN_OR_RAISE(const auto reader, read::OpenDataFile(snapshot, file));
    const uint64_t rows = reader->metadata().num_rows;
    if (fragment.physical_rows != 0 && rows != fragment.physical_rows) {
      return Corrupt({file.path}, "it holds {} rows, expected {} as fragment {} has", rows,
                     fragment.physical_rows, fragment_id);
    }
    for (const int32_t column : file.column_indices) {
      if (column < static_cast<int32_t>(reader->metadata().columns.size())) continue;
      return Corrupt({file.path}, "it has {} columns, but fragment {} names column {}",
                     reader->metadata().columns.size(), fragment_id, column);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot, fragment));
  return read::Deletions(snapshot, fragment, rows).status();
}

}  // namespace glaive
