#include "core/clock.h"

#include <atomic>
#include <thread>

namespace glaive {
namespace {

std::atomic<Clock*> clock_of_test = nullptr;

Clock* ClockOfTest() { return clock_of_test.load(std::memory_order_relaxed); }

}  // namespace

int64_t UnixNanoseconds() {
  if (Clock* const clock = ClockOfTest()) return clock->UnixNanoseconds();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

SteadyTime SteadyNow() {
  if (Clock* const clock = ClockOfTest()) return clock->SteadyNow();
  return std::chrono::steady_clock::now();
}

void SleepFor(std::chrono::nanoseconds duration) {
  if (Clock* const clock = ClockOfTest()) return clock->SleepFor(duration);
  std::this_thread::sleep_for(duration);
}

void SleepUntil(SteadyTime time) {
  const auto left = time - SteadyNow();
  if (left > SteadyTime::duration::zero()) SleepFor(left);
}

void SetClock(Clock* clock) { clock_of_test.store(clock, std::memory_order_relaxed); }

}  // namespace glaive
