#include "encoding/codec/variable.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;

constexpr Location kPage = {"data/a.lance", 64};

VariableDescription Describe(uint64_t offset_bits) {
  return VariableDescription::Validate({wire::MakeEncoding(wire::FlatEncoding{offset_bits})}, kPage)
      .ValueOrDie();
}

std::vector<std::string> Strings(const VariablePayload& payload) {
  std::vector<std::string> strings;
  for (uint64_t i = 0; i < payload.num_values; ++i) {
    strings.emplace_back(reinterpret_cast<const char*>(payload.origin) + payload.offset(i),
                         payload.offset(i + 1) - payload.offset(i));
  }
  return strings;
}

// "ab", "", "cde" as pylance lays a chunk out: offsets from its start, padded with 0x48.
constexpr std::string_view kChunk32 =
    "10000000120000001200000015000000"
    "6162636465"
    "484848";
constexpr std::string_view kChunk64 =
    "2000000000000000220000000000000022000000000000002500000000000000"
    "6162636465"
    "484848";
// The same as a block: offsets from the bytes.
constexpr std::string_view kBlock32 =
    "20000000"
    "18000000"
    "00000000020000000200000005000000"
    "6162636465";

TEST(VariableTest, ChunksAndBlocks) {
  const std::vector<std::string> expected = {"ab", "", "cde"};
  const std::string chunk32 = FromHex(kChunk32);
  const std::string chunk64 = FromHex(kChunk64);
  const std::string block = FromHex(kBlock32);
  EXPECT_EQ(Strings(Describe(32).OpenMiniBlock(BytesOf(chunk32), 3, kPage).ValueOrDie()), expected);
  EXPECT_EQ(Strings(Describe(64).OpenMiniBlock(BytesOf(chunk64), 3, kPage).ValueOrDie()), expected);
  EXPECT_EQ(Strings(Describe(32).OpenBlock(BytesOf(block), 3, kPage).ValueOrDie()), expected);
}

TEST(VariableTest, OffsetsMustAscendInsideTheBuffer) {
  const auto open = [](std::string_view hex, uint64_t count) {
    const std::string bytes = FromHex(hex);
    return Describe(32).OpenMiniBlock(BytesOf(bytes), count, kPage).status();
  };
  EXPECT_THAT(open(kChunk32, UINT64_MAX), IsError(ErrorKind::kCorrupt, "hold no"));
  EXPECT_THAT(open(kChunk32, 6), IsError(ErrorKind::kCorrupt, "hold no 7 offsets of 4 bytes"));
  EXPECT_THAT(open("0c0000000e0000000d0000006162", 2), IsError(ErrorKind::kCorrupt, "ascend"));
  EXPECT_THAT(open("080000000b0000006162", 1), IsError(ErrorKind::kCorrupt, "to at most 10"));
  // The first points into the offsets.
  EXPECT_THAT(open("070000000a0000006162", 1), IsError(ErrorKind::kCorrupt, "ascend from 8"));
}

TEST(VariableTest, BlockHeadersAreChecked) {
  const auto open = [](std::string_view hex, uint64_t count) {
    const std::string bytes = FromHex(hex);
    return Describe(32).OpenBlock(BytesOf(bytes), count, kPage).status();
  };
  EXPECT_THAT(open("20000000", 0), IsError(ErrorKind::kCorrupt, "no room for the header"));
  EXPECT_THAT(open("400000000c00000000000000", 0), IsError(ErrorKind::kCorrupt, "of 64 bits"));
  EXPECT_THAT(open("200000000d00000000000000", 0),
              IsError(ErrorKind::kCorrupt, "start at 13 of 12"));
  EXPECT_THAT(open("200000000b00000000000000", 0), IsError(ErrorKind::kCorrupt, "start at 11"));
  EXPECT_THAT(open("200000001000000000000000030000006162", 1),
              IsError(ErrorKind::kCorrupt, "from 0 to at most 2"));
}

TEST(VariableTest, OnlyFlatOffsetsAreRead) {
  EXPECT_THAT(VariableDescription::Validate({wire::MakeEncoding(wire::FlatEncoding{16})}, kPage),
              IsError(ErrorKind::kCorrupt, "32 or 64 bits"));
  EXPECT_THAT(VariableDescription::Validate({wire::MakeEncoding(wire::UnknownEncoding{15})}, kPage),
              IsError(ErrorKind::kCorrupt, "not flat ones"));
}

}  // namespace
}  // namespace glaive::encoding
