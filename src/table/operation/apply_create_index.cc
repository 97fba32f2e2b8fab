#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "table/operation/apply_operations.h"
#include "table/operation/index_coverage.h"

namespace glaive::table {
namespace {

constexpr Location kOperation = {"(operation)"};

arrow::Status CheckFields(const Index& index, const wire::Schema& schema) {
  std::set<int32_t> live;
  wire::CollectFieldIds(schema.fields, &live);
  for (const int32_t id : index.entry.fields) {
    if (live.contains(id)) continue;
    return InvalidInput("index '{}' is on field {}, which the table does not have",
                        index.entry.name, id);
  }
  if (index.entry.covering_fields.size() > index.entry.fields.size()) {
    return InvalidInput("index '{}' carries {} columns, but names {}", index.entry.name,
                        index.entry.covering_fields.size(), index.entry.fields.size());
  }
  return arrow::Status::OK();
}

// Results of one index's segments are put together: all of them are row ids, or all are addresses.
arrow::Status CheckSegments(const IndexList& indices, const std::set<std::string>& changed) {
  for (const std::string& name : changed) {
    std::optional<bool> addresses;
    for (const Index& index : indices.indices()) {
      if (index.entry.name != name) continue;
      const bool of_this = wire::StoresRowAddresses(index.entry);
      if (addresses.value_or(of_this) != of_this) {
        return InvalidInput("segments of index '{}' store row ids and row addresses both", name);
      }
      addresses = of_this;
    }
  }
  return arrow::Status::OK();
}

}  // namespace

// Entries come and go as they are; one that is brought again takes the place of the old one.
arrow::Status ApplyTo(Manifest& next, const CreateIndex& change) {
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndexList::Parse(next.index_section, {next.path}));
  std::set<std::string> replaced;  // uuids
  std::set<std::string> changed;   // names
  std::vector<Index> added;
  for (const IndexMetadata& index : change.removed_indices) replaced.insert(index.uuid);
  for (const IndexMetadata& given : change.new_indices) {
    if (!wire::IsUuid(given.uuid)) {
      return InvalidInput("not the UUID of an index: '{}'", given.uuid);
    }
    ARROW_ASSIGN_OR_RAISE(Index index, IndexList::ParseEntry(wire::Serialize(given), kOperation));
    ARROW_RETURN_NOT_OK(CheckFields(index, next.schema));
    replaced.insert(index.entry.uuid);
    changed.insert(index.entry.name);
    added.push_back(std::move(index));
  }
  std::erase_if(indices.indices(),
                [&](const Index& index) { return replaced.contains(index.entry.uuid); });
  for (Index& index : added) indices.indices().push_back(std::move(index));
  ARROW_RETURN_NOT_OK(CheckSegments(indices, changed));
  return indices.Serialize().Value(&next.index_section);
}

}  // namespace glaive::table
