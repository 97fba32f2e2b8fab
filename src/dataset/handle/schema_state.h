#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>

#include "core/access.h"
#include "glaive/schema.h"
#include "wire/schema.h"

namespace glaive::dataset {

struct TableSchemaState {
  wire::Schema schema;
  std::shared_ptr<arrow::Schema> arrow_schema;
  std::vector<FieldInfo> fields;
};

// Errors: those of logical types that this build cannot show.
arrow::Result<TableSchema> MakeTableSchema(wire::Schema schema);

}  // namespace glaive::dataset
