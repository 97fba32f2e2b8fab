#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataset/compaction/plan/tasks.h"

namespace glaive::dataset {

// The places of a task's fragments in a list, ascending.
using TaskMembers = std::vector<size_t>;

// New fragments have the highest ids and so lie behind all that stay, in the order of their tasks.
// There the remainders of several tasks come to lie side by side, and so may fragments that had one
// between them that is gone; a second run would join them. This joins their tasks, and fragments
// that were to stay, until a second run is empty. A task is changed only where its result would
// not last.
std::vector<TaskMembers> LookAhead(std::span<const SourceFragment> fragments,
                                   const std::vector<TaskRange>& tasks,
                                   const CompactionOptions& options);

// One step of it, by what the tasks have written: the new fragments of each. The same tasks where a
// second run would join nothing.
std::vector<TaskMembers> LookBack(std::span<const SourceFragment> fragments,
                                  const std::vector<TaskMembers>& tasks,
                                  const std::vector<std::vector<SourceFragment>>& written,
                                  const CompactionOptions& options);

// The whole choice: the tasks, within the limits on one run, with look_ahead if that is set. A run
// that is limited is gone on with by the next one, which looks ahead when nothing limits it.
std::vector<TaskMembers> PlanTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options);

}  // namespace glaive::dataset
