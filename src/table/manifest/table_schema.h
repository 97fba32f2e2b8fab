#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "core/access.h"
#include "glaive/schema.h"
#include "wire/schema.h"

namespace glaive::table {

struct TableSchemaState {
  wire::Schema schema;
  // Only of schemas that MakeTableSchema made.
  std::shared_ptr<arrow::Schema> arrow_schema;
  std::vector<FieldInfo> fields;
};

// A schema for users. Errors: those of logical types that this build cannot show.
arrow::Result<TableSchema> MakeTableSchema(wire::Schema schema);

// A schema that only the engine reads, of an operation: it may have types that this build cannot
// show.
inline TableSchema WrapSchema(wire::Schema schema) {
  return Access::Make<TableSchema>(
      std::make_shared<const TableSchemaState>(TableSchemaState{std::move(schema), nullptr, {}}));
}

}  // namespace glaive::table
