#include "encoding/codec/level_codec.h"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "encoding/codec/bitpacking.h"
#include "encoding/codec/rle.h"

namespace glaive::encoding {
namespace {

std::vector<std::byte> Payload(LevelCodec& codec, const std::vector<uint16_t>& levels) {
  codec.Prepare(levels);
  std::vector<std::byte> payload(codec.size_bytes());
  codec.Write(payload.data());
  return payload;
}

template <typename Encoding>
bool Is(const LevelCodec& codec) {
  return std::holds_alternative<Encoding>(codec.Describe()->kind);
}

TEST(LevelCodecTest, TheSmallestIsChosen) {
  const auto choose = [](uint64_t levels, uint16_t max, uint64_t runs, FileVersion version) {
    return LevelCodec::Choose({levels, max, runs}, version);
  };
  EXPECT_TRUE(Is<wire::FlatEncoding>(choose(6, 1, 6, FileVersion::k2_2)));
  EXPECT_TRUE(Is<wire::InlineBitpackingEncoding>(choose(1000, 1, 500, FileVersion::k2_2)));
  EXPECT_TRUE(Is<wire::OutOfLineBitpackingEncoding>(choose(5000, 3, 2500, FileVersion::k2_2)));
  EXPECT_TRUE(Is<wire::RleEncoding>(choose(1'000'000, 1, 5'000, FileVersion::k2_2)));
  EXPECT_TRUE(
      Is<wire::OutOfLineBitpackingEncoding>(choose(1'000'000, 1, 5'000, FileVersion::k2_1)));
}

TEST(LevelCodecTest, RunsDecodeToTheLevels) {
  std::mt19937_64 random(11);
  auto codec = LevelCodec::Choose({1'000'000, 2, 10}, FileVersion::k2_2);
  ASSERT_TRUE(Is<wire::RleEncoding>(codec));
  for (const uint64_t mean_run : {1, 2, 15, 16, 17, 255, 256, 4000}) {
    std::vector<uint16_t> levels;
    while (levels.size() < 20'000) {
      levels.insert(levels.end(), 1 + random() % (2 * mean_run),
                    static_cast<uint16_t>(random() % 3));
    }
    const auto payload = Payload(codec, levels);
    EXPECT_EQ(payload, EncodeRleBlock<uint16_t>(levels));
  }
}

TEST(LevelCodecTest, PackedPayloadsAreThoseOfTheBlocks) {
  std::mt19937_64 random(12);
  std::vector<uint16_t> levels(700);
  for (uint16_t& level : levels) level = static_cast<uint16_t>(random() % 4);
  auto small = LevelCodec::Choose({700, 3, 600}, FileVersion::k2_1);
  std::vector<std::byte> expected(InlineBitpackedBytes<uint16_t>(2));
  EncodeInlineBitpacked<uint16_t>(levels, 2, expected.data());
  EXPECT_EQ(Payload(small, levels), expected);

  auto large = LevelCodec::Choose({70'000, 3, 60'000}, FileVersion::k2_1);
  expected.assign(OutOfLineBitpackedBytes<uint16_t>(700, 2), std::byte{0});
  EncodeOutOfLineBitpacked<uint16_t>(levels, 2, expected.data());
  EXPECT_EQ(Payload(large, levels), expected);
}

// The header of a chunk has 16 bits for the size of a payload.
TEST(LevelCodecTest, TheMostLevelsOfAChunkFitIntoItsHeader) {
  for (const FileVersion version : {FileVersion::k2_1, FileVersion::k2_2}) {
    for (const uint16_t max : std::initializer_list<uint16_t>{1, 2, 5, 40}) {
      std::vector<uint16_t> levels(LevelCodec::MaxLevelsOfChunk(max, version));
      for (size_t i = 0; i < levels.size(); ++i) levels[i] = i % 2 == 0 ? max : uint16_t{0};
      for (const uint64_t runs : {uint64_t{1}, uint64_t{1'000'000}}) {
        auto codec = LevelCodec::Choose({1'000'000, max, runs}, version);
        codec.Prepare(levels);
        EXPECT_LE(codec.size_bytes(), version == FileVersion::k2_1 ? 12'000u : 65'535u);
      }
    }
  }
}

}  // namespace
}  // namespace glaive::encoding
