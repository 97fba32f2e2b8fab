#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const TableSchema fields, SchemaOf(dataset));
//     for (const FieldInfo& field : fields.fields()) {
//       std::cout << field.id << " " << field.field->name() << "\n";
//     }
namespace glaive {
struct Access;
namespace table {
struct TableSchemaState;
}

/// A field of a table. Its id stays when it is renamed or moved, and is never given again.
struct FieldInfo {
  int32_t id = -1;
  std::shared_ptr<arrow::Field> field;
  std::vector<FieldInfo> children;  ///< of a struct its fields, of a list its item
};

/// A schema with field ids. Operations that change columns have one, and workers send one to the
/// process that commits. Immutable and cheap to copy.
class TableSchema {
 public:
  TableSchema();  ///< without fields
  /// Assigns ids from 0 on in pre-order, as for a new table.
  static arrow::Result<TableSchema> FromArrow(const arrow::Schema& schema);
  /// Reads the bytes of Serialize. Errors: Corrupt.
  static arrow::Result<TableSchema> Parse(std::string_view bytes);
  std::string Serialize() const;

  /// The top-level fields with their children, in the order of the schema.
  std::vector<FieldInfo> fields() const;
  const std::shared_ptr<arrow::Schema>& arrow_schema() const;

  bool operator==(const TableSchema& other) const;

 private:
  friend struct Access;
  explicit TableSchema(std::shared_ptr<const table::TableSchemaState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const table::TableSchemaState> state_;
};

arrow::Result<TableSchema> SchemaOf(const Dataset& dataset);

/// The highest field id that the table ever gave.
int32_t MaxFieldId(const Dataset& dataset);

}  // namespace glaive
