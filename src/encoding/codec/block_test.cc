#include "encoding/codec/block.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using wire::MakeEncoding;

constexpr Location kPage = {"data/a.lance", 64};

const wire::EncodingPtr kFlat16 = MakeEncoding(wire::FlatEncoding{16});
const wire::EncodingPtr kRle16 =
    MakeEncoding(wire::RleEncoding{kFlat16, MakeEncoding(wire::FlatEncoding{8})});

arrow::Result<FixedBlockDescription> Validate(const wire::EncodingPtr& encoding,
                                              FileVersion version = FileVersion::k2_2) {
  return FixedBlockDescription::Validate(*encoding, version, kPage);
}

arrow::Result<std::vector<uint16_t>> Decode(const wire::EncodingPtr& encoding, std::string_view hex,
                                            uint64_t count) {
  const std::string bytes = FromHex(hex);
  ARROW_ASSIGN_OR_RAISE(const auto block, Validate(encoding));
  ARROW_ASSIGN_OR_RAISE(const auto values, block.Decode(BytesOf(bytes), count, kPage));
  std::vector<uint16_t> levels(count);
  std::memcpy(levels.data(), values.data(), values.size());
  return levels;
}

TEST(FixedBlockTest, FlatAndRunsOfLevels) {
  const std::vector<uint16_t> expected = {1, 0, 0, 2};
  EXPECT_EQ(Decode(kFlat16, "0100000000000200", 4).ValueOrDie(), expected);
  EXPECT_EQ(Decode(kRle16,
                   "0600000000000000"
                   "010000000200"
                   "010201",
                   4)
                .ValueOrDie(),
            expected);
  // As an lz4 block of literals.
  const auto lz4 =
      MakeEncoding(wire::GeneralEncoding{wire::CompressionScheme::kLz4, std::nullopt, kFlat16});
  EXPECT_EQ(Decode(lz4,
                   "08000000"
                   "80"
                   "0100000000000200",
                   4)
                .ValueOrDie(),
            expected);
}

TEST(FixedBlockTest, CountsAreCheckedBeforeAnythingIsAllocated) {
  EXPECT_THAT(Decode(kFlat16, "0100", 2), IsError(ErrorKind::kCorrupt, "2 values of 16 bits in 2"));
  const auto block = Validate(kFlat16).ValueOrDie();
  EXPECT_THAT(block.Decode({}, UINT64_MAX, kPage), IsError(ErrorKind::kCorrupt, "in 0 bytes"));
  const auto runs = Validate(kRle16).ValueOrDie();
  const std::string bytes = FromHex(
      "0200000000000000"
      "0100"
      "ff");
  EXPECT_THAT(runs.Decode(BytesOf(bytes), uint64_t{1} << 60, kPage),
              IsError(ErrorKind::kCorrupt, "rle runs hold 255 values"));
}

TEST(FixedBlockTest, EachVersionHasItsCodecs) {
  EXPECT_THAT(Validate(kRle16, FileVersion::k2_1),
              IsError(ErrorKind::kCorrupt, "a rle block before version 2.2"));
  EXPECT_THAT(
      Validate(MakeEncoding(wire::GeneralEncoding{wire::CompressionScheme::kZstd, 3, kFlat16}),
               FileVersion::k2_1),
      IsError(ErrorKind::kCorrupt, "a general block before version 2.2"));
  EXPECT_THAT(Validate(MakeEncoding(wire::UnknownEncoding{15})),
              IsError(ErrorKind::kUnsupported, "unknown blocks"));
  EXPECT_THAT(Validate(MakeEncoding(wire::RleEncoding{kFlat16, kRle16})),
              IsError(ErrorKind::kUnsupported, "rle of rle children"));
}

}  // namespace
}  // namespace glaive::encoding
