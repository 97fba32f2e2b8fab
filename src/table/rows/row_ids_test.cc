#include "table/rows/row_ids.h"

#include <random>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;

auto Parse(std::string_view hex, uint64_t num_rows) {
  return RowIdSequence::Parse(BytesOf(FromHex(hex)), num_rows, {"m"});
}

std::vector<uint64_t> Ids(const RowIdSequence& sequence, RowRange rows) {
  std::vector<uint64_t> ids(rows.size());
  sequence.Get({&rows, 1}, ids.data());
  return ids;
}

// The ids of all rows, which those of rows from anywhere on must agree with.
std::vector<uint64_t> AllIds(std::string_view hex, uint64_t num_rows) {
  const RowIdSequence sequence = Parse(hex, num_rows).ValueOrDie();
  EXPECT_EQ(sequence.size(), num_rows);
  const auto ids = Ids(sequence, {0, num_rows});
  for (uint64_t begin = 0; begin < std::min<uint64_t>(num_rows, 40); ++begin) {
    const auto part = Ids(sequence, {begin, num_rows});
    EXPECT_TRUE(std::equal(part.begin(), part.end(), ids.begin() + static_cast<int64_t>(begin)));
  }
  return ids;
}

TEST(RowIdsTest, ReadsPylancesSequences) {
  const auto range = AllIds("0a080a0608882710904e", 5000);
  EXPECT_EQ(range.front(), 5000);
  EXPECT_EQ(range.back(), 9999);

  // Of 0 to 99, without 3, 5, 7 and so on: the lowest bit is the first id.
  const auto bitmap = AllIds("0a131a1110641a0d57dc7ffffdf7df7ffffdf7df0f", 86);
  EXPECT_THAT(std::vector(bitmap.begin(), bitmap.begin() + 6), ElementsAre(0, 1, 2, 4, 6, 10));
  EXPECT_EQ(bitmap.back(), 99);

  EXPECT_THAT(AllIds("0a0c220a0a080805120400009100", 2), ElementsAre(5, 150));
}

TEST(RowIdsTest, ReadsTheOtherSegments) {
  // with holes: 10 to 20 without 12 and 13, as u32 on base 10
  EXPECT_THAT(AllIds("0a161214080a10141a0e120c080a12080200000003000000", 8),
              ElementsAre(10, 11, 14, 15, 16, 17, 18, 19));
  // any order, as u64
  EXPECT_THAT(AllIds("0a162a141a12121009000000000000000200000000000000", 2), ElementsAre(9, 2));
  // two segments that go on from each other are one run
  const RowIdSequence joined = Parse("0a040a0210030a060a0408031005", 5).ValueOrDie();
  EXPECT_EQ(joined.runs().size(), 1);
  EXPECT_THAT(Ids(joined, {1, 4}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Ids(joined, {2, 2}), ElementsAre());
  EXPECT_EQ(Parse("", 0).ValueOrDie().size(), 0);
}

TEST(RowIdsTest, RunsGoAround) {
  const std::vector<RowRange> ids = {{5, 9}, {100, 101}, {0, 3}};
  const std::string bytes = SerializeRowIds(ids);
  const auto sequence = RowIdSequence::Parse(BytesOf(bytes), 8, {"m"}).ValueOrDie();
  EXPECT_THAT(Ids(sequence, {0, 8}), ElementsAre(5, 6, 7, 8, 100, 0, 1, 2));
}

TEST(RowIdsTest, SequencesThatAreNone) {
  const auto corrupt = [](std::string_view hex, uint64_t num_rows, const std::string& text) {
    EXPECT_THAT(Parse(hex, num_rows), IsError(ErrorKind::kCorrupt, text)) << hex;
  };
  corrupt("0a080a0608882710904e", 4999, "more than 4999 rows");
  corrupt("0a080a0608882710904e", 5001, "5000 rows in a fragment of 5001");
  corrupt("0a060a0408051003", 2, "row ids from 5 to 3");
  corrupt("0a101a0e10641a0a57dc7ffffdf7df7ffffd", 86, "a bitmap of 10 bytes for 100 row ids");
  corrupt("0a131a1110641a0d57dc7ffffdf7df7ffffdf7dfff", 90, "bits behind its end");
  corrupt("0a131a1110641a0d57dc7ffffdf7df7ffffdf7df1f", 87, "bits behind its end");
  corrupt("0a0c220a0a080805120491000000", 2, "not ascending");
  corrupt("0a0b22090a0708051203000091", 2, "3 bytes of 2-byte numbers");
  corrupt("0a023200", 0, "of kind 6");
  // 2^63 rows in eleven bytes
  corrupt("0a0d0a0b1080808080808080808001", 5, "more than 5 rows");
}

TEST(RowIdsTest, DamagedBytesAreErrors) {
  for (const char* hex : {"0a131a1110641a0d57dc7ffffdf7df7ffffdf7df0f",
                          "0a161214080a10141a0e120c080a12080200000003000000"}) {
    const std::string good = FromHex(hex);
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      for (const uint64_t rows : {uint64_t{8}, uint64_t{86}}) {
        const auto parsed = RowIdSequence::Parse(BytesOf(flipped), rows, {"m"});
        EXPECT_TRUE(parsed.ok() || KindOf(parsed.status()) == ErrorKind::kCorrupt) << bit;
      }
    }
  }
}

TEST(RowVersionsTest, OnlyTheLengthOfASpanCounts) {
  const auto parse = [](std::string_view hex, uint64_t num_rows) {
    return ParseRowVersions(BytesOf(FromHex(hex)), num_rows, {"m"});
  };
  EXPECT_THAT(parse("0a080a040a0210021001", 2), IsOkAndHolds(ElementsAre(VersionRun{2, 1})));
  EXPECT_THAT(parse("0a100a0c220a0a0808051204000091001007", 2),
              IsOkAndHolds(ElementsAre(VersionRun{2, 7})));
  // Of no rows, between two of one version.
  EXPECT_THAT(parse("0a080a040a02100210010a060a020a0010090a080a040a0210021001", 4),
              IsOkAndHolds(ElementsAre(VersionRun{2, 1}, VersionRun{2, 1})));
  EXPECT_THAT(parse("0a080a040a0210021001", 3), IsError(ErrorKind::kCorrupt, "2 rows in a"));
  const std::vector<VersionRun> runs = {{3, 1}, {1, 9}};
  EXPECT_THAT(ParseRowVersions(BytesOf(SerializeRowVersions(runs)), 4, {"m"}), IsOkAndHolds(runs));
}

TEST(RowIdsTest, RunsOfOneVersionAreWrittenAsOne) {
  const std::vector<VersionRun> cut = {{1, 7}, {2, 7}, {0, 9}, {3, 8}, {1, 8}};
  const std::vector<VersionRun> joined = {{3, 7}, {4, 8}};
  EXPECT_EQ(SerializeRowVersions(cut), SerializeRowVersions(joined));
}

// In the forms and at the sizes that pylance would take.
TEST(RowIdsTest, WritesTheSmallestForm) {
  const auto written = [](const std::vector<RowRange>& ids) {
    const std::string bytes = SerializeRowIds(ids);
    const auto sequence = RowIdSequence::Parse(BytesOf(bytes), CountRows(ids), {"m"}).ValueOrDie();
    const auto read = Ids(sequence, {0, sequence.size()});
    std::vector<uint64_t> expected;
    for (const RowRange& range : ids) {
      for (uint64_t id = range.begin; id < range.end; ++id) expected.push_back(id);
    }
    EXPECT_EQ(read, expected);
    return bytes.size();
  };
  EXPECT_EQ(written({{5000, 9000}, {9000, 10000}}), 10) << "one range";
  EXPECT_EQ(SerializeRowIds(std::vector<RowRange>{{7, 7}}), "");
  std::vector<RowRange> every_second;
  std::vector<RowRange> few_holes;
  std::vector<RowRange> sparse;
  for (uint64_t i = 0; i < 4000; ++i) every_second.push_back({2 * i, 2 * i + 1});
  for (uint64_t i = 0; i < 40; ++i) few_holes.push_back({1000 * i, 1000 * i + 999});
  for (uint64_t i = 0; i < 500; ++i) sparse.push_back({100 * i, 100 * i + 1});
  EXPECT_LT(written(every_second), 1030) << "a bitmap";
  EXPECT_LT(written(few_holes), 110) << "an interval with holes";
  EXPECT_LT(written(sparse), 1030) << "an array of 16-bit numbers";
  std::vector<RowRange> backwards(sparse.rbegin(), sparse.rend());
  EXPECT_LT(written(backwards), 1030) << "an array in any order";
  // Whatever the width of the numbers, they may be as far apart as it says.
  for (const uint64_t border : {uint64_t{UINT16_MAX}, uint64_t{UINT32_MAX}}) {
    for (uint64_t span = border - 1; span <= border + 2; ++span) {
      written({{7, 8}, {7 + span / 2, 8 + span / 2}, {7 + span, 8 + span}, {3, 4}, {1, 2}});
      written({{9 + span, 10 + span}, {9 + span / 2, 10 + span / 2}, {9, 10}});
    }
  }
  written({{10, 20}, {5, 8}, {9, 10}, {uint64_t{1} << 40, (uint64_t{1} << 40) + 3}});
  written({{uint64_t{1} << 60, (uint64_t{1} << 60) + 1}, {3, 4}, {1, 2}, {9, 10}, {0, 1}});
}

}  // namespace
}  // namespace glaive::table
