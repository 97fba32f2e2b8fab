#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "encoding/levels/leaf.h"
#include "wire/schema.h"

namespace glaive::read {

// Columns that no file holds.
enum class SystemColumn : uint8_t {
  kRowId,                 // the address, unless the table has stable row ids
  kRowAddress,            // fragment id << 32 | physical row
  kRowOffset,             // position among the live rows of the version
  kCreatedAtVersion,      // that brought the row
  kLastUpdatedAtVersion,  // that changed it last
};
std::string_view NameOf(SystemColumn column);
std::optional<SystemColumn> SystemColumnOf(std::string_view name);
std::shared_ptr<arrow::Field> ArrowField(SystemColumn column);

// How a path below a struct ("s.b.x") comes back.
enum class NestedPaths : uint8_t {
  kFlat,    // as a column named "s.b.x", null where the struct is
  kPruned,  // as the struct s, with nothing in it but what was asked for
};

struct ProjectionRequest {
  std::optional<std::vector<std::string>> columns;  // all of the schema when absent
  bool with_row_id = false;                         // behind the others
  bool with_row_address = false;
  NestedPaths nested = NestedPaths::kFlat;
};

// A top-level field, or the part of it that is needed.
struct ReadField {
  wire::Field field;
  std::shared_ptr<arrow::Field> arrow;
  std::vector<encoding::LeafPath> leaves;
  std::vector<int32_t> leaf_ids;  // of the same leaves
};

struct OutputColumn {
  std::optional<SystemColumn> system;
  size_t read_field = 0;  // else: which of the fields
  std::vector<int> path;  // children of structs to go down, from the field
};

// Which parts of a schema are read, and what the columns of the result are made of. Immutable.
struct Projection {
  std::vector<ReadField> fields;
  std::vector<OutputColumn> outputs;  // one for each field of `schema`
  std::shared_ptr<arrow::Schema> schema;
  int64_t fixed_bytes_per_row = 0;  // decoded, of the leaves whose values have one width

  bool Has(SystemColumn column) const;

  // Errors: InvalidInput naming a column that is not there, or is asked for twice.
  static arrow::Result<std::shared_ptr<const Projection>> Make(const wire::Schema& schema,
                                                               const ProjectionRequest& request);
};

}  // namespace glaive::read
