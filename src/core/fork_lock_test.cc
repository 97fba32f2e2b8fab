#include "core/fork_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace glaive {
namespace {

// Runs `child` in a fork made while a thread is inside `hold`, and returns what the child returns.
template <typename Hold>
int InForkWhileHeld(const Hold& hold, const std::function<int()>& child) {
  std::latch is_held(1);
  std::latch may_end(1);
  std::thread holder([&] {
    hold([&] {
      is_held.count_down();
      may_end.wait();
    });
  });
  is_held.wait();
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);  // only where it hangs
    _exit(child());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  may_end.count_down();
  holder.join();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkLock, IsFreeAndTornInAForkMadeWhileItWasHeld) {
  ForkLock lock;
  const auto hold = [&](const auto& wait) {
    const ForkLock::Hold held(lock);
    wait();
  };
  const int answer = InForkWhileHeld(hold, [&] {
    { const ForkLock::Hold again(lock); }  // stays torn until it was mended
    ForkLock::Hold held(lock);
    const bool was_torn = held.is_torn();
    held.Mended();
    return was_torn ? 7 : 1;
  });
  EXPECT_EQ(answer, 7);
  EXPECT_FALSE(ForkLock::Hold(lock).is_torn());
}

TEST(ForkLock, IsWholeInAForkMadeAtRest) {
  ForkLock lock;
  { const ForkLock::Hold held(lock); }
  const auto hold = [](const auto& wait) { wait(); };
  EXPECT_EQ(InForkWhileHeld(hold, [&] { return ForkLock::Hold(lock).is_torn() ? 1 : 7; }), 7);
}

struct Numbers {
  int first = 0;
  int second = 0;
};

TEST(Losable, IsMadeAnewInAForkMadeWhileItWasChanged) {
  Losable<Numbers> numbers;
  const auto hold = [&](const auto& wait) {
    const auto access = numbers.Lock();
    access->first = 1;
    wait();
    access->second = 1;
  };
  const int answer = InForkWhileHeld(hold, [&] {
    const auto access = numbers.Lock();
    return access->first == 0 ? 7 : 1;
  });
  EXPECT_EQ(answer, 7);
  EXPECT_EQ(numbers.Lock()->second, 1);
}

TEST(Losable, IsKeptInAForkMadeAtRest) {
  Losable<Numbers> numbers;
  numbers.Lock()->first = 1;
  const auto hold = [](const auto& wait) { wait(); };
  EXPECT_EQ(InForkWhileHeld(hold, [&] { return numbers.Lock()->first == 1 ? 7 : 1; }), 7);
}

}  // namespace
}  // namespace glaive
