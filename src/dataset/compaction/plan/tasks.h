#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataset/compaction/plan/planned_files.h"
#include "glaive/compaction.h"

namespace glaive::dataset {

// Fragments [begin, end) of a list.
struct TaskRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
  bool operator==(const TaskRange&) const = default;
};

// The tasks that are worth doing, in order. Without target_bytes_per_fragment and memory_limit
// these are pylance's: what is below the target of rows is joined with its neighbours. With one of
// them the work follows what was added: fragments are joined where none of them holds more than the
// others together, so that each time that a row is rewritten its fragment doubles at least.
//
// Rewritten fragments are large enough, or have nobody to be joined with inside their task. All
// functions here take resolved options and are pure.
std::vector<TaskRange> ChooseTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options);

// The tasks from the first on that stay within the limits on one run (max_source_*). Where not even
// the first does, pylance's run is empty; one that follows what was added takes as many of the
// fragments as fit and can be joined.
std::vector<TaskRange> LimitTasks(std::span<const SourceFragment> fragments,
                                  const std::vector<TaskRange>& tasks,
                                  const CompactionOptions& options);

// Whether one run may rewrite all of these.
bool AreWithinLimits(std::span<const SourceFragment> fragments, const CompactionOptions& options);

}  // namespace glaive::dataset
