#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "glaive/compaction.h"

namespace glaive::dataset {

// What the choice of tasks knows of a fragment.
struct SourceFragment {
  uint64_t physical_rows = 0;
  uint64_t live_rows = 0;
  uint64_t bytes = 0;  // of its data files with a field of the schema; 0 where no one recorded it
  uint64_t overlay_bytes = 0;  // likewise
  size_t num_overlays = 0;
  uint32_t coverage = 0;  // equal where the same indices cover the fragments
  bool excluded = false;
  bool has_small_pages = false;
};

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
// Rewritten fragments are large enough, or have nobody to be joined with: choosing again gives
// none. What remains of several bins may come to lie side by side behind all others, as ids are
// given; that is joined the next time. All functions here take resolved options and are pure.
std::vector<TaskRange> ChooseTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options);

// The tasks from the first on that stay within the limits on one run (max_source_*). Where not even
// the first does, pylance's run is empty; one that follows what was added takes as many of the
// fragments as fit and can be joined.
std::vector<TaskRange> LimitTasks(std::span<const SourceFragment> fragments,
                                  const std::vector<TaskRange>& tasks,
                                  const CompactionOptions& options);

// Rows of each file that a task of these fragments makes, in order. They are even by rows or, where
// that asks for more files, by the bytes that the sources have for each of their rows.
std::vector<uint64_t> PlanFiles(std::span<const SourceFragment> sources,
                                const CompactionOptions& options);

}  // namespace glaive::dataset
