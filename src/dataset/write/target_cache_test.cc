#include "dataset/write/target_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.h"
#include "dataset/handle/write_target_state.h"
#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using namespace std::chrono_literals;

using Time = WriteTargetCache::Time;

WriteTarget TargetOf(uint64_t version) {
  dataset::WriteTargetState state{.uri = "memory://table", .identity = {version, "made"}};
  return Access::Make<WriteTarget>(
      std::make_shared<const dataset::WriteTargetState>(std::move(state)));
}

// Counts how often it is opened.
struct Table {
  std::atomic<int> opened = 0;

  arrow::Result<WriteTarget> Get(WriteTargetCache& cache, const std::string& key, uint64_t version,
                                 Time now = Time()) {
    return cache.Get(key, {.version = version, .storage_options = {}}, now, [&] {
      ++opened;
      return arrow::Result<WriteTarget>(TargetOf(version));
    });
  }
};

TEST(WriteTargetCacheTest, AnotherWishTakesThePlace) {
  WriteTargetCache cache(1 << 20, 1min);
  Table table;
  EXPECT_EQ(table.Get(cache, "a", 1)->version(), 1u);
  EXPECT_EQ(table.Get(cache, "a", 1)->version(), 1u);
  EXPECT_EQ(table.opened, 1);
  EXPECT_EQ(table.Get(cache, "a", 2)->version(), 2u);
  EXPECT_EQ(table.Get(cache, "a", 1)->version(), 1u);
  EXPECT_EQ(table.opened, 3);
  EXPECT_EQ(cache.stats().num_targets, 1u);
}

TEST(WriteTargetCacheTest, ClosedWhenIdleAndOnDemand) {
  WriteTargetCache cache(1 << 20, 1min);
  Table table;
  EXPECT_THAT(table.Get(cache, "a", 1, Time() + 0s), IsOk());
  EXPECT_THAT(table.Get(cache, "b", 1, Time() + 50s), IsOk());
  EXPECT_THAT(table.Get(cache, "b", 1, Time() + 61s), IsOk());
  EXPECT_EQ(cache.stats().num_targets, 1u);
  EXPECT_EQ(table.opened, 2);
  cache.Close("other");
  EXPECT_EQ(cache.stats().num_targets, 1u);
  cache.Close("b");
  EXPECT_EQ(cache.stats().num_targets, 0u);
  EXPECT_THAT(table.Get(cache, "b", 1, Time() + 61s), IsOk());
  cache.CloseAll();
  EXPECT_EQ(cache.stats().size_bytes, 0u);
}

TEST(WriteTargetCacheTest, NeverMoreThanItsBytes) {
  constexpr uint64_t kBytes = 20'000;
  WriteTargetCache cache(kBytes, 1min);
  Table table;
  for (int i = 0; i < 50; ++i) EXPECT_THAT(table.Get(cache, std::to_string(i), 1), IsOk());
  EXPECT_LE(cache.stats().size_bytes, kBytes);
  EXPECT_GT(cache.stats().num_targets, 1u);
  EXPECT_LT(cache.stats().num_targets, 50u);
}

TEST(WriteTargetCacheTest, ErrorsAreNotKept) {
  WriteTargetCache cache(1 << 20, 1min);
  const auto failing = [] { return arrow::Result<WriteTarget>(NotFound("nothing there")); };
  EXPECT_THAT(cache.Get("a", {.version = 1}, Time(), failing),
              IsError(ErrorKind::kNotFound, "nothing there"));
  Table table;
  EXPECT_THAT(table.Get(cache, "a", 1), IsOk());
}

TEST(WriteTargetCacheTest, OfManyThreadsOneOpens) {
  WriteTargetCache cache(1 << 20, 1min);
  Table table;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (uint64_t round = 0; round < 100; ++round) {
        EXPECT_EQ(table.Get(cache, "table", 1)->version(), 1u);
        EXPECT_THAT(table.Get(cache, std::to_string(round), 1), IsOk());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(table.opened, 101);
}

// The child's threads never held the lock that one of the parent's holds.
TEST(WriteTargetCacheTest, AForkedChildGoesOn) {
  WriteTargetCache cache(1 << 20, 1min);
  Table table;
  EXPECT_THAT(table.Get(cache, "kept", 1), IsOk());
  std::atomic<bool> opening = false;
  std::atomic<bool> done = false;
  std::jthread slow([&] {
    static_cast<void>(cache.Get("slow", {.version = 1}, Time(), [&] {
      opening = true;
      while (!done) std::this_thread::yield();
      return arrow::Result<WriteTarget>(TargetOf(1));
    }));
  });
  while (!opening) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    const bool kept = table.Get(cache, "kept", 1).ok() && table.opened == 1;
    const bool opens = table.Get(cache, "slow", 1).ok() && table.opened == 2;
    _exit(kept && opens ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  done = true;
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace glaive::dataset
