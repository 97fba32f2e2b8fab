#pragma once

#include <functional>

#include "glaive/maintain.h"

namespace glaive::inspect {

// Whether the time of a run is over.
using IsOver = std::function<bool()>;

// The compaction of a run: tasks are committed as they end, so that what was done stays, and what
// is left is planned anew on the version that is newest then. Fills all of the report but its
// times. Asked from any thread, `is_over` keeps further tasks from beginning.
CompactionReport RunCompaction(const Dataset& dataset, const MaintenanceOptions& options,
                               const IsOver& is_over);

}  // namespace glaive::inspect
