#include "core/clock.h"

#include <gtest/gtest.h>

namespace glaive {
namespace {

using std::chrono::nanoseconds;

class HandClock final : public Clock {
 public:
  int64_t UnixNanoseconds() override { return kEpoch + now_.count(); }
  SteadyTime SteadyNow() override { return SteadyTime(now_); }
  void SleepFor(nanoseconds duration) override { now_ += duration; }

  static constexpr int64_t kEpoch = 1'000'000;

 private:
  nanoseconds now_{};
};

TEST(ClockTest, IsTheSystemsUnlessOneIsSet) {
  const int64_t before =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GE(UnixNanoseconds(), before);
  const SteadyTime now = SteadyNow();
  EXPECT_LE(now, std::chrono::steady_clock::now());
}

TEST(ClockTest, OneThatIsSetIsAskedAlone) {
  HandClock clock;
  SetClock(&clock);
  SleepFor(std::chrono::hours(1));
  SleepUntil(SteadyNow() + nanoseconds(5));
  SleepUntil(SteadyTime());  // long ago
  EXPECT_EQ(UnixNanoseconds(), HandClock::kEpoch + 3600'000'000'005);
  SetClock(nullptr);
  EXPECT_GT(UnixNanoseconds(), 3600'000'000'005);
}

}  // namespace
}  // namespace glaive
