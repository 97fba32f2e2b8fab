#include "encoding/structural/leaf/validity_builder.h"

#include <random>
#include <vector>

#include <arrow/util/bit_util.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsOk;

TEST(ValidityBuilderTest, NoBitmapWithoutANull) {
  ValidityBuilder builder;
  ASSERT_THAT(builder.AppendValid(100), IsOk());
  ASSERT_THAT(builder.AppendWord(~uint64_t{0}, 64), IsOk());
  EXPECT_EQ(builder.length(), 164);
  EXPECT_EQ(builder.Finish().ValueOrDie(), nullptr);
  EXPECT_EQ(builder.length(), 0);
}

// Every way to append, at every offset, against a plain list of bits.
TEST(ValidityBuilderTest, AgreesWithAPlainList) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    ValidityBuilder builder;
    std::vector<bool> plain;
    for (int step = 0; step < 12; ++step) {
      const auto count = static_cast<int64_t>(random() % 200);
      std::vector<uint16_t> levels;
      for (int64_t i = 0; i < count; ++i) levels.push_back(static_cast<uint16_t>(random() % 4));
      switch (random() % 7) {
        case 0:
          ASSERT_THAT(builder.AppendValid(count), IsOk());
          plain.insert(plain.end(), static_cast<size_t>(count), true);
          break;
        case 1:
          ASSERT_THAT(builder.AppendNull(count % 3), IsOk());
          plain.insert(plain.end(), static_cast<size_t>(count % 3), false);
          break;
        case 2: {
          const uint64_t word = random();
          ASSERT_THAT(builder.AppendWord(word, static_cast<int>(count % 65)), IsOk());
          for (int64_t i = 0; i < count % 65; ++i) plain.push_back((word >> i & 1) != 0);
          break;
        }
        case 3: {
          std::vector<uint8_t> bitmap(64);
          for (uint8_t& byte : bitmap) byte = static_cast<uint8_t>(random());
          const auto offset = static_cast<int64_t>(random() % 100);
          ASSERT_THAT(builder.AppendBits(bitmap.data(), offset, count), IsOk());
          for (int64_t i = 0; i < count; ++i) {
            plain.push_back(arrow::bit_util::GetBit(bitmap.data(), offset + i));
          }
          break;
        }
        case 4:
          ASSERT_THAT(builder.AppendLevels(levels, 2), IsOk());
          for (const uint16_t level : levels) plain.push_back(level <= 2);
          break;
        case 5:
          ASSERT_THAT(builder.AppendVisibleLevels(levels, 1, 2), IsOk());
          for (const uint16_t level : levels) {
            if (level <= 2) plain.push_back(level <= 1);
          }
          break;
        default: {
          std::vector<uint8_t> bytes;
          for (const uint16_t level : levels) bytes.push_back(level & 1);
          ASSERT_THAT(builder.AppendBytes(bytes), IsOk());
          for (const uint8_t byte : bytes) plain.push_back(byte != 0);
        }
      }
    }
    const auto nulls = std::count(plain.begin(), plain.end(), false);
    ASSERT_EQ(builder.length(), static_cast<int64_t>(plain.size()));
    ASSERT_EQ(builder.null_count(), nulls);
    const auto bitmap = builder.Finish().ValueOrDie();
    ASSERT_EQ(bitmap == nullptr, nulls == 0);
    for (size_t i = 0; bitmap != nullptr && i < plain.size(); ++i) {
      ASSERT_EQ(arrow::bit_util::GetBit(bitmap->data(), static_cast<int64_t>(i)), plain[i]) << i;
    }
  }
}

}  // namespace
}  // namespace glaive::encoding
