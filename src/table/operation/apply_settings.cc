#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "table/operation/apply_operations.h"

namespace glaive::table {
namespace {

using wire::Field;

constexpr std::string_view kPrimaryKey = "lance-schema:unenforced-primary-key";
constexpr std::string_view kPrimaryKeyPosition = "lance-schema:unenforced-primary-key:position";
constexpr std::string_view kClusteringKey = "lance-schema:unenforced-clustering-key:position";

void Edit(const UpdateMap& update, wire::StringMap& map) {
  if (update.replace) map.clear();
  for (const auto& [key, value] : update.entries) {
    if (value) {
      map[key] = *value;
    } else {
      map.erase(key);
    }
  }
}

void VisitTree(const std::vector<Field>& fields, const std::function<void(const Field&)>& visit) {
  for (const Field& field : fields) {
    visit(field);
    VisitTree(field.children, visit);
  }
}

Field* FindField(std::vector<Field>& fields, int32_t id) {
  for (Field& field : fields) {
    if (field.id == id) return &field;
    if (Field* const found = FindField(field.children, id)) return found;
  }
  return nullptr;
}

// Ids of the fields that make up a key: those with a position in order of it, then the others.
using Position = uint32_t Field::*;
std::vector<int32_t> KeyFields(const wire::Schema& schema, Position position,
                               const std::function<bool(const Field&)>& is_key) {
  std::vector<std::pair<uint32_t, int32_t>> found;
  VisitTree(schema.fields, [&](const Field& field) {
    // What has no position wraps around to the end.
    if (is_key(field)) found.emplace_back(field.*position - 1, field.id);
  });
  std::ranges::sort(found);
  std::vector<int32_t> ids;
  for (const auto& entry : found) ids.push_back(entry.second);
  return ids;
}

std::vector<int32_t> PrimaryKey(const wire::Schema& schema) {
  return KeyFields(schema, &Field::unenforced_primary_key_position,
                   [](const Field& field) { return field.unenforced_primary_key; });
}

std::vector<int32_t> ClusteringKey(const wire::Schema& schema) {
  return KeyFields(schema, &Field::unenforced_clustering_key_position,
                   [](const Field& field) { return field.unenforced_clustering_key_position > 0; });
}

bool Writes(const UpdateConfig& update, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(update.field_metadata, [&](const auto& entry) {
    return std::ranges::any_of(keys, [&](std::string_view key) {
      return entry.second.entries.contains(std::string(key));
    });
  });
}

// A key is chosen once: readers may rely on it for good.
arrow::Status CheckKey(std::string_view name, const std::vector<int32_t>& before,
                       const std::vector<int32_t>& after, bool is_written) {
  if (!before.empty() && (is_written || after != before)) {
    return InvalidInput("the unenforced {} key is set, and cannot be changed", name);
  }
  if (before.empty() && is_written && after.empty()) {
    return InvalidInput("the metadata given sets no valid unenforced {} key", name);
  }
  return arrow::Status::OK();
}

// Rows are told apart by their keys' values: each has one, and only one.
arrow::Status CheckPrimaryKeyFields(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    std::vector<int32_t> below = PrimaryKey({.fields = {field}, .metadata = {}});
    if (below.empty()) continue;
    const std::string& type = field.logical_type;
    const bool repeats =
        type.starts_with("list") || type.starts_with("large_list") || type.starts_with("map");
    const bool is_inner_key = field.unenforced_primary_key && !field.children.empty();
    if (field.nullable || repeats || is_inner_key) {
      return InvalidInput(
          "the primary key's field '{}' is to be a leaf, without nulls, and in no list or map; "
          "that holds for every field above it too",
          field.name);
    }
    ARROW_RETURN_NOT_OK(CheckPrimaryKeyFields(field.children));
  }
  return arrow::Status::OK();
}

bool Clash(const BasePath& left, const BasePath& right) {
  return (left.name && left.name == right.name) || left.path == right.path ||
         (left.id != 0 && left.id == right.id);
}

}  // namespace

uint32_t UnusedBaseId(const std::vector<BasePath>& bases, uint32_t first) {
  std::set<uint32_t> used;
  for (const BasePath& base : bases) used.insert(base.id);
  uint32_t id = first;
  while (used.contains(id)) ++id;
  return id;
}

arrow::Status ApplyTo(Manifest& next, const UpdateConfig& update) {
  if (update.config) Edit(*update.config, next.config);
  if (update.table_metadata) Edit(*update.table_metadata, next.table_metadata);
  if (update.schema_metadata) Edit(*update.schema_metadata, next.schema.metadata);
  const auto primary_key = PrimaryKey(next.schema);
  const auto clustering_key = ClusteringKey(next.schema);
  for (const auto& [id, edits] : update.field_metadata) {
    Field* const field = FindField(next.schema.fields, id);
    if (field == nullptr) return InvalidInput("Field with id {} does not exist", id);
    Edit(edits, field->metadata);
    wire::SetKeysFromMetadata(*field);
  }
  const bool writes_primary_key = Writes(update, {kPrimaryKey, kPrimaryKeyPosition});
  ARROW_RETURN_NOT_OK(
      CheckKey("primary", primary_key, PrimaryKey(next.schema), writes_primary_key));
  if (writes_primary_key) ARROW_RETURN_NOT_OK(CheckPrimaryKeyFields(next.schema.fields));
  return CheckKey("clustering", clustering_key, ClusteringKey(next.schema),
                  Writes(update, {kClusteringKey}));
}

// Everything comes back but what tells versions, fragments and rows apart: ids that were given once
// are not given again.
arrow::Status ApplyTo(Manifest& next, const Restore& restore, const CommitHints& hints) {
  if (hints.content == nullptr || hints.content->version != restore.version) {
    return InvalidInput("version {} cannot be restored without its manifest", restore.version);
  }
  const Manifest latest = std::exchange(next, *hints.content);
  if (latest.has_stable_row_ids() != next.has_stable_row_ids()) {
    return InvalidInput("version {} was made before the table had stable row ids", restore.version);
  }
  if (latest.max_allocated_field_id.has_value() != next.max_allocated_field_id.has_value()) {
    return InvalidInput("version {} was made before the table counted its field ids",
                        restore.version);
  }
  next.version = latest.version;
  next.naming_scheme = latest.naming_scheme;
  next.branch = latest.branch;
  next.max_fragment_id = std::max(next.max_fragment_id, latest.max_fragment_id);
  next.max_allocated_field_id =
      std::max(next.max_allocated_field_id, latest.max_allocated_field_id);
  next.next_row_id = std::max(next.next_row_id, latest.next_row_id);
  return arrow::Status::OK();
}

// Id 0 asks for one; a table's first base has it only where a clone gave it.
arrow::Status ApplyTo(Manifest& next, const UpdateBases& update) {
  for (BasePath base : update.new_bases) {
    const auto known = std::ranges::find_if(
        next.base_paths, [&](const BasePath& other) { return Clash(base, other); });
    if (known != next.base_paths.end()) {
      return InvalidInput("a base path with the id {}, the name '{}' or the path '{}' is there: {}",
                          base.id, base.name.value_or(""), base.path, known->path);
    }
    if (base.id == 0) base.id = UnusedBaseId(next.base_paths, 1);
    next.base_paths.push_back(std::move(base));
  }
  return arrow::Status::OK();
}

arrow::Status ApplyTo(Manifest&, const UpdateMemWalState&) {
  return Unsupported("committing an UpdateMemWalState");
}

}  // namespace glaive::table
