#pragma once

#include <arrow/status.h>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

// Columns are found by the ids of their fields: a schema that gives an id to another field gives it
// another column's values.
namespace glaive::table {

// Ids are unique and not negative, names unique within their parent.
arrow::Status ValidateFields(const wire::Schema& schema);

// Every field is one of the old ones, where it was and of its type; only names, nullability and
// metadata may differ. A name that another of the old fields has may not be taken: that is what a
// schema looks like whose ids were counted anew.
arrow::Status ValidateProject(const wire::Schema& before, const wire::Schema& after);

// Besides, there may be new fields, with ids that were never used. A field that is known may change
// its type or nullability where all its values are written anew; what bears the name of an old one
// has values in every fragment.
arrow::Status ValidateMerge(const Manifest& previous, const Merge& merge);

}  // namespace glaive::table
