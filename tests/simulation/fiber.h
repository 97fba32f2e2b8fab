#pragma once

#include <functional>
#include <memory>

namespace glaive::simulation {

// A stack of its own on the thread that resumes it. It runs until it suspends itself or ends.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // REQUIRES: it has ended, or was never resumed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From outside; returns when the fiber suspends itself or ends.
  void Resume();
  // From inside.
  void Suspend();

  bool has_ended() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glaive::simulation
