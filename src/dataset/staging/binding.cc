#include "dataset/staging/binding.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "dataset/write/added_fields.h"

namespace glaive::dataset {
namespace {

using wire::Field;

template <typename Fields>
auto FindById(Fields& fields, int32_t id) {
  return std::ranges::find(fields, id, &Field::id);
}

template <typename Fields>
bool HasName(const Fields& fields, std::string_view name) {
  return std::ranges::find(fields, name, &Field::name) != fields.end();
}

std::string Below(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

bool MayBeInParts(const Field& field) {
  return field.logical_type == "struct" && !wire::IsSingleColumn(field);
}

std::set<int32_t> LeafIds(const Field& field) {
  std::set<int32_t> ids;
  for (const auto& leaf : wire::LeafFields({.fields = {field}, .metadata = {}})) {
    ids.insert(leaf.field_id);
  }
  return ids;
}

arrow::Status CheckNew(const Field& field, const std::string& path, int32_t max_field_id) {
  if (field.id <= max_field_id) {
    return InvalidInput(
        "the new column '{}' has the field id {}, but ids up to {} are or were in use; ids are "
        "given by new_column_schema",
        path, field.id, max_field_id);
  }
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(CheckNew(child, Below(path, child.name), max_field_id));
  }
  return arrow::Status::OK();
}

arrow::Status CheckAmong(const std::vector<Field>& siblings, const Field& field,
                         const std::string& path, int32_t max_field_id) {
  const auto found = FindById(siblings, field.id);
  if (found == siblings.end()) {
    if (HasName(siblings, field.name)) {
      return InvalidInput("the table has a column '{}' already, whose field id is not {}", path,
                          field.id);
    }
    return CheckNew(field, path, max_field_id);
  }
  if (found->name != field.name) {
    return InvalidInput("field {} is '{}' in the table, and not '{}'", field.id, found->name, path);
  }
  if (found->logical_type != field.logical_type) {
    return InvalidInput("column '{}' is of type {} in the table, and not of type {}", path,
                        found->logical_type, field.logical_type);
  }
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(CheckAmong(found->children, child, Below(path, child.name), max_field_id));
  }
  // A value cannot come in parts: that a struct is null, or how long a list is, stands in each of
  // its columns.
  const bool any_old = std::ranges::any_of(field.children, [&](const Field& child) {
    return FindById(found->children, child.id) != found->children.end();
  });
  for (const Field& child : found->children) {
    if (FindById(field.children, child.id) != field.children.end()) continue;
    if (MayBeInParts(*found) && !any_old) continue;
    return InvalidInput("column '{}' is written whole, but '{}' is missing", path,
                        Below(path, child.name));
  }
  return arrow::Status::OK();
}

const Field* FindPath(const std::vector<Field>& fields, std::string_view path) {
  for (const Field& field : fields) {
    if (field.name == path) return &field;
    const bool below = path.starts_with(field.name) && path.size() > field.name.size() &&
                       path[field.name.size()] == '.';
    if (!below) continue;
    const Field* found = FindPath(field.children, path.substr(field.name.size() + 1));
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string PathIn(const std::vector<Field>& fields, int32_t id, const std::string& parent) {
  for (const Field& field : fields) {
    const std::string path = Below(parent, field.name);
    if (field.id == id) return path;
    std::string found = PathIn(field.children, id, path);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

arrow::Status CheckBinding(const table::Manifest& manifest, const wire::Schema& staged) {
  if (staged.fields.empty()) return InvalidInput("there is no column to write");
  for (const Field& field : staged.fields) {
    if (IsReserved(field.name)) {
      return InvalidInput("Column {} is a reserved metadata column", field.name);
    }
    ARROW_RETURN_NOT_OK(
        CheckAmong(manifest.schema.fields, field, field.name, manifest.MaxFieldId()));
  }
  return arrow::Status::OK();
}

// Where a staged field belongs: the path of its parent, and who staged it.
struct SchemaExtension::Place {
  std::string parent;
  const dataset::StagedColumnsState& staged;

  arrow::Status Refuse(const table::Manifest& latest, const Field& field,
                       std::string_view text) const {
    return WriteConflict(latest.version, std::nullopt, Below(parent, field.name), text);
  }
};

SchemaExtension::SchemaExtension(const table::Manifest& latest)
    : latest_(latest), max_field_id_(latest.MaxFieldId()), schema_(latest.schema) {}

arrow::Status SchemaExtension::Add(const dataset::StagedColumnsState& staged) {
  for (const Field& field : staged.schema.fields) {
    if (IsReserved(field.name)) {
      return InvalidInput("Column {} is a reserved metadata column", field.name);
    }
    ARROW_RETURN_NOT_OK(AddTo(schema_.fields, field, {.parent = "", .staged = staged}));
  }
  return arrow::Status::OK();
}

arrow::Status SchemaExtension::AddTo(std::vector<Field>& siblings, const Field& field,
                                     const Place& place) {
  const auto found = FindById(siblings, field.id);
  if (found == siblings.end()) return AddNew(siblings, field, place);
  ARROW_RETURN_NOT_OK(Compare(*found, field, place));
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(
        AddTo(found->children, child,
              {.parent = Below(place.parent, found->name), .staged = place.staged}));
  }
  return arrow::Status::OK();
}

arrow::Status SchemaExtension::AddNew(std::vector<Field>& siblings, const Field& field,
                                      const Place& place) {
  if (field.id <= place.staged.max_field_id) {
    return place.Refuse(latest_, field, "the column was dropped or cast meanwhile");
  }
  if (field.id <= max_field_id_) {
    return place.Refuse(latest_, field,
                        fmt::format("field id {} was given to another column", field.id));
  }
  if (HasName(siblings, field.name)) {
    return place.Refuse(latest_, field, "another column has this name");
  }
  has_new_fields_ = true;
  if (!field.nullable) required_.push_back({Below(place.parent, field.name), LeafIds(field)});
  // Behind all that was there, in the order of ids: the same whatever the order of what is staged.
  const auto next = std::ranges::find_if(siblings, [&](const Field& other) {
    return other.id > max_field_id_ && other.id > field.id;
  });
  siblings.insert(next, field);
  return arrow::Status::OK();
}

arrow::Status SchemaExtension::Compare(const Field& found, const Field& field,
                                       const Place& place) const {
  const auto refuse = [&](std::string_view text) { return place.Refuse(latest_, field, text); };
  // A field that was there keeps its id under another name; one that is new must be meant.
  const bool is_new = field.id > place.staged.max_field_id;
  if (is_new && (found.name != field.name || found.metadata != field.metadata)) {
    return refuse(fmt::format("field id {} is that of column '{}'", field.id, found.name));
  }
  if (found.logical_type != field.logical_type) {
    return refuse(fmt::format("the column is of type {} now; values of type {} were staged",
                              found.logical_type, field.logical_type));
  }
  if (field.nullable && !found.nullable) {
    return refuse("the column may hold no nulls now; what was staged may");
  }
  const bool only_adds = !is_new && MayBeInParts(found) &&
                         std::ranges::none_of(field.children, [&](const Field& child) {
                           return child.id <= place.staged.max_field_id;
                         });
  for (const Field& child : found.children) {
    if (only_adds || FindById(field.children, child.id) != field.children.end()) continue;
    return refuse(fmt::format("the column has a field '{}' besides", child.name));
  }
  return arrow::Status::OK();
}

std::string PathOf(const wire::Schema& schema, int32_t id) {
  const std::string path = PathIn(schema.fields, id, "");
  return path.empty() ? fmt::format("field {}", id) : path;
}

arrow::Result<std::set<int32_t>> FieldIdsAt(const wire::Schema& schema, std::string_view path) {
  const Field* field = FindPath(schema.fields, path);
  if (field == nullptr) return InvalidInput("there is no column '{}'", path);
  std::set<int32_t> ids;
  wire::CollectFieldIds({*field}, &ids);
  return ids;
}

arrow::Status WriteConflict(uint64_t version, std::optional<uint64_t> fragment_id,
                            std::string field, std::string_view text, FieldWitness staged,
                            FieldWitness current) {
  std::string place = field.empty() ? "" : fmt::format("column '{}'", field);
  if (fragment_id) {
    place += fmt::format("{}fragment {}", place.empty() ? "" : " of ", *fragment_id);
  }
  const auto conflict = CommitConflict(Retry::kYes, version, "{}: {}", place, text);
  return conflict.WithDetail(std::make_shared<ColumnWriteConflict>(
      fragment_id, std::move(field), std::move(staged), std::move(current)));
}

}  // namespace glaive::dataset
