#include "dataset/write/target_cache.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "core/write_once.h"
#include "dataset/handle/write_target_state.h"
#include "glaive/session.h"
#include "io/object_store.h"

namespace glaive {
namespace dataset {
namespace {

struct KeptTarget {
  WriteTarget target;
  WriteTargetCache::Wish wish;
  uint64_t bytes;
  mutable std::atomic<WriteTargetCache::Time> last_used;

  uint64_t memory_bytes() const { return bytes; }
};

}  // namespace

arrow::Result<WriteTarget> WriteTargetCache::Get(
    const std::string& table, const Wish& wish, Time now,
    const std::function<arrow::Result<WriteTarget>()>& open) {
  CloseIdle(now);
  if (auto kept = Find(table, wish, now)) return *std::move(kept);
  auto& locks = opening_.Get();
  const std::lock_guard lock(locks[std::hash<std::string>()(table) % locks.size()]);
  if (auto kept = Find(table, wish, now)) return *std::move(kept);
  ARROW_ASSIGN_OR_RAISE(WriteTarget target, open());
  cache_.Put(table, std::make_shared<KeptTarget>(target, wish, MemoryBytes(target), now),
             /*holds_file_open=*/false);
  return target;
}

std::optional<WriteTarget> WriteTargetCache::Find(const std::string& table, const Wish& wish,
                                                  Time now) {
  const auto kept = cache_.Get<KeptTarget>(table);
  if (kept == nullptr || kept->wish != wish) return std::nullopt;
  kept->last_used = now;
  return kept->target;
}

void WriteTargetCache::CloseIdle(Time now) {
  cache_.RemoveIf<KeptTarget>([&](const std::string&, const KeptTarget& kept) {
    return now - kept.last_used.load() > max_idle_;
  });
}

void WriteTargetCache::Close(const std::string& table) {
  cache_.RemoveIf<KeptTarget>(
      [&](const std::string& key, const KeptTarget&) { return key == table; });
}

void WriteTargetCache::CloseAll() {
  cache_.RemoveIf<KeptTarget>([](const std::string&, const KeptTarget&) { return true; });
}

CachedTargetStats WriteTargetCache::stats() {
  return {.num_targets = cache_.num_entries(), .size_bytes = cache_.size_bytes()};
}

}  // namespace dataset

namespace {

dataset::WriteTargetCache& OfProcess() {
  static constexpr uint64_t kMaxBytes = uint64_t{16} << 20;
  static constexpr auto kMaxIdle = std::chrono::minutes(10);
  // Never destroyed: threads may outlive the end of main.
  static constinit ProcessWide<dataset::WriteTargetCache> cache;
  return cache.Get([] { return std::make_unique<dataset::WriteTargetCache>(kMaxBytes, kMaxIdle); });
}

// However its URI is spelt.
arrow::Result<std::string> TableKey(std::string_view uri) {
  ARROW_ASSIGN_OR_RAISE(const auto place, io::Resolve(uri));
  return fmt::format("{}:{}", static_cast<const void*>(place.store.get()), place.path);
}

}  // namespace

arrow::Result<WriteTarget> CachedWriteTarget(std::string_view uri,
                                             const CachedTargetOptions& options) {
  if (!options.version) {
    ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(uri, {.session = options.session}));
    return WriteTargetOf(dataset);
  }
  const auto open = [&]() -> arrow::Result<WriteTarget> {
    const auto session =
        options.session != nullptr ? options.session : std::make_shared<Session>(0);
    ARROW_ASSIGN_OR_RAISE(const auto dataset,
                          Dataset::Open(uri, {.version = options.version, .session = session}));
    return WriteTargetOf(dataset);
  };
  ARROW_ASSIGN_OR_RAISE(const std::string key, TableKey(uri));
  return OfProcess().Get(key, {*options.version, options.storage_options},
                         std::chrono::steady_clock::now(), open);
}

void CloseCachedWriteTargets(std::optional<std::string_view> uri) {
  if (!uri) return OfProcess().CloseAll();
  // A URI that leads nowhere has nothing kept for it.
  if (const auto key = TableKey(*uri); key.ok()) OfProcess().Close(*key);
}

CachedTargetStats StatsOfCachedWriteTargets() { return OfProcess().stats(); }

}  // namespace glaive
