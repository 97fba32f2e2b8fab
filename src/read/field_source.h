#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "encoding/levels/leaf.h"
#include "read/projection.h"
#include "wire/fragment.h"

namespace glaive::read {

// One column of one of a fragment's data files.
struct StoredColumn {
  size_t file = 0;  // which of the fragment's files
  uint32_t column = 0;

  bool operator==(const StoredColumn&) const = default;
};

// Where the values of a field lie on one fragment. This is the only way to a column: which file
// has it, and what is null because none has, is decided here.
struct FieldSource {
  // The field without the parts that no file has; null when no file has any of it.
  std::shared_ptr<arrow::Field> stored;
  std::vector<encoding::LeafPath> leaves;  // of `stored`
  std::vector<StoredColumn> columns;       // one for each leaf
};

// Errors: Corrupt where the fragment has no values for a field that cannot be null, or lists more
// fields than columns.
arrow::Result<std::vector<FieldSource>> FindSources(const Projection& projection,
                                                    const wire::DataFragment& fragment);

// `array` has the type of FieldSource::stored; the result has that of `field`, with nulls for what
// is not stored.
arrow::Result<std::shared_ptr<arrow::Array>> AddMissing(const std::shared_ptr<arrow::Array>& array,
                                                        const arrow::Field& field);

}  // namespace glaive::read
