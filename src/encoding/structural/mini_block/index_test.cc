#include "encoding/structural/mini_block/index.h"

#include <cstring>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;

constexpr Location kWords = {"data/a.lance", 64};
constexpr Location kIndex = {"data/a.lance", 128};

template <typename T>
std::vector<std::byte> BytesOfWords(const std::vector<T>& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(T));
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::vector<std::pair<uint64_t, uint64_t>> Pairs(const std::vector<ChunkRange>& ranges) {
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  for (const ChunkRange& range : ranges) pairs.emplace_back(range.begin, range.end);
  return pairs;
}

using Pair = std::pair<uint64_t, uint64_t>;

TEST(MiniBlockIndexTest, ChunksOfValuesAreRows) {
  // 16 bytes of 4 values, 8 of 2, 24 of what is left of 9.
  const auto words = BytesOfWords<uint16_t>({1 << 4 | 2, 0 << 4 | 1, 2 << 4 | 0});
  const auto index =
      MiniBlockIndex::Parse(words, std::nullopt, {9, 9, 48, false}, kWords, kWords).ValueOrDie();
  ASSERT_EQ(index.num_chunks(), 3);
  EXPECT_EQ(index.num_values(0), 4);
  EXPECT_EQ(index.num_values(2), 3);
  EXPECT_EQ(index.bytes({1, 3}), (ByteRange{16, 32}));
  EXPECT_EQ(index.rows(1), (RowRange{4, 6}));
  const RowRange rows[] = {{0, 1}, {5, 5}, {7, 9}};
  EXPECT_THAT(Pairs(index.ChunksOf(rows)), ::testing::ElementsAre(Pair{0, 1}, Pair{2, 3}));
  const RowRange neighbours[] = {{3, 4}, {4, 5}};
  EXPECT_THAT(Pairs(index.ChunksOf(neighbours)), ::testing::ElementsAre(Pair{0, 2}));
}

// Rows 0 | 1 goes on through chunk 1, ends with chunk 2 | 2, 3.
TEST(MiniBlockIndexTest, RowsThatSpanChunks) {
  const auto words = BytesOfWords<uint32_t>({0, 0, 0, 0});
  const auto repetition = BytesOfWords<uint64_t>({1, 5, 0, 9, 1, 0, 2, 0});
  const auto index =
      MiniBlockIndex::Parse(words, repetition, {4, 10, 32, true}, kWords, kIndex).ValueOrDie();
  EXPECT_EQ(index.rows(0), (RowRange{0, 2}));
  EXPECT_EQ(index.rows(1), (RowRange{1, 2}));
  EXPECT_EQ(index.rows(2), (RowRange{1, 2}));
  EXPECT_EQ(index.rows(3), (RowRange{2, 4}));
  EXPECT_EQ(index.rows_begun(2).size(), 0);
  const auto chunks_of = [&](uint64_t row) {
    const RowRange rows = {row, row + 1};
    return Pairs(index.ChunksOf(std::span(&rows, 1))).at(0);
  };
  EXPECT_EQ(chunks_of(0), (Pair{0, 1}));
  EXPECT_EQ(chunks_of(1), (Pair{0, 3}));
  EXPECT_EQ(chunks_of(2), (Pair{3, 4}));
  EXPECT_EQ(chunks_of(3), (Pair{3, 4}));
}

TEST(MiniBlockIndexTest, SumsMustAgree) {
  const auto parse = [](const std::vector<uint16_t>& words, std::vector<uint64_t> repetition,
                        MiniBlockSizes sizes) {
    const auto index = BytesOfWords(repetition);
    const auto bytes = BytesOfWords(words);
    return MiniBlockIndex::Parse(bytes,
                                 repetition.empty() ? std::nullopt : std::optional<Bytes>(index),
                                 sizes, kWords, kIndex)
        .status();
  };
  EXPECT_THAT(parse({3, 0}, {}, {7, 7, 16, false}), IsError(ErrorKind::kCorrupt, "at least 8"));
  EXPECT_THAT(parse({3, 0}, {}, {9, 9, 17, false}), IsError(ErrorKind::kCorrupt, "16 bytes of 17"));
  EXPECT_THAT(parse({3, 0}, {}, {9, 8, 16, false}), IsError(ErrorKind::kCorrupt, "8 values in 9"));
  EXPECT_THAT(parse({}, {}, {1, 1, 0, false}), IsError(ErrorKind::kCorrupt, "0 chunks"));
  EXPECT_THAT(parse({0}, {1, 0, 1, 0}, {2, 2, 8, false}),
              IsError(ErrorKind::kCorrupt, "32 bytes for 1 chunks"));
  EXPECT_THAT(parse({0}, {3, 0}, {2, 2, 8, false}),
              IsError(ErrorKind::kCorrupt, "byte 128: chunk 0 ends 3 rows"));
  EXPECT_THAT(parse({0}, {UINT64_MAX, 1}, {2, 2, 8, false}), IsError(ErrorKind::kCorrupt, "ends"));
  EXPECT_THAT(parse({0}, {1, 0}, {2, 2, 8, false}), IsError(ErrorKind::kCorrupt, "1 rows end in"));
  EXPECT_THAT(parse({0}, {2, 1}, {2, 2, 8, false}), IsError(ErrorKind::kCorrupt, "ends 2 rows"));
  EXPECT_THAT(parse({1, 1}, {1, 1, 0, 0}, {2, 4, 16, false}),
              IsError(ErrorKind::kCorrupt, "byte 144: a row of chunk 1 neither ends nor goes on"));
}

}  // namespace
}  // namespace glaive::encoding
