#pragma once

#include <cstdint>
#include <map>
#include <set>

#include <arrow/result.h>

#include "core/error.h"
#include "glaive/staged_columns.h"
#include "wire/fragment.h"

// What a reader of a field would use, compared to find out whether anybody wrote in between.
namespace glaive::dataset {

// By field id; what is not in it has no backing.
using Witnesses = std::map<int32_t, FieldWitness>;

// Those of the fields in one walk over the fragment. Pure. Corrupt for an overlay that cannot be
// read.
arrow::Result<Witnesses> WitnessesOf(const wire::DataFragment& fragment,
                                     const std::set<int32_t>& fields, Location where);

}  // namespace glaive::dataset
