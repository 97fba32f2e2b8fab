#include "core/random.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace glaive {
namespace {

TEST(RandomTest, FillsAll) {
  // More than one call's worth; of 1000 bytes about 4 are zero.
  std::vector<std::byte> bytes(1000);
  FillRandom(bytes);
  EXPECT_LT(std::ranges::count(bytes, std::byte{0}), 50);
  EXPECT_LT(std::count(bytes.end() - 100, bytes.end(), std::byte{0}), 20);
}

TEST(RandomTest, DoesNotRepeat) {
  std::set<uint64_t> values;
  for (int i = 0; i < 1000; ++i) values.insert(Random64());
  EXPECT_EQ(values.size(), 1000u);
}

TEST(RandomTest, AForkedChildHasItsOwn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const uint64_t value = Random64();
    _exit(write(ends[1], &value, sizeof(value)) == sizeof(value) ? 0 : 1);
  }
  uint64_t theirs = 0;
  ASSERT_EQ(read(ends[0], &theirs, sizeof(theirs)), static_cast<ssize_t>(sizeof(theirs)));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(theirs, Random64());
}

TEST(RandomTest, ASourceOfTestsFillsInstead) {
  SetRandomSource([](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{1}); });
  EXPECT_EQ(Random64(), 0x0101'0101'0101'0101u);
  EXPECT_EQ(RandomBelow(16), 1u);
  SetRandomSource(nullptr);
  EXPECT_NE(Random64(), 0x0101'0101'0101'0101u);
}

}  // namespace
}  // namespace glaive
