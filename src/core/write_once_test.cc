#include "core/write_once.h"

#include <gtest/gtest.h>

namespace glaive {
namespace {

TEST(WriteOnce, KeepsTheFirst) {
  WriteOnce<int> slot;
  EXPECT_EQ(slot.Get(), nullptr);
  EXPECT_EQ(slot.Put(1), 1);
  EXPECT_EQ(slot.Put(2), 1);
  EXPECT_EQ(*slot.Get(), 1);
}

TEST(ProcessWide, IsMadeOnce) {
  static constinit ProcessWide<int> value;
  EXPECT_EQ(value.Get([] { return std::make_unique<int>(3); }), 3);
  EXPECT_EQ(&value.Get(), &value.Get([] { return std::make_unique<int>(4); }));
  EXPECT_EQ(value.Get(), 3);
}

// What another thread puts while this one makes its own is the one to use, and the other goes.
TEST(ProcessWide, TheFirstToPutItWins) {
  static constinit ProcessWide<int> value;
  EXPECT_EQ(value.Get([] {
    value.Get([] { return std::make_unique<int>(5); });
    return std::make_unique<int>(6);
  }),
            5);
}

}  // namespace
}  // namespace glaive
