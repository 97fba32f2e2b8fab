#pragma once

#include <chrono>
#include <cstdint>

namespace glaive {

using SteadyTime = std::chrono::steady_clock::time_point;

// The time of day that versions, references and objects are stamped with, since the Unix epoch.
int64_t UnixNanoseconds();

// A clock that never goes back, for deadlines.
SteadyTime SteadyNow();

void SleepFor(std::chrono::nanoseconds duration);
void SleepUntil(SteadyTime time);

// What the functions above ask instead of the system, where tests set one.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t UnixNanoseconds() = 0;
  virtual SteadyTime SteadyNow() = 0;
  virtual void SleepFor(std::chrono::nanoseconds duration) = 0;
};

// For the whole process, while no other thread uses a clock. Null: the system's. Borrows it.
void SetClock(Clock* clock);

}  // namespace glaive
