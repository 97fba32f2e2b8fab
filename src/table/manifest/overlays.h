#pragma once

#include <cstdint>
#include <map>
#include <set>

#include <arrow/result.h>

#include "core/error.h"
#include "wire/fragment.h"

// What changes of a fragment's overlays when its base files change. An overlay that supplies no
// field any more is taken out; one that no change concerns keeps its bytes.
namespace glaive::table {

// Other values of `fields` were written below the overlays, which must not hide them. Their columns
// stay where they are, as nobody's.
arrow::Status HideOverlays(wire::DataFragment& fragment, const std::set<int32_t>& fields,
                           Location where);

// Takes out overlays of which no field is in `live`. Whether there were any.
arrow::Result<bool> DropDeadOverlays(const std::set<int32_t>& live, wire::DataFragment& fragment,
                                     Location where);

// Adds the fields that have values laid over them, each with the newest version that did so.
arrow::Status CollectOverlaid(const wire::DataFragment& fragment, Location where,
                              std::map<int32_t, uint64_t>* overlaid);

}  // namespace glaive::table
