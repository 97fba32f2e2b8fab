#include "encoding/codec/bitpacked.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kPage = {"data/a.lance", 64};

template <typename T>
std::vector<T> RandomValues(size_t count, unsigned width, std::mt19937_64& random) {
  std::vector<T> values(count);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (T& value : values) value = static_cast<T>(random() & mask);
  return values;
}

template <typename T>
std::vector<T> Decoded(const BitpackedPayload& payload) {
  std::vector<T> out(payload.num_values());
  payload.Decode(out.data());
  return out;
}

OutOfLineBitpackingDescription OutOfLine(uint64_t bits, uint64_t width) {
  return OutOfLineBitpackingDescription::Validate(
             {bits, wire::MakeEncoding(wire::FlatEncoding{width})}, kPage)
      .ValueOrDie();
}

template <typename T>
class BitpackedTest : public ::testing::Test {};
using Words = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(BitpackedTest, Words);

TYPED_TEST(BitpackedTest, InlineBlocksOfEveryWidth) {
  std::mt19937_64 random(1);
  constexpr unsigned kBits = 8 * sizeof(TypeParam);
  const auto description = InlineBitpackingDescription::Validate({kBits}, kPage).ValueOrDie();
  for (unsigned width = 0; width <= kBits; ++width) {
    for (const size_t count : {1, 3, 1023, 1024}) {
      const auto values = RandomValues<TypeParam>(count, width, random);
      const unsigned packed = PackedWidth(std::span<const TypeParam>(values));
      std::vector<std::byte> bytes(InlineBitpackedBytes<TypeParam>(packed));
      EncodeInlineBitpacked(std::span<const TypeParam>(values), packed, bytes.data());
      const auto payload = description.Open(bytes, count, kPage);
      ASSERT_THAT(payload, IsOk());
      EXPECT_EQ(Decoded<TypeParam>(*payload), values);
      EXPECT_THAT(description.Open(Bytes(bytes).first(bytes.size() - 1), count, kPage),
                  IsError(ErrorKind::kCorrupt, "data/a.lance, byte 64"));
    }
  }
}

TYPED_TEST(BitpackedTest, OutOfLinePayloadsOfEveryWidthAndTail) {
  std::mt19937_64 random(2);
  constexpr unsigned kBits = 8 * sizeof(TypeParam);
  for (unsigned width = 1; width < kBits; ++width) {
    for (const size_t count : {1, 1000, 1024, 1025, 2047, 3000}) {
      const auto values = RandomValues<TypeParam>(count, width, random);
      std::vector<std::byte> bytes(OutOfLineBitpackedBytes<TypeParam>(count, width));
      EncodeOutOfLineBitpacked(std::span<const TypeParam>(values), width, bytes.data());
      const auto payload = OutOfLine(kBits, width).Open(bytes, count, kPage);
      ASSERT_THAT(payload, IsOk());
      EXPECT_EQ(Decoded<TypeParam>(*payload), values);
      EXPECT_THAT(OutOfLine(kBits, width).Open(Bytes(bytes).first(bytes.size() - 1), count, kPage),
                  IsError(ErrorKind::kCorrupt, "values bit-packed by"));
    }
  }
}

// Both forms of a tail are legal for any number of values; only the length tells.
TEST(BitpackedPayloadTest, TailsAreRawOrPacked) {
  std::vector<uint16_t> values(1500);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i % 8);
  const size_t full = PackedBlockBytes(3);
  std::vector<std::byte> raw(full + 476 * sizeof(uint16_t));
  PackBlock(values.data(), 3, raw.data());
  std::memcpy(raw.data() + full, values.data() + 1024, 476 * sizeof(uint16_t));
  EXPECT_EQ(Decoded<uint16_t>(OutOfLine(16, 3).Open(raw, 1500, kPage).ValueOrDie()), values);

  std::vector<uint16_t> padded = values;
  padded.resize(2048);
  std::vector<std::byte> packed(2 * full);
  PackBlock(padded.data(), 3, packed.data());
  PackBlock(padded.data() + 1024, 3, packed.data() + full);
  EXPECT_EQ(Decoded<uint16_t>(OutOfLine(16, 3).Open(packed, 1500, kPage).ValueOrDie()), values);
}

TEST(BitpackedPayloadTest, DescriptionsAndSizesAreChecked) {
  EXPECT_THAT(InlineBitpackingDescription::Validate({12}, kPage),
              IsError(ErrorKind::kCorrupt, "bit-packed values of 12 bits"));
  const auto u8 = InlineBitpackingDescription::Validate({8}, kPage).ValueOrDie();
  std::vector<std::byte> bytes(1 + PackedBlockBytes(9), std::byte{9});
  EXPECT_THAT(u8.Open(bytes, 10, kPage), IsError(ErrorKind::kCorrupt, "of 8 bits packed into 9"));
  EXPECT_THAT(u8.Open(bytes, 1025, kPage), IsError(ErrorKind::kCorrupt, "1025 values in one"));
  EXPECT_THAT(u8.Open({}, 1, kPage), IsError(ErrorKind::kCorrupt, "no room for its width"));
  EXPECT_THAT(u8.Open({}, 0, kPage), IsOk());
  EXPECT_THAT(OutOfLineBitpackingDescription::Validate(
                  {16, wire::MakeEncoding(wire::FlatEncoding{17})}, kPage),
              IsError(ErrorKind::kCorrupt, "without a packed width"));
  // A description alone must not make values: not by no bits, nor by a number that overflows.
  EXPECT_THAT(OutOfLine(64, 0).Open({}, uint64_t{1} << 40, kPage),
              IsError(ErrorKind::kCorrupt, "into no bits"));
  EXPECT_THAT(OutOfLine(64, 7).Open(bytes, UINT64_MAX, kPage),
              IsError(ErrorKind::kCorrupt, "18446744073709551615 values"));
}

}  // namespace
}  // namespace glaive::encoding
