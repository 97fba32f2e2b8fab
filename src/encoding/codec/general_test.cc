#include "encoding/codec/general.h"

#include <algorithm>
#include <memory>
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
constexpr uint64_t kAny = UINT64_MAX;

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
  ScratchBytes scratch;
  const std::string lz4 = FromHex(kLz4);
  const auto strings =
      Describe(wire::CompressionScheme::kLz4).Decompress(BytesOf(lz4), kAny, scratch, kPage);
  ASSERT_THAT(strings, IsOk());
  EXPECT_EQ(strings->size(), 29);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(strings->data()) + 20, 9), "alphabeta");

  const std::string zstd = FromHex(kZstd);
  const auto split =
      Describe(wire::CompressionScheme::kZstd).Decompress(BytesOf(zstd), kAny, scratch, kPage);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->size(), 4096);
}

TEST(GeneralTest, EmptyBuffersStayEmpty) {
  ScratchBytes scratch;
  for (const auto scheme : {wire::CompressionScheme::kLz4, wire::CompressionScheme::kZstd}) {
    const auto empty = Describe(scheme).Decompress({}, kAny, scratch, kPage);
    ASSERT_THAT(empty, IsOk());
    EXPECT_TRUE(empty->empty());
  }
}

TEST(GeneralTest, SizesThatCannotBeAllocateNothing) {
  const auto lz4 = Describe(wire::CompressionScheme::kLz4);
  const auto zstd = Describe(wire::CompressionScheme::kZstd);
  std::string bytes = FromHex(kLz4);
  bytes[3] = '\x7f';
  EXPECT_THAT(lz4.DecompressedSize(BytesOf(bytes), kAny, kPage),
              IsError(ErrorKind::kCorrupt, "cannot hold"));
  bytes = FromHex(kZstd);
  bytes[6] = '\x7f';
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(bytes), kAny, kPage),
              IsError(ErrorKind::kCorrupt, "cannot hold"));
  EXPECT_THAT(lz4.DecompressedSize(BytesOf(bytes).first(3), kAny, kPage),
              IsError(ErrorKind::kCorrupt, "size of lz4 data needs 4"));
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(bytes).first(7), kAny, kPage),
              IsError(ErrorKind::kCorrupt, "size of zstd data needs 8"));
  // A real frame of a great many zeros is fine.
  const std::string zeros(10'000'000, '\0');
  std::string frame(ZSTD_compressBound(zeros.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 1));
  const uint64_t size = zeros.size();
  frame.insert(0, reinterpret_cast<const char*>(&size), sizeof(size));
  EXPECT_THAT(zstd.DecompressedSize(BytesOf(frame), kAny, kPage),
              glaive::testing::IsOkAndHolds(zeros.size()));
}

// Blocks of one byte over and over: 128 KiB out of 4 bytes each.
std::string FrameOfZeros(uint64_t size) {
  std::string frame;
  const std::string zeros(1 << 20, '\0');
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), size);
  std::string out(ZSTD_CStreamOutSize(), '\0');
  for (uint64_t done = 0; done <= size;) {
    ZSTD_inBuffer input = {zeros.data(), std::min<uint64_t>(zeros.size(), size - done), 0};
    done += input.size;
    const bool is_last = done == size;
    size_t left = 1;
    while (is_last ? left != 0 : input.pos < input.size) {
      ZSTD_outBuffer output = {out.data(), out.size(), 0};
      left = ZSTD_compressStream2(context.get(), &output, &input,
                                  is_last ? ZSTD_e_end : ZSTD_e_continue);
      frame.append(out, 0, output.pos);
    }
    if (is_last) break;
  }
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + frame;
}

TEST(GeneralTest, MoreThanThereIsUseForIsRefusedBeforeAnythingIsAllocated) {
  const auto zstd = Describe(wire::CompressionScheme::kZstd);
  const std::string bomb = FrameOfZeros(uint64_t{1} << 30);
  ASSERT_LT(bomb.size(), 200'000u);
  ScratchBytes scratch;
  EXPECT_THAT(zstd.Decompress(BytesOf(bomb), 4096, scratch, kPage),
              IsError(ErrorKind::kCorrupt, "1073741824 bytes where there are at most 4096"));
  EXPECT_EQ(scratch.capacity(), 0u);
  const auto lz4 = Describe(wire::CompressionScheme::kLz4);
  EXPECT_THAT(lz4.DecompressedSize(BytesOf(FromHex(kLz4)), 1, kPage),
              IsError(ErrorKind::kCorrupt, "at most 1"));
}

TEST(GeneralTest, DamageIsAnErrorOrOtherBytes) {
  for (const auto& [hex, scheme] : {std::pair(kLz4, wire::CompressionScheme::kLz4),
                                    std::pair(kZstd, wire::CompressionScheme::kZstd)}) {
    const std::string bytes = FromHex(hex);
    const auto description = Describe(scheme);
    ScratchBytes scratch;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const auto out = description.Decompress(BytesOf(flipped), kAny, scratch, kPage);
      if (!out.ok()) {
        EXPECT_THAT(out, IsError(ErrorKind::kCorrupt, "data/a.lance, byte 64"));
      }
    }
    for (size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_THAT(description.Decompress(BytesOf(bytes).first(size), kAny, scratch, kPage),
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
  EXPECT_THAT(Describe(wire::CompressionScheme::kZstd).DecompressedSize(BytesOf(old), kAny, kPage),
              IsError(ErrorKind::kUnsupported, "without its size"));
}

}  // namespace
}  // namespace glaive::encoding
