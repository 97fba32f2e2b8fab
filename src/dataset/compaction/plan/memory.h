#pragma once

#include <cstddef>
#include <cstdint>

#include "glaive/compaction.h"

namespace glaive::dataset {

// How the memory of a compaction is shared out. Above what was there before, a task takes twice its
// pages (open ones, and those that are encoded and written), what is read ahead, and some MiB for
// what is being decoded; so memory_limit leaves three eighths to pages once that is set aside.

// What memory_limit has to be at least: below it pages would be small ones again, which is what a
// compaction is to mend, and another task would cost more than it brings.
inline constexpr uint64_t kLeastMemory = uint64_t{64} << 20;

// Set aside for what a task decodes, of memory_limit at most half of its share.
inline constexpr uint64_t kDecodedBytes = uint64_t{64} << 20;

// Tasks that run at once: num_threads, as far as each has memory to work with.
size_t TasksAtOnce(const CompactionOptions& options, size_t num_tasks);

// The options of each of so many tasks.
CompactionOptions ShareOf(const CompactionOptions& options, size_t num_tasks);

// The limits of a task's files and pages. memory_limit makes pages end earlier, if it must.
FileLimits LimitsOf(const CompactionOptions& options);

// Bytes that a task reads ahead of what it writes.
uint64_t ReadAheadBytes(const CompactionOptions& options);

}  // namespace glaive::dataset
