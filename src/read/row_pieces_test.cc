#include "read/row_pieces.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::read {
namespace {

using glaive::testing::IsOk;
using ::testing::ElementsAre;
using RowSize = file::FileReader::RowSize;

// Rows of 10 bytes up to row 100, and of 1000 behind.
RowSize SizeFrom(uint64_t row) { return row < 100 ? RowSize{10, 100} : RowSize{1000, UINT64_MAX}; }

uint64_t Within(const std::vector<RowRange>& rows, const PieceLimits& limits) {
  return RowsWithin(rows, limits, SizeFrom);
}

TEST(RowsWithinTest, AsManyAsAreExpectedToFit) {
  EXPECT_EQ(Within({{0, 50}}, {.bytes = 10'000}), 50u);
  EXPECT_EQ(Within({{0, 1000}}, {.bytes = 500}), 50u);
  EXPECT_EQ(Within({{0, 1000}}, {.bytes = 3500}), 102u);
  EXPECT_EQ(Within({{90, 1000}}, {.bytes = 3500}), 13u);
  EXPECT_EQ(Within({{0, 10}, {95, 98}, {200, 300}}, {.bytes = 5000}), 17u);
  EXPECT_EQ(Within({{0, 1000}}, {.bytes = 10'000, .max_rows = 7}), 7u);
  EXPECT_EQ(Within({{0, 1000}}, {.bytes = 3500, .multiple = 50}), 100u);
  EXPECT_EQ(Within({{0, 1000}}, {.bytes = 3500, .multiple = 500}), 102u);
  EXPECT_EQ(Within({{200, 1000}}, {.bytes = 1}), 1u);
  EXPECT_EQ(Within({{200, 1000}}, {.bytes = 1, .min_rows = 20}), 20u);
}

TEST(RowsWithinTest, AsksOnceForRowsOfOneSize) {
  std::vector<RowRange> rows;
  for (uint64_t row = 0; row < 200; row += 2) rows.push_back({row, row + 1});
  int asked = 0;
  EXPECT_EQ(RowsWithin(rows, {.bytes = 1 << 20},
                       [&](uint64_t row) {
                         ++asked;
                         return SizeFrom(row);
                       }),
            100u);
  EXPECT_EQ(asked, 2);
}

// Rows that come to `factor` times what they tell.
struct Reader {
  double factor;

  RowSize SizeFrom(uint64_t row) const {
    RowSize size = read::SizeFrom(row);
    size.bytes *= known;
    return size;
  }
  arrow::Result<std::vector<RowRange>> Read(const std::vector<RowRange>& rows,
                                            uint64_t most_bytes) const {
    double bytes = 0;
    for (const RowRange& range : rows) {
      for (uint64_t row = range.begin; row < range.end; ++row) {
        bytes += read::SizeFrom(row).bytes * factor;
      }
    }
    if (bytes > static_cast<double>(most_bytes)) {
      known = factor;
      ++num_failed;
      return TooLarge("{} bytes", bytes);
    }
    return rows;
  }

  mutable double known = 1;
  mutable int num_failed = 0;
};

std::vector<RowRange> Pieces(const Reader& reader, std::vector<RowRange> rows, uint64_t bytes) {
  RowPieces pieces(reader, std::move(rows), {.bytes = bytes});
  std::vector<RowRange> read;
  while (!pieces.at_end()) {
    const auto piece =
        pieces.Next([](std::vector<RowRange> ranges) { return arrow::Result(std::move(ranges)); });
    EXPECT_THAT(piece, IsOk());
    if (!piece.ok()) break;
    read.push_back({piece->front().begin, piece->back().end});
  }
  return read;
}

TEST(RowPiecesTest, GoOverAllRowsInOrder) {
  EXPECT_THAT(Pieces({.factor = 1}, {{0, 300}}, 100'000),
              ElementsAre(RowRange{0, 199}, RowRange{199, 299}, RowRange{299, 300}));
  EXPECT_THAT(Pieces({.factor = 1}, {{0, 10}, {50, 60}}, 100'000), ElementsAre(RowRange{0, 60}));
}

// A megabyte may be read where less is meant to be; what failed once is known from there on.
TEST(RowPiecesTest, AreSmallerOnceRowsComeToMore) {
  const Reader reader{.factor = 100};
  const auto read = Pieces(reader, {{100, 300}}, 100'000);
  EXPECT_EQ(reader.num_failed, 1);
  EXPECT_EQ(read.size(), 200u);
  EXPECT_EQ(read.front(), (RowRange{100, 101}));
  EXPECT_EQ(read.back(), (RowRange{299, 300}));
}

}  // namespace
}  // namespace glaive::read
