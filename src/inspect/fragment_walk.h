#pragma once

#include <functional>

#include <arrow/status.h>

#include "table/manifest/fragment_table.h"
#include "wire/fragment.h"

namespace glaive::inspect {

// Null: that side does not have the fragment.
using FragmentPairVisitor =
    std::function<arrow::Status(const wire::DataFragment* before, const wire::DataFragment* after)>;

// Visits the fragments that are not the same in both tables, ascending by id. Those whose records
// are equal byte for byte are passed over undecoded.
arrow::Status WalkBoth(const table::FragmentTable& before, const table::FragmentTable& after,
                       const FragmentPairVisitor& visit);

}  // namespace glaive::inspect
