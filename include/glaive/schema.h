#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"

namespace glaive {

/// A field of a table. Its id stays when it is renamed or moved, and is never given again.
struct FieldInfo {
  int32_t id = -1;
  std::shared_ptr<arrow::Field> field;
  std::vector<FieldInfo> children;  ///< of a struct its fields, of a list its item
};

/// A schema whose fields have their ids: what an operation that changes columns is told, and what
/// workers give to whom commits for them. An immutable value, cheap to copy.
class TableSchema {
 public:
  /// Ids are given in pre-order from 0 on, as for a new table.
  static arrow::Result<TableSchema> FromArrow(const arrow::Schema& schema);
  /// What Serialize gave, maybe in another process. Errors: Corrupt.
  static arrow::Result<TableSchema> Parse(std::string_view bytes);
  std::string Serialize() const;

  /// With what is below them, in the schema's order.
  std::vector<FieldInfo> fields() const;
  const std::shared_ptr<arrow::Schema>& arrow_schema() const;

  bool operator==(const TableSchema& other) const;

  /// For the engine's own files; its type is not part of the API.
  struct State;
  const std::shared_ptr<const State>& state() const { return state_; }
  explicit TableSchema(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

arrow::Result<TableSchema> SchemaOf(const Dataset& dataset);

}  // namespace glaive
