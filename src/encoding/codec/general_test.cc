#include "encoding/codec/general.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kPage = {"data/a.lance", 64};

// What pylance 14.0.2 wrote: a dictionary of "be" and "alpha" by lz4; 4096 bytes of a byte-stream
// split by zstd.
constexpr std::string_view kLz4 =
    "1d000000622000000014000100f0020500000009000000616c70686162657461";
constexpr std::string_view kZstd =
    "001000000000000028b52ffd60000fdd0000580000c0206090b0d03f3f400400f641019c35ecab5485ff1f60"
    "01";

GeneralDescription Describe(wire::CompressionScheme scheme) {
  return GeneralDescription::Validate(scheme, kPage).ValueOrDie();
}

TEST(GeneralTest, PylancesBuffersAreRead) {
  std::vector<std::byte> scratch;
  const std::string lz4 = FromHex(kLz4);
  const auto strings =
      Describe(wire::CompressionScheme::kLz4).Decompress(BytesOf(lz4), scratch, kPage);
  ASSERT_THAT(strings, IsOk());
  EXPECT_EQ(strings->size(), 29);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(strings->data()) + 20, 9), "alphabeta");

  const std::string zstd = FromHex(kZstd);
  const auto split =
      Describe(wire::CompressionScheme::kZstd).Decompress(BytesOf(zstd), scratch, kPage);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->size(), 4096);
}

TEST(GeneralTest, EmptyBuffersStayEmpty) {
  std::vector<std::byte> scratch;
  for (const auto scheme : {wire::CompressionScheme::kLz4, wire::CompressionScheme::kZstd}) {
    const auto empty = Describe(scheme).Decompress({}, scratch, kPage);
    ASSERT_THAT(empty, IsOk());
    EXPECT_TRUE(empty->empty());
  }
}

TEST(GeneralTest, SizesThatCannotBeAllocateNothing) {
  const auto lz4 = Describe(wire::CompressionScheme::kLz4);
  const auto zstd = Describe(wire::CompressionScheme::kZstd);
  std::string bytes = FromHex(kLz4);
  bytes[3] = '\x7f';
  EXPECT_THAT(lz4.DecompressedSize(BytesOf(bytes), kPage),
              IsError(ErrorKind::kCorrupt, "cannot hold"));
  bytes = FromHex(kZstd);
  bytes[6] = '\x7f';
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(bytes), kPage),
              IsError(ErrorKind::kCorrupt, "cannot hold"));
  EXPECT_THAT(lz4.DecompressedSize(BytesOf(bytes).first(3), kPage),
              IsError(ErrorKind::kCorrupt, "size of lz4 data needs 4"));
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(bytes).first(7), kPage),
              IsError(ErrorKind::kCorrupt, "size of zstd data needs 8"));
  // A real frame of a great many zeros is fine.
  const std::string zeros(10'000'000, '\0');
  std::string frame(ZSTD_compressBound(zeros.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 1));
  const uint64_t size = zeros.size();
  frame.insert(0, reinterpret_cast<const char*>(&size), sizeof(size));
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(frame), kPage),
              glaive::testing::IsOkAndHolds(zeros.size()));
}

TEST(GeneralTest, DamageIsAnErrorOrOtherBytes) {
  for (const auto& [hex, scheme] : {std::pair(kLz4, wire::CompressionScheme::kLz4),
                                    std::pair(kZstd, wire::CompressionScheme::kZstd)}) {
    const std::string bytes = FromHex(hex);
    const auto description = Describe(scheme);
    std::vector<std::byte> scratch;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const auto out = description.Decompress(BytesOf(flipped), scratch, kPage);
      if (!out.ok()) {
        EXPECT_THAT(out, IsError(ErrorKind::kCorrupt, "data/a.lance, byte 64"));
      }
    }
    for (size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_THAT(description.Decompress(BytesOf(bytes).first(size), scratch, kPage),
                  IsError(ErrorKind::kCorrupt, "data/a.lance"));
    }
  }
}

TEST(GeneralTest, WhatIsNotReadIsNamed) {
  EXPECT_THAT(GeneralDescription::Validate(static_cast<wire::CompressionScheme>(3), kPage),
              IsError(ErrorKind::kUnsupported, "scheme 3"));
  const std::string old = FromHex(
      "28b52ffd2005290000"
      "0000000000");
  EXPECT_THAT(Describe(wire::CompressionScheme::kZstd).DecompressedSize(BytesOf(old), kPage),
              IsError(ErrorKind::kUnsupported, "without its size"));
}

}  // namespace
}  // namespace glaive::encoding
