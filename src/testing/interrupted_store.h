#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/error.h"
#include "testing/hooked_store.h"

namespace glaive::testing {

// A store that lets something else happen between two calls of a verb, or a process die there. Not
// thread safe.
//
//   for (uint64_t call = 0;; ++call) {
//     ... set up ...
//     store->InterruptAt(call, [&] { ... what others do ... });
//     ... the verb ...
//     if (!store->was_interrupted()) break;
//     ... check ...
//   }
class InterruptedStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  // Before the call of that number, counted from now on. Calls of `run` itself are not counted.
  void InterruptAt(uint64_t call, std::function<void()> run) {
    *this = {call, std::move(run), /*dies=*/false};
  }
  // The same, and then that call and all after it fail without an effect, until `Disarm`.
  void DieAt(
      uint64_t call, std::function<void()> run = [] {}) {
    *this = {call, std::move(run), /*dies=*/true};
  }
  // The same, but that call itself is performed.
  void DieAfter(
      uint64_t call, std::function<void()> run = [] {}) {
    *this = {call, std::move(run), /*dies=*/true, /*dies_after=*/true};
  }
  void Disarm() { *this = {UINT64_MAX, nullptr, false}; }

  bool was_interrupted() const { return was_interrupted_; }

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    if (is_inside_) return perform();
    if (next_call_++ == moment_) {
      was_interrupted_ = true;
      is_inside_ = true;
      run_();
      is_inside_ = false;
      is_dead_ = dies_;
      if (dies_after_) return perform();
    }
    if (is_dead_) return IOError({call.path}, "the process died");
    return perform();
  }

 private:
  struct Moment {
    uint64_t call;
    std::function<void()> run;
    bool dies;
    bool dies_after = false;
  };

  InterruptedStore& operator=(Moment moment) {
    moment_ = moment.call;
    run_ = std::move(moment.run);
    dies_ = moment.dies;
    dies_after_ = moment.dies_after;
    next_call_ = 0;
    was_interrupted_ = is_dead_ = false;
    return *this;
  }

  uint64_t moment_ = UINT64_MAX;
  std::function<void()> run_;
  bool dies_ = false;
  bool dies_after_ = false;
  uint64_t next_call_ = 0;
  bool was_interrupted_ = false;
  bool is_inside_ = false;
  bool is_dead_ = false;
};

}  // namespace glaive::testing
