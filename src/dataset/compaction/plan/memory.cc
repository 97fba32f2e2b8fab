#include "dataset/compaction/plan/memory.h"

#include <algorithm>

namespace glaive::dataset {
namespace {

constexpr uint64_t kMaxReadAhead = uint64_t{8} << 20;

uint64_t PageCacheBytes(const CompactionOptions& options) {
  const uint64_t asked = options.data_cache_bytes.value_or(FileLimits().data_cache_bytes);
  if (!options.memory_limit) return asked;
  const uint64_t limit = *options.memory_limit;
  const uint64_t for_pages = (limit - std::min(kDecodedBytes, limit / 2)) / 8 * 3;
  return std::clamp<uint64_t>(asked, 1, for_pages);
}

}  // namespace

size_t TasksAtOnce(const CompactionOptions& options, size_t num_tasks) {
  uint64_t tasks = std::min<uint64_t>(options.num_threads.value_or(1), num_tasks);
  if (options.memory_limit) tasks = std::min(tasks, *options.memory_limit / kLeastMemory);
  return std::max<size_t>(1, tasks);
}

CompactionOptions ShareOf(const CompactionOptions& options, size_t num_tasks) {
  CompactionOptions share = options;
  share.data_cache_bytes = std::max<uint64_t>(
      1, options.data_cache_bytes.value_or(FileLimits().data_cache_bytes) / num_tasks);
  if (options.memory_limit) share.memory_limit = *options.memory_limit / num_tasks;
  return share;
}

FileLimits LimitsOf(const CompactionOptions& options) {
  FileLimits limits;
  limits.max_rows_per_file = UINT64_MAX;  // files are planned
  limits.max_bytes_per_file = options.max_bytes_per_file.value_or(limits.max_bytes_per_file);
  limits.max_page_bytes = options.max_page_bytes.value_or(limits.max_page_bytes);
  limits.data_cache_bytes = PageCacheBytes(options);
  limits.max_rows_per_group = options.max_rows_per_group;
  return limits;
}

uint64_t ReadAheadBytes(const CompactionOptions& options) {
  return std::min(kMaxReadAhead, PageCacheBytes(options) / 8);
}

}  // namespace glaive::dataset

namespace glaive {

CompactionMemory MemoryOf(const CompactionPlan& plan) {
  const CompactionOptions& options = plan.options;
  CompactionMemory memory;
  if (plan.tasks.empty()) return memory;
  memory.tasks_at_once = dataset::TasksAtOnce(options, plan.tasks.size());
  const CompactionOptions share = dataset::ShareOf(options, memory.tasks_at_once);
  memory.page_bytes = memory.tasks_at_once * dataset::LimitsOf(share).data_cache_bytes;
  memory.read_ahead_bytes = memory.tasks_at_once * dataset::ReadAheadBytes(share);
  memory.decoded_bytes =
      memory.tasks_at_once *
      std::min(dataset::kDecodedBytes, share.memory_limit.value_or(UINT64_MAX) / 2);
  memory.total_bytes = 2 * memory.page_bytes + memory.read_ahead_bytes + memory.decoded_bytes;
  return memory;
}

}  // namespace glaive
