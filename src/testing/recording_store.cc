#include "testing/recording_store.h"

#include <algorithm>
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

arrow::Result<std::shared_ptr<io::ObjectStore>> Replay(std::span<const StoreEffect> log,
                                                       size_t num_effects, Crash crash) {
  log = log.first(std::min(num_effects, log.size()));
  auto store = io::MakeMemoryStore();
  for (size_t i = 0; i < log.size(); ++i) {
    const StoreEffect& effect = log[i];
    if (effect.kind == StoreEffect::Kind::kDelete) ARROW_RETURN_NOT_OK(store->Delete(effect.path));
    if (effect.kind != StoreEffect::Kind::kObject) continue;
    const bool survives =
        crash == Crash::kKeepsAll || effect.is_synced ||
        std::any_of(log.begin() + static_cast<std::ptrdiff_t>(i), log.end(),
                    [&](const auto& later) {
                      return later.kind == StoreEffect::Kind::kSync && later.path == effect.path;
                    });
    if (survives) {
      ARROW_RETURN_NOT_OK(store->Put(effect.path, AsBytes(effect.bytes)));
    } else if (crash == Crash::kEmptiesUnsynced) {
      ARROW_RETURN_NOT_OK(store->Put(effect.path, {}));
    }
  }
  return store;
}

}  // namespace glaive::testing
