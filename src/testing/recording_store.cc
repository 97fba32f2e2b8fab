#include "testing/recording_store.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "io/memory_store.h"

namespace glaive::testing {
namespace {

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

std::vector<StoreEffect> RecordingStore::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

arrow::Status RecordingStore::Around(const StoreCall& call,
                                     const std::function<arrow::Status()>& perform) {
  ARROW_RETURN_NOT_OK(perform());
  return Record(call);
}

arrow::Status RecordingStore::Record(const StoreCall& call) {
  switch (call.kind) {
    case StoreCallKind::kFinish:
    case StoreCallKind::kPut:
    case StoreCallKind::kPutIfAbsent: {
      ARROW_ASSIGN_OR_RAISE(const auto reader, inner().OpenRead(call.path));
      ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size_bytes()}));
      const std::lock_guard lock(mutex_);
      log_.push_back({.kind = StoreEffect::Kind::kObject,
                      .path = call.path,
                      .bytes = bytes->ToString(),
                      .is_synced = call.sync});
      return arrow::Status::OK();
    }
    case StoreCallKind::kDelete: {
      const std::lock_guard lock(mutex_);
      log_.push_back({.kind = StoreEffect::Kind::kDelete, .path = call.path});
      return arrow::Status::OK();
    }
    case StoreCallKind::kSync: {
      const std::lock_guard lock(mutex_);
      for (const std::string& path : call.synced) {
        log_.push_back({.kind = StoreEffect::Kind::kSync, .path = path});
      }
      return arrow::Status::OK();
    }
    default: return arrow::Status::OK();
  }
}

namespace {

// What a crash of several kinds does to one object: the same each time.
Crash CrashOf(Crash crash, const std::string& path) {
  constexpr std::array<Crash, 4> kKinds = {Crash::kKeepsAll, Crash::kLosesUnsynced,
                                           Crash::kEmptiesUnsynced, Crash::kTearsUnsynced};
  if (crash != Crash::kMixed) return crash;
  return kKinds[std::hash<std::string>()(path) % kKinds.size()];
}

// Whether the bytes are on the disk by the end of the log.
bool IsSynced(std::span<const StoreEffect> log, size_t effect) {
  const StoreEffect& object = log[effect];
  return object.is_synced ||
         std::ranges::any_of(log.subspan(effect), [&](const StoreEffect& later) {
           return later.kind == StoreEffect::Kind::kSync && later.path == object.path;
         });
}

}  // namespace

arrow::Result<std::shared_ptr<io::ObjectStore>> Replay(std::span<const StoreEffect> log,
                                                       size_t num_effects, Crash crash) {
  log = log.first(std::min(num_effects, log.size()));
  auto store = io::MakeMemoryStore();
  for (size_t i = 0; i < log.size(); ++i) {
    const StoreEffect& effect = log[i];
    if (effect.kind == StoreEffect::Kind::kDelete) ARROW_RETURN_NOT_OK(store->Delete(effect.path));
    if (effect.kind != StoreEffect::Kind::kObject) continue;
    const Crash fate = IsSynced(log, i) ? Crash::kKeepsAll : CrashOf(crash, effect.path);
    if (fate == Crash::kLosesUnsynced) continue;
    std::string bytes = effect.bytes;
    if (fate == Crash::kEmptiesUnsynced) bytes.clear();
    if (fate == Crash::kTearsUnsynced) bytes.resize(bytes.size() / 2);
    ARROW_RETURN_NOT_OK(store->Put(effect.path, AsBytes(bytes)));
  }
  return store;
}

}  // namespace glaive::testing
