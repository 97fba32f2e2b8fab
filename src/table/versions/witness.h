#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "glaive/staged_columns.h"
#include "wire/fragment.h"

// What a reader of a field would use, compared to find out whether anybody wrote in between.
namespace glaive::dataset {

// By field id; what is not in it has no backing.
using Witnesses = std::map<int32_t, FieldWitness>;

// Those of the fields in one walk over the fragment. Pure. Where only `rows` count, overlays that
// cover none of them do not, and of the others no more is compared than what they cover of these.
// Corrupt for an overlay that cannot be read.
arrow::Result<Witnesses> WitnessesOf(const wire::DataFragment& fragment,
                                     const std::set<int32_t>& fields, Location where,
                                     const std::vector<RowRange>* rows = nullptr);

}  // namespace glaive::dataset
