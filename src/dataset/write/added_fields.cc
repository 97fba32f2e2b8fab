#include "dataset/write/added_fields.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/storage_version.h"

namespace glaive::dataset {
namespace {

constexpr int32_t kNoId = -1;

bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}

void ForgetIds(wire::Field& field) {
  field.id = kNoId;
  for (wire::Field& child : field.children) ForgetIds(child);
}

void GiveIds(std::vector<wire::Field>& fields, int32_t* last) {
  for (wire::Field& field : fields) {
    if (field.id == kNoId) field.id = ++*last;
    GiveIds(field.children, last);
  }
}

arrow::Status Merge(std::vector<wire::Field>& fields, const arrow::FieldVector& added,
                    FileVersion version);

// A field of a name that is there: only structs may be added to.
arrow::Status MergeInto(wire::Field& field, const arrow::Field& added, FileVersion version) {
  ARROW_ASSIGN_OR_RAISE(const auto present, wire::ToArrow(field));
  const arrow::DataType& from = *present->type();
  const arrow::DataType& to = *added.type();
  if (from.id() == arrow::Type::STRUCT && to.id() == arrow::Type::STRUCT) {
    if (version < FileVersion::k2_2) {
      return InvalidInput(
          "Column {} is a struct col, add sub column is not supported in Lance file version {}",
          field.name, NameOf(version));
    }
    if (wire::IsSingleColumn(field)) {
      return InvalidInput("Column {} is packed struct and already exists in the dataset",
                          field.name);
    }
    return Merge(field.children, to.fields(), version);
  }
  if (IsList(from) && from.id() == to.id() && from.field(0)->type()->id() == arrow::Type::STRUCT &&
      !from.Equals(to)) {
    return Unsupported("adding fields to the items of the list {}", field.name);
  }
  if (from.Equals(to)) {
    return InvalidInput("Column {} already exists in the dataset", field.name);
  }
  return InvalidInput("Type conflicts between {}({}) and {}({})", field.name, from.ToString(),
                      added.name(), to.ToString());
}

arrow::Status Merge(std::vector<wire::Field>& fields, const arrow::FieldVector& added,
                    FileVersion version) {
  for (const auto& field : added) {
    const auto found = std::ranges::find(fields, field->name(), &wire::Field::name);
    if (found != fields.end()) {
      ARROW_RETURN_NOT_OK(MergeInto(*found, *field, version));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(wire::Schema fresh, wire::FromArrow(arrow::Schema({field})));
    ForgetIds(fresh.fields.front());
    fields.push_back(std::move(fresh.fields.front()));
  }
  return arrow::Status::OK();
}

// Of the fields that are new below `fields`, the first of each path: whether there is any, and
// whether one of them is required.
struct NewFields {
  bool any = false;
  bool required = false;
};
NewFields FindNew(const std::vector<wire::Field>& fields, int32_t max_old_id) {
  NewFields found;
  for (const wire::Field& field : fields) {
    NewFields here{field.id > max_old_id, field.id > max_old_id && !field.nullable};
    if (!here.any) here = FindNew(field.children, max_old_id);
    found.any |= here.any;
    found.required |= here.required;
  }
  return found;
}

void LetBeNull(std::vector<wire::Field>& fields) {
  for (wire::Field& field : fields) {
    field.nullable = true;
    LetBeNull(field.children);
  }
}

}  // namespace

std::vector<wire::Field> KeepFields(std::vector<wire::Field> fields,
                                    const std::function<bool(const wire::Field&)>& keep) {
  std::erase_if(fields, [&](wire::Field& field) {
    if (keep(field)) return false;
    field.children = KeepFields(std::move(field.children), keep);
    return field.children.empty();
  });
  return fields;
}

bool AnyRequired(const std::vector<wire::Field>& fields, int32_t max_old_id) {
  return std::ranges::any_of(fields, [&](const wire::Field& field) {
    if (field.id > max_old_id) return !field.nullable;
    const NewFields below = FindNew(field.children, max_old_id);
    return below.required || (below.any && !field.nullable);
  });
}

wire::Schema AllNullable(wire::Schema schema) {
  LetBeNull(schema.fields);
  return schema;
}

bool IsReserved(std::string_view name) {
  return name == "_rowid" || name == "_rowaddr" || name == "_rowoffset" ||
         name == "_row_created_at_version" || name == "_row_last_updated_at_version";
}

arrow::Result<AddedFields> AddFields(const wire::Schema& table, const arrow::Schema& added,
                                     int32_t max_field_id, FileVersion version) {
  if (added.num_fields() == 0) return InvalidInput("there is no column to add");
  for (const auto& field : added.fields()) {
    if (field->name().empty()) return InvalidInput("a column cannot be called \"\"");
    if (IsReserved(field->name())) {
      return InvalidInput("Column {} is a reserved metadata column", field->name());
    }
    if (added.GetAllFieldIndices(field->name()).size() > 1) {
      return InvalidInput("Column {} is added more than once", field->name());
    }
  }
  AddedFields result{.table = table, .written = {}, .any_required = false};
  ARROW_RETURN_NOT_OK(Merge(result.table.fields, added.fields(), version));
  int32_t last = max_field_id;
  GiveIds(result.table.fields, &last);
  result.written.fields =
      KeepFields(result.table.fields, [&](const auto& field) { return field.id > max_field_id; });
  result.any_required = AnyRequired(result.table.fields, max_field_id);
  return result;
}

}  // namespace glaive::dataset
