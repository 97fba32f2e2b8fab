#include "glaive/index.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "read/snapshot.h"
#include "table/manifest/fragments_in.h"
#include "table/manifest/index_files.h"
#include "table/operation/index_coverage.h"

namespace glaive {
namespace {

// "BTree" of "/lance.table.BTreeIndexDetails".
std::string TypeName(std::string_view type_url) {
  constexpr std::string_view kSuffix = "IndexDetails";
  type_url.remove_prefix(type_url.find_last_of("./") + 1);
  if (type_url.ends_with(kSuffix)) type_url.remove_suffix(kSuffix.size());
  return std::string(type_url);
}

void CollectPaths(const std::vector<wire::Field>& fields, const std::string& prefix,
                  std::map<int32_t, std::string>* paths) {
  for (const wire::Field& field : fields) {
    const std::string path = prefix + field.name;
    paths->emplace(field.id, path);
    CollectPaths(field.children, path + ".", paths);
  }
}

IndexSegment SegmentOf(const table::Index& index, const table::FragmentTable& fragments) {
  const IndexMetadata& entry = index.entry;
  IndexSegment segment = {.uuid = entry.uuid,
                          .dataset_version = entry.dataset_version,
                          .format_version = entry.index_version.value_or(0),
                          .created_at_ms = entry.created_at_ms,
                          .base_id = entry.base_id};
  if (index.covered) segment.fragment_ids = table::FragmentsIn(fragments, index.covered->ranges());
  for (const IndexMetadata::File& file : entry.files) {
    segment.size_bytes = segment.size_bytes.value_or(0) + file.size_bytes;
  }
  const auto num_keys =
      entry.fields.size() - std::min<size_t>(entry.covering_fields.size(), entry.fields.size());
  segment.covering_fields.assign(entry.fields.begin() + static_cast<ptrdiff_t>(num_keys),
                                 entry.fields.end());
  return segment;
}

// Of all fragments that some segment covers, each once.
arrow::Result<uint64_t> CountIndexedRows(const Dataset& dataset, const Index& index) {
  std::set<uint64_t> covered;
  for (const IndexSegment& segment : index.segments) {
    if (segment.fragment_ids)
      covered.insert(segment.fragment_ids->begin(), segment.fragment_ids->end());
  }
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  uint64_t rows = 0;
  for (const uint64_t id : covered) {
    const auto fragment = snapshot.manifest->fragments.Find(id);
    if (!fragment) continue;
    ARROW_ASSIGN_OR_RAISE(const auto parsed, fragment->Parse());
    ARROW_ASSIGN_OR_RAISE(const uint64_t live_rows, read::LiveRows(snapshot, parsed));
    rows += live_rows;
  }
  return rows;
}

}  // namespace

arrow::Result<std::vector<Index>> ListIndices(const Dataset& dataset) {
  const table::Manifest& manifest = *StateOf(dataset)->manifest;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::IndicesOf(manifest));
  std::map<int32_t, std::string> paths;
  CollectPaths(manifest.schema.fields, "", &paths);
  std::map<std::string, Index> by_name;
  for (const table::Index& entry : entries.indices()) {
    Index& index = by_name[entry.entry.name];
    if (index.segments.empty()) {
      index.name = entry.entry.name;
      index.type_url = wire::TypeOf(entry.entry);
      index.type = TypeName(index.type_url);
      index.field_ids = entry.entry.fields;
      for (const int32_t id : entry.entry.fields) {
        const auto path = paths.find(id);
        if (path != paths.end()) index.field_names.push_back(path->second);
      }
    }
    index.segments.push_back(SegmentOf(entry, manifest.fragments));
  }
  std::vector<Index> indices;
  for (auto& [name, index] : by_name) {
    ARROW_ASSIGN_OR_RAISE(index.num_rows_indexed, CountIndexedRows(dataset, index));
    indices.push_back(std::move(index));
  }
  return indices;
}

arrow::Result<Dataset> DropIndex(const Dataset& dataset, std::string_view name,
                                 const VersionOptions& options) {
  const auto& state = *StateOf(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto list, table::IndexList::Parse(state.manifest->index_section,
                                                                 {state.manifest->path}));
  table::CreateIndex change;
  for (const table::Index& index : list.indices()) {
    if (index.entry.name == name) change.removed_indices.push_back(index.entry);
  }
  if (change.removed_indices.empty()) {
    return NotFound("index '{}' is not in version {}", name, dataset.version());
  }
  return dataset::CommitVerb(dataset::PlaceOf(dataset), std::move(change), options);
}

}  // namespace glaive
