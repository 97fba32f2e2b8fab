#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "wire/schema.h"

namespace glaive::dataset {

struct AddedFields {
  wire::Schema table;    // the table's schema, the new fields behind those that were there
  wire::Schema written;  // the new fields, below the structs that were there
  // Whether rows that know nothing of the new fields would have to hold nulls where none may be.
  bool any_required = false;
};

// Puts columns into a schema, and fields into its structs. Ids go on from `max_field_id`, parents
// before their children. `version` is that of the files, which says what may be split over several.
// Errors: InvalidInput for names that are taken or reserved, and for no field at all.
arrow::Result<AddedFields> AddFields(const wire::Schema& table, const arrow::Schema& added,
                                     int32_t max_field_id, FileVersion version);

// Whether rows that know nothing of the fields above `max_old_id` would have to hold nulls where
// none may be.
bool AnyRequired(const std::vector<wire::Field>& fields, int32_t max_old_id);

// Whether scans give columns of their own by this name.
bool IsReserved(std::string_view name);

// The part of `fields` for which `keep` holds, each with all that is below it, and the way there.
std::vector<wire::Field> KeepFields(std::vector<wire::Field> fields,
                                    const std::function<bool(const wire::Field&)>& keep);

// With nulls allowed everywhere: a schema of which rows may lack any part.
wire::Schema AllNullable(wire::Schema schema);

}  // namespace glaive::dataset
