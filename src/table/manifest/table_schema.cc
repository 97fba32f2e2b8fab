#include "table/manifest/table_schema.h"

#include <utility>

#include "core/error.h"
#include "wire/fields.h"

namespace glaive {
namespace {

// A Schema message: {1 fields*, 5 metadata*}.
constexpr uint32_t kFields = 1;
constexpr uint32_t kMetadata = 5;

arrow::Result<std::vector<FieldInfo>> InfoOf(const std::vector<wire::Field>& fields) {
  std::vector<FieldInfo> infos;
  infos.reserve(fields.size());
  for (const wire::Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(auto arrow_field, wire::ToArrow(field));
    ARROW_ASSIGN_OR_RAISE(auto children, InfoOf(field.children));
    infos.push_back({field.id, std::move(arrow_field), std::move(children)});
  }
  return infos;
}

}  // namespace

namespace table {

arrow::Result<TableSchema> MakeTableSchema(wire::Schema schema) {
  TableSchemaState state;
  ARROW_ASSIGN_OR_RAISE(state.arrow_schema, wire::ToArrow(schema));
  ARROW_ASSIGN_OR_RAISE(state.fields, InfoOf(schema.fields));
  state.schema = std::move(schema);
  return Access::Make<TableSchema>(std::make_shared<const TableSchemaState>(std::move(state)));
}

}  // namespace table

arrow::Result<TableSchema> TableSchema::FromArrow(const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(wire::Schema fields, wire::FromArrow(schema));
  return table::MakeTableSchema(std::move(fields));
}

arrow::Result<TableSchema> TableSchema::Parse(std::string_view bytes) {
  const Location where{"a serialized schema"};
  wire::Schema schema;
  wire::FieldListReader fields;
  const auto read = [&](const wire::FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case wire::Bytes(kFields): return fields.Add(field.payload, field.where);
      case wire::Bytes(kMetadata):
        return wire::ReadStringMapEntry(field.payload, field.where, &schema.metadata);
      default: return Corrupt(field.where, "field {} is not one of a schema", field.number);
    }
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(bytes), where, "Schema", read));
  ARROW_ASSIGN_OR_RAISE(schema.fields, std::move(fields).Finish(where));
  return table::MakeTableSchema(std::move(schema));
}

std::string TableSchema::Serialize() const {
  std::string bytes;
  wire::AppendFields(kFields, state_->schema.fields, &bytes);
  wire::AppendStringMap(kMetadata, state_->schema.metadata, &bytes);
  return bytes;
}

TableSchema::TableSchema() : TableSchema(std::make_shared<const table::TableSchemaState>()) {}

std::vector<FieldInfo> TableSchema::fields() const { return state_->fields; }

const std::shared_ptr<arrow::Schema>& TableSchema::arrow_schema() const {
  return state_->arrow_schema;
}

bool TableSchema::operator==(const TableSchema& other) const {
  return state_->schema == other.state_->schema;
}

}  // namespace glaive
