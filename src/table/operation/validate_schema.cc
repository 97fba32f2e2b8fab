#include "table/operation/validate_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;
using wire::Field;

struct Place {
  const Field* field;
  const std::vector<Field>* siblings;
  int32_t parent_id;
  std::string path;
};
using Places = std::map<int32_t, Place>;

void Collect(const std::vector<Field>& fields, int32_t parent_id, const std::string& prefix,
             Places* places) {
  for (const Field& field : fields) {
    const std::string path = prefix + field.name;
    places->emplace(field.id, Place{&field, &fields, parent_id, path});
    Collect(field.children, field.id, path + ".", places);
  }
}

Places PlacesOf(const wire::Schema& schema) {
  Places places;
  Collect(schema.fields, -1, "", &places);
  return places;
}

arrow::Status CheckFields(const std::vector<Field>& fields, std::set<int32_t>* ids) {
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (field.id < 0) return InvalidInput("field '{}' has no id", field.name);
    if (!ids->insert(field.id).second) {
      return InvalidInput("two fields have the id {}; one of them is '{}'", field.id, field.name);
    }
    if (!names.insert(field.name).second) {
      return InvalidInput("two fields are called '{}'", field.name);
    }
    ARROW_RETURN_NOT_OK(CheckFields(field.children, ids));
  }
  return arrow::Status::OK();
}

// A field under an id that was there before.
arrow::Status CheckSameField(const Place& before, const Place& after) {
  const auto takes_name = [&](const Field& sibling) {
    return sibling.name == after.field->name && sibling.id != after.field->id;
  };
  if (before.parent_id == after.parent_id && std::ranges::none_of(*before.siblings, takes_name)) {
    return arrow::Status::OK();
  }
  return InvalidInput(
      "the new schema makes field {} '{}', which is '{}' in the table: keep the ids that the "
      "table's schema has, they are not positions",
      after.field->id, after.path, before.path);
}

bool Holds(const DataFragment& fragment, int32_t id) {
  return std::ranges::any_of(fragment.files, [&](const DataFile& file) {
    return std::ranges::count(file.fields, id) > 0;
  });
}

bool HoldsSomeOf(const DataFragment& fragment, const Field& field) {
  return Holds(fragment, field.id) || std::ranges::any_of(field.children, [&](const Field& child) {
           return HoldsSomeOf(fragment, child);
         });
}

// Whether no file that held the field before holds it still.
bool IsWrittenAnew(const DataFragment& before, const DataFragment& after, int32_t id) {
  if (!Holds(after, id)) return false;
  return std::ranges::none_of(before.files, [&](const DataFile& old) {
    if (std::ranges::count(old.fields, id) == 0) return false;
    return std::ranges::any_of(after.files, [&](const DataFile& file) {
      return file.path == old.path && file.base_id == old.base_id &&
             std::ranges::count(file.fields, id) > 0;
    });
  });
}

arrow::Status CheckWrittenAnew(const Manifest& previous, const Merge& merge, const Place& place) {
  for (const DataFragment& after : merge.fragments | Entries) {
    const auto view = previous.fragments.Find(after.id);
    if (!view) continue;
    ARROW_ASSIGN_OR_RAISE(const DataFragment before, view->Parse());
    if (IsWrittenAnew(before, after, place.field->id) && before.overlays.empty()) continue;
    return InvalidInput(
        "a merge changes the type or nullability of field {} '{}', whose values in fragment {} are "
        "the old ones",
        place.field->id, place.path, before.id);
  }
  return arrow::Status::OK();
}

arrow::Status CheckNewField(const Manifest& previous, const Merge& merge, const Places& before,
                            const Place& place) {
  const Field& field = *place.field;
  if (field.id <= previous.MaxFieldId()) {
    return InvalidInput(
        "a merge gives the new field '{}' the id {}, but ids up to {} are or were in use",
        place.path, field.id, previous.MaxFieldId());
  }
  const bool replaces = std::ranges::any_of(
      before, [&](const auto& entry) { return entry.second.path == place.path; });
  if (!replaces) return arrow::Status::OK();
  for (const DataFragment& fragment : merge.fragments | Entries) {
    if (HoldsSomeOf(fragment, field)) continue;
    return InvalidInput(
        "a merge puts field {} in the place of '{}', but fragment {} has no values "
        "of it",
        field.id, place.path, fragment.id);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status ValidateFields(const wire::Schema& schema) {
  std::set<int32_t> ids;
  return CheckFields(schema.fields, &ids);
}

arrow::Status ValidateProject(const wire::Schema& before, const wire::Schema& after) {
  ARROW_RETURN_NOT_OK(ValidateFields(after));
  const Places old_places = PlacesOf(before);
  const Places new_places = PlacesOf(after);
  for (const auto& [id, place] : new_places) {
    const auto known = old_places.find(id);
    if (known == old_places.end()) {
      return InvalidInput("a projection keeps fields of the table; it has no field {} ('{}')", id,
                          place.path);
    }
    ARROW_RETURN_NOT_OK(CheckSameField(known->second, place));
    const std::string& type = known->second.field->logical_type;
    if (place.field->logical_type != type) {
      return InvalidInput("a projection makes field {} '{}' of type {}; its values are {}", id,
                          place.path, place.field->logical_type, type);
    }
  }
  return arrow::Status::OK();
}

arrow::Status ValidateMerge(const Manifest& previous, const Merge& merge) {
  const wire::Schema& schema = StateOf(merge.schema)->schema;
  ARROW_RETURN_NOT_OK(ValidateFields(schema));
  const Places before = PlacesOf(previous.schema);
  const Places after = PlacesOf(schema);
  for (const auto& [id, place] : after) {
    const auto known = before.find(id);
    if (known == before.end()) {
      ARROW_RETURN_NOT_OK(CheckNewField(previous, merge, before, place));
      continue;
    }
    ARROW_RETURN_NOT_OK(CheckSameField(known->second, place));
    const Field& old = *known->second.field;
    if (old.logical_type != place.field->logical_type || old.nullable != place.field->nullable) {
      ARROW_RETURN_NOT_OK(CheckWrittenAnew(previous, merge, place));
    }
  }
  return arrow::Status::OK();
}

}  // namespace glaive::table
