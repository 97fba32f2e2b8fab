#pragma once

#include <cstdint>
#include <memory>
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

/// The table's columns with what is below them, in the schema's order.
arrow::Result<std::vector<FieldInfo>> Fields(const Dataset& dataset);

}  // namespace glaive
