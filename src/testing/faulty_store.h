#pragma once

#include <atomic>
#include <cstdint>

#include "testing/hooked_store.h"

namespace glaive::testing {

enum class Fault : uint8_t {
  kBeforeEffect,  // the call fails and did nothing
  kAfterEffect,   // the call did its work, but its answer is lost
};

// A store that fails one of its calls with kIO. To see a verb fail everywhere it can:
//
//   for (uint64_t call = 0;; ++call) {
//     auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
//     ... set up ...
//     store->FailAt(call);
//     const bool ok = ... the verb ...;
//     if (!store->has_failed()) break;  // the verb has no more calls than that
//     store->Disarm();
//     ... check the state ...
//   }
class FaultyStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  // The call that fails, counted from now on: 0 is the next one. Only that call fails, unless
  // `and_later_ones`.
  void FailAt(uint64_t call, Fault fault = Fault::kBeforeEffect, bool and_later_ones = false);
  void Disarm() { FailAt(UINT64_MAX); }

  bool has_failed() const { return has_failed_; }
  StoreCallKind failed_kind() const { return failed_kind_; }  // REQUIRES: has_failed()
  uint64_t num_calls() const { return next_call_; }           // since FailAt

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override;

 private:
  std::atomic<uint64_t> next_call_ = 0;
  std::atomic<uint64_t> failing_call_ = UINT64_MAX;
  std::atomic<Fault> fault_ = Fault::kBeforeEffect;
  std::atomic<bool> later_ones_fail_ = false;
  std::atomic<bool> has_failed_ = false;
  std::atomic<StoreCallKind> failed_kind_ = StoreCallKind::kOpenRead;
};

}  // namespace glaive::testing
