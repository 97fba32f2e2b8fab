#include "table/operation/key_filter.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using ::testing::ElementsAre;

constexpr uint64_t kSome = 0x1234'5678'9abc'def0;
constexpr uint64_t kOther = 0xfedc'ba98'7654'3210;

KeyFilter Of(std::vector<uint64_t> hashes, std::vector<int32_t> fields = {1}) {
  return {.field_ids = std::move(fields), .hashes = std::move(hashes), .bloom = {}};
}

TEST(KeyFilterTest, ExactSetsRoundTrip) {
  const auto filter = ParseKeyFilter(SerializeKeyFilter(Of({kSome, kOther}, {3, 7}))).ValueOrDie();
  EXPECT_THAT(filter.field_ids, ElementsAre(3, 7));
  EXPECT_THAT(filter.hashes, ElementsAre(kSome, kOther));
  EXPECT_FALSE(filter.bloom.has_value());
}

TEST(KeyFilterTest, BloomFiltersRoundTrip) {
  const KeyFilter bloom = ToBloom(Of({kSome}));
  ASSERT_EQ(bloom.bloom->size(), 32 << 10);
  const auto filter = ParseKeyFilter(SerializeKeyFilter(bloom)).ValueOrDie();
  EXPECT_EQ(filter.bloom, bloom.bloom);
}

TEST(KeyFilterTest, SharesKeysOnlyIfItMay) {
  for (const bool left_is_bloom : {false, true}) {
    for (const bool right_is_bloom : {false, true}) {
      const auto left = [&](KeyFilter f) { return left_is_bloom ? ToBloom(std::move(f)) : f; };
      const auto right = [&](KeyFilter f) { return right_is_bloom ? ToBloom(std::move(f)) : f; };
      EXPECT_TRUE(MayShareKeys(left(Of({kSome, kOther})), right(Of({kOther}))));
      EXPECT_FALSE(MayShareKeys(left(Of({kSome})), right(Of({kOther}))));
      EXPECT_FALSE(MayShareKeys(left(Of({})), right(Of({kOther}))));
      EXPECT_TRUE(MayShareKeys(left(Of({kSome})), right(Of({kOther}, {2}))));
      EXPECT_TRUE(IsEmpty(left(Of({}))));
      EXPECT_FALSE(IsEmpty(right(Of({kSome}))));
    }
  }
}

TEST(KeyFilterTest, BloomsOfAnotherSizeMaySayAnything) {
  KeyFilter small = Of({});
  small.bloom = std::string(64, '\0');
  EXPECT_TRUE(MayShareKeys(small, ToBloom(Of({kSome}))));
}

TEST(KeyFilterTest, DamagedMessagesAreErrors) {
  EXPECT_THAT(ParseKeyFilter("\x12"), IsError(ErrorKind::kCorrupt, "KeyExistenceFilter"));
  EXPECT_THAT(ParseKeyFilter(std::string("\x1a\x03\x0a\x01x", 5)),
              IsError(ErrorKind::kCorrupt, "Bloom filter of 1 bytes"));
  EXPECT_THAT(ParseKeyFilter(std::string("\x1a\x00", 2)), IsError(ErrorKind::kCorrupt, "0 bytes"));
}

}  // namespace
}  // namespace glaive::table
