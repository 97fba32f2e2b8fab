#include "wire/file_columns.h"

namespace glaive::wire {
namespace {

void AddColumns(const std::vector<Field>& fields, std::vector<FileColumn>& columns) {
  for (const Field& field : fields) {
    const bool is_leaf = !HasChildColumns(field);
    columns.push_back({field.id, is_leaf});
    if (!is_leaf) AddColumns(field.children, columns);
  }
}

}  // namespace

bool HasChildColumns(const Field& field) {
  return !IsSingleColumn(field) && !field.logical_type.starts_with("fixed_size_list");
}

std::vector<FileColumn> FileColumns(const Schema& schema, FileVersion version) {
  std::vector<FileColumn> columns;
  if (version == FileVersion::k2_0) {
    AddColumns(schema.fields, columns);
  } else {
    for (const LeafField& leaf : LeafFields(schema)) columns.push_back({leaf.field_id});
  }
  return columns;
}

std::vector<int32_t> FileFieldIds(const Schema& schema, FileVersion version) {
  std::vector<int32_t> ids;
  for (const FileColumn& column : FileColumns(schema, version)) ids.push_back(column.field_id);
  return ids;
}

}  // namespace glaive::wire
