#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "testing/hooked_store.h"

namespace glaive::testing {

// A change of a store that is done: an object is there, gone, or on stable storage.
struct StoreEffect {
  enum class Kind : uint8_t { kObject, kDelete, kSync };

  Kind kind;
  std::string path;
  std::string bytes;       // kObject
  bool is_synced = false;  // kObject: on stable storage at once
};

// A store that keeps a log of its changes, from which the state after a crash can be made.
class RecordingStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  std::vector<StoreEffect> log() const;

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override;

 private:
  arrow::Status Record(const StoreCall& call);

  mutable std::mutex mutex_;
  std::vector<StoreEffect> log_;
};

// What a crash leaves of objects that were not synced.
enum class Crash : uint8_t {
  kKeepsAll,         // the process died, the machine did not
  kLosesUnsynced,    // neither the bytes nor the name were on the disk
  kEmptiesUnsynced,  // the name was, the bytes were not
  kTearsUnsynced,    // the name was, with the first half of the bytes
  kMixed,            // each of them one of the above, by its name
};

// A memory store as it is when a crash comes after the first `num_effects` of the log.
arrow::Result<std::shared_ptr<io::ObjectStore>> Replay(std::span<const StoreEffect> log,
                                                       size_t num_effects, Crash crash);

}  // namespace glaive::testing
