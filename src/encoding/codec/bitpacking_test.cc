#include "encoding/codec/bitpacking.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::encoding {
namespace {

template <typename T>
constexpr unsigned kBits = 8 * sizeof(T);

// The layout by its definition, one bit at a time.
template <typename T>
std::vector<T> PackedBitByBit(const std::vector<T>& values, unsigned width) {
  constexpr unsigned kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  const size_t lanes = kBitpackBlock / kBits<T>;
  std::vector<T> words(width * lanes);
  for (unsigned r = 0; r < kBits<T>; ++r) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      const T value = values[kOrder[r / 8] * 16 + (r % 8) * 128 + lane];
      for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = r * width + bit;
        const T set = static_cast<T>((value >> bit) & 1);
        T& word = words[at / kBits<T> * lanes + lane];
        word = static_cast<T>(word | static_cast<T>(set << (at % kBits<T>)));
      }
    }
  }
  return words;
}

template <typename T>
std::vector<T> Random(std::mt19937_64& random, size_t count, unsigned width) {
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(width == 0 ? 0 : random() >> (64 - width));
  }
  return values;
}

template <typename T>
class BitpackingTest : public ::testing::Test {};
using Words = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(BitpackingTest, Words);

TYPED_TEST(BitpackingTest, EveryWidthAgreesWithTheDefinition) {
  std::mt19937_64 random(1024);
  for (unsigned width = 0; width <= kBits<TypeParam>; ++width) {
    const auto values = Random<TypeParam>(random, kBitpackBlock, width);
    const auto expected = PackedBitByBit(values, width);
    std::vector<TypeParam> packed(expected.size());
    PackBlock<TypeParam>(values.data(), width, packed.data());
    ASSERT_EQ(packed, expected) << "width " << width;

    std::vector<std::byte> unaligned(1 + PackedBlockBytes(width));
    const auto bytes = std::as_bytes(std::span(packed));
    std::copy(bytes.begin(), bytes.end(), unaligned.begin() + 1);
    std::vector<TypeParam> unpacked(kBitpackBlock, TypeParam{77});
    UnpackBlock<TypeParam>(unaligned.data() + 1, width, unpacked.data());
    ASSERT_EQ(unpacked, values) << "width " << width;
  }
}

TYPED_TEST(BitpackingTest, BitsAboveTheWidthAreDropped) {
  std::mt19937_64 random(7);
  const auto values = Random<TypeParam>(random, kBitpackBlock, kBits<TypeParam>);
  for (unsigned width = 1; width < kBits<TypeParam>; ++width) {
    std::vector<TypeParam> packed(width * kBitpackBlock / kBits<TypeParam>);
    PackBlock<TypeParam>(values.data(), width, packed.data());
    ASSERT_EQ(packed, PackedBitByBit(values, width)) << "width " << width;
  }
}

TYPED_TEST(BitpackingTest, WidthIsTheBitLengthOfTheLargest) {
  std::mt19937_64 random(3);
  for (const size_t count : {0, 1, 31, 32, 33, 127, 128, 1023, 1024}) {
    for (unsigned width = 0; width <= kBits<TypeParam>; ++width) {
      std::vector<TypeParam> values(count);
      if (count > 0 && width > 0) {
        values[random() % count] = static_cast<TypeParam>(TypeParam{1} << (width - 1));
      }
      EXPECT_EQ(PackedWidth<TypeParam>(values), count == 0 ? 0 : width);
    }
  }
}

TYPED_TEST(BitpackingTest, InlinePayloads) {
  std::mt19937_64 random(5);
  for (const size_t count : {1, 2, 1023, 1024}) {
    for (const unsigned width : {0u, 1u, kBits<TypeParam> / 2 + 1, kBits<TypeParam>}) {
      auto values = Random<TypeParam>(random, count, width);
      std::vector<std::byte> payload(InlineBitpackedBytes<TypeParam>(width));
      EncodeInlineBitpacked<TypeParam>(values, width, payload.data());
      TypeParam header;
      std::memcpy(&header, payload.data(), sizeof(header));
      EXPECT_EQ(header, width);
      std::vector<TypeParam> unpacked(kBitpackBlock);
      UnpackBlock<TypeParam>(payload.data() + sizeof(TypeParam), width, unpacked.data());
      values.resize(kBitpackBlock);
      EXPECT_EQ(unpacked, values);
    }
  }
}

TYPED_TEST(BitpackingTest, OutOfLineTailsAreRawOrPackedByTheirSize) {
  std::mt19937_64 random(9);
  for (const size_t count : {0, 1, 100, 900, 1023, 1024, 1025, 2047, 3000}) {
    for (unsigned width = 0; width < kBits<TypeParam>; ++width) {
      const auto values = Random<TypeParam>(random, count, width);
      const size_t tail = count % kBitpackBlock;
      const size_t full = count - tail;
      const size_t size = OutOfLineBitpackedBytes<TypeParam>(count, width);
      const size_t raw = full / kBitpackBlock * PackedBlockBytes(width) + tail * sizeof(TypeParam);
      const size_t packed = (full / kBitpackBlock + 1) * PackedBlockBytes(width);
      EXPECT_EQ(size, tail == 0 ? raw : std::min(raw, packed));
      std::vector<std::byte> payload(size);
      EncodeOutOfLineBitpacked<TypeParam>(values, width, payload.data());
      std::vector<TypeParam> unpacked((count / kBitpackBlock + 1) * kBitpackBlock);
      const size_t blocks = size == raw ? count / kBitpackBlock : count / kBitpackBlock + 1;
      for (size_t block = 0; block < blocks; ++block) {
        UnpackBlock<TypeParam>(payload.data() + block * PackedBlockBytes(width), width,
                               unpacked.data() + block * kBitpackBlock);
      }
      if (size == raw && tail > 0) {
        std::memcpy(unpacked.data() + full, payload.data() + size - tail * sizeof(TypeParam),
                    tail * sizeof(TypeParam));
      }
      unpacked.resize(count);
      ASSERT_EQ(unpacked, values) << count << " values of width " << width;
    }
  }
}

// v[i] = 7 i mod 8 as pylance 14.0.2 packs it: words 0 of the first lanes.
TEST(BitpackingGoldenTest, PylancesBlock) {
  std::vector<uint16_t> values(kBitpackBlock);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(7 * i % 8);
  std::vector<std::byte> payload(InlineBitpackedBytes<uint16_t>(3));
  EncodeInlineBitpacked<uint16_t>(values, 3, payload.data());
  const std::vector<int> expected = {3,    0,    0,    0,    0xff, 0xff, 0xb6, 0x6d, 0x6d,
                                     0xdb, 0x24, 0x49, 0xdb, 0xb6, 0x92, 0x24, 0x49, 0x92};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(payload[i]), expected[i]) << "byte " << i;
  }
}

}  // namespace
}  // namespace glaive::encoding
