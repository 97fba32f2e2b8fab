#include "table/manifest/fragment_table.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

// Every allocation of this program passes here, so that a test can say what a change may cost.
static thread_local uint64_t allocated_bytes = 0;

// Not inlined: g++ would see malloc meet delete, and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::kManifestHex;
using ::testing::ElementsAre;

constexpr Location kWhere = {"_versions/3.manifest", 4};

wire::DataFragment MakeFragment(uint64_t id, uint64_t rows = 10, int32_t max_field = 1) {
  wire::DataFragment fragment;
  fragment.id = id;
  fragment.physical_rows = rows;
  fragment.files.push_back({.path = "data-file-" + std::to_string(id) + ".lance",
                            .fields = {0, max_field},
                            .column_indices = {0, 1},
                            .file_major_version = 2,
                            .file_minor_version = 2,
                            .file_size_bytes = 1000});
  return fragment;
}

arrow::Result<FragmentTable> OpenBytes(std::string manifest) {
  return FragmentTable::Open(arrow::Buffer::FromString(std::move(manifest)), kWhere);
}

// `num_fragments` with ids 0, 2, 4 ...: a table with gaps, as every old table has them.
FragmentTable OpenSynthetic(uint64_t num_fragments) {
  std::string manifest;
  for (uint64_t i = 0; i < num_fragments; ++i) {
    wire::AppendRecord(2, wire::Serialize(MakeFragment(2 * i)), &manifest);
  }
  return OpenBytes(std::move(manifest)).ValueOrDie();
}

std::string Joined(const FragmentTable& table) {
  std::string bytes;
  for (const auto& slice : table.Splice()) bytes += slice->ToString();
  return bytes;
}

std::vector<uint64_t> Ids(const FragmentTable& table) {
  std::vector<uint64_t> ids;
  EXPECT_THAT(table.Visit([&](const Fragment& fragment) {
    ids.push_back(fragment.id());
    return arrow::Status::OK();
  }),
              IsOk());
  return ids;
}

// What must hold after any change: the bytes open again, to the same sums and the same fragments.
void ExpectConsistent(const FragmentTable& table) {
  const FragmentTable reopened = OpenBytes(Joined(table)).ValueOrDie();
  EXPECT_EQ(reopened.totals().live_rows(), table.totals().live_rows());
  EXPECT_LE(reopened.totals().max_field_id, table.totals().max_field_id);
  FragmentTotals expected = reopened.totals();
  expected.max_field_id = table.totals().max_field_id;
  EXPECT_EQ(expected, table.totals());
  EXPECT_EQ(Ids(reopened), Ids(table));
  uint64_t position = 0;
  uint64_t row = 0;
  ASSERT_THAT(table.Visit([&](const Fragment& fragment) {
    const uint64_t id = fragment.id();
    EXPECT_TRUE(table.Find(id).has_value());
    EXPECT_EQ(table.PositionOf(id), position);
    EXPECT_EQ(table.At(position++).id(), id);
    EXPECT_EQ(table.RowsBefore(id), row);
    const uint64_t rows = wire::KnownLiveRows(fragment.Scan().ValueOrDie());
    for (const uint64_t in_fragment : {uint64_t{0}, rows - 1}) {
      if (rows == 0) continue;
      const FragmentTable::RowPlace place = table.FindRow(row + in_fragment);
      EXPECT_EQ(place.fragment.id(), id);
      EXPECT_EQ(place.row, in_fragment);
    }
    row += rows;
    return arrow::Status::OK();
  }),
              IsOk());
  EXPECT_EQ(position, table.totals().num_fragments);
  EXPECT_EQ(row, table.totals().live_rows());
}

TEST(FragmentTableTest, IndexesPylancesManifest) {
  const FragmentTable table = OpenBytes(FromHex(kManifestHex)).ValueOrDie();
  EXPECT_THAT(Ids(table), ElementsAre(0, 1));
  EXPECT_EQ(table.totals().physical_rows, 200);
  EXPECT_EQ(table.totals().live_rows(), 186);
  EXPECT_EQ(table.totals().deletion_files, 2);
  EXPECT_EQ(table.totals().max_field_id, 1);
  EXPECT_EQ(table.totals().files_by_version[static_cast<size_t>(FileVersion::k2_2)], 2);
  EXPECT_EQ(table.Find(1)->Parse().ValueOrDie().deletion_file->num_deleted_rows, 7);
  EXPECT_FALSE(table.Find(2).has_value());
  EXPECT_THAT(table.Splice(), ::testing::SizeIs(1));
}

TEST(FragmentTableTest, AFragmentOutlivesItsTable) {
  std::optional<Fragment> fragment;
  { fragment = OpenBytes(FromHex(kManifestHex)).ValueOrDie().Find(1); }
  EXPECT_EQ(fragment->Parse().ValueOrDie().physical_rows, 100);
}

TEST(FragmentTableTest, ChangesKeepTheSumsAndLeaveTheOldTableAlone) {
  const FragmentTable before = OpenSynthetic(10);
  const std::string before_bytes = Joined(before);
  wire::DataFragment changed = MakeFragment(4, 10, 7);
  changed.deletion_file = {.num_deleted_rows = 3};

  const FragmentTable removed = before.Remove(std::vector<uint64_t>{0, 18}).ValueOrDie();
  const FragmentTable replaced = removed.Replace({{changed}}).ValueOrDie();
  const FragmentTable inserted =
      replaced.Insert(std::vector{MakeFragment(21), MakeFragment(20), MakeFragment(22)})
          .ValueOrDie();
  const FragmentTable between = inserted.Insert({{MakeFragment(5)}}).ValueOrDie();  // reserved id

  EXPECT_THAT(Ids(between), ElementsAre(2, 4, 5, 6, 8, 10, 12, 14, 16, 20, 21, 22));
  EXPECT_EQ(between.totals().live_rows(), 12 * 10 - 3);
  EXPECT_EQ(between.totals().max_field_id, 7);
  EXPECT_EQ(between.Find(4)->Parse().ValueOrDie(), changed);
  EXPECT_FALSE(between.Find(0).has_value());
  for (const auto& table : {removed, replaced, inserted, between}) ExpectConsistent(table);
  EXPECT_EQ(Joined(before), before_bytes);
}

TEST(FragmentTableTest, UntouchedFragmentsKeepTheirBytes) {
  // Field 90 is from the future; the list is unsorted, as old writers left it.
  const std::string later = FromHex(
      "1207"
      "0805"
      "2001"
      "d00501");
  const std::string sooner = FromHex(
      "1204"
      "0802"
      "2009");
  const FragmentTable table = OpenBytes(later + sooner).ValueOrDie();
  EXPECT_THAT(Ids(table), ElementsAre(2, 5));
  const FragmentTable after = table.Insert({{MakeFragment(9)}}).ValueOrDie();
  EXPECT_TRUE(Joined(after).starts_with(sooner + later));
}

TEST(FragmentTableTest, AtHundredThousandFragmentsAnAppendCostsItself) {
  const FragmentTable table = OpenSynthetic(100'000);
  FragmentTable grown = table;
  uint64_t total = 0;
  for (uint64_t i = 0; i < 1'000; ++i) {
    const std::vector fragments = {MakeFragment(200'000 + i)};
    const uint64_t before = allocated_bytes;
    grown = grown.Insert(fragments).ValueOrDie();
    total += allocated_bytes - before;
    if (i == 0) {
      EXPECT_LT(total, 4'096);
    }
  }
  EXPECT_LT(total, 1'000 * 8'192);  // merges included; the manifest itself has 6 MB
  EXPECT_EQ(grown.totals().num_fragments, 101'000);
  EXPECT_LE(grown.Splice().size(), 11);  // the manifest's bytes, and log2 of what came later

  const uint64_t before = allocated_bytes;
  const FragmentTable fewer = grown.Remove(std::vector<uint64_t>{4'000}).ValueOrDie();
  EXPECT_LT(allocated_bytes - before, 4'096);
  EXPECT_FALSE(fewer.Find(4'000).has_value());
}

// Ids above all of the runs may lie among the changes; they are replaced there.
TEST(FragmentTableTest, AChangeAboveTheRunsIsReplaced) {
  FragmentTable table = OpenSynthetic(5);
  table = table.Insert({{MakeFragment(3), MakeFragment(20)}}).ValueOrDie();
  wire::DataFragment fewer = MakeFragment(20);
  fewer.deletion_file = {.num_deleted_rows = 4};
  table = table.Replace({{fewer}}).ValueOrDie();
  EXPECT_THAT(Ids(table), ElementsAre(0, 2, 3, 4, 6, 8, 20));
  EXPECT_EQ(table.Find(20)->Parse().ValueOrDie(), fewer);
  ExpectConsistent(table);
}

TEST(FragmentTableTest, PositionsAndRowsAreRightAfterAnyChanges) {
  std::mt19937 random(20);
  FragmentTable table = OpenSynthetic(300);
  uint64_t next_id = 600;
  for (int i = 0; i < 200; ++i) {
    const uint64_t id = random() % next_id;
    wire::DataFragment fragment = MakeFragment(id, 1 + random() % 9);
    if (random() % 3 == 0) {
      fragment.deletion_file = {.num_deleted_rows = 1 + random() % fragment.physical_rows};
    }
    if (random() % 4 == 0) {
      fragment.id = next_id++;
      table = table.Insert({{fragment}}).ValueOrDie();
    } else if (!table.Find(id)) {
      table = table.Insert({{fragment}}).ValueOrDie();
    } else if (random() % 2 == 0) {
      table = table.Remove(std::vector{id}).ValueOrDie();
    } else {
      table = table.Replace({{fragment}}).ValueOrDie();
    }
    if (i % 10 == 0) ExpectConsistent(table);
  }
  ExpectConsistent(table);
}

TEST(FragmentTableTest, IdsBesideRanges) {
  FragmentTable table = OpenSynthetic(10).Insert({{MakeFragment(5)}}).ValueOrDie();
  table = table.Remove(std::vector<uint64_t>{12}).ValueOrDie();
  EXPECT_THAT(table.IdsBeside({}), ElementsAre(0, 2, 4, 5, 6, 8, 10, 14, 16, 18));
  EXPECT_THAT(table.IdsBeside(std::vector<RowRange>{{0, 5}, {6, 16}}), ElementsAre(5, 16, 18));
  EXPECT_THAT(table.IdsBeside(std::vector<RowRange>{{0, 100}}), ElementsAre());
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    std::vector<RowRange> ranges;
    for (uint64_t at = random() % 5; at < 25; at = ranges.back().end + 1 + random() % 6) {
      ranges.push_back({at, at + 1 + random() % 9});
    }
    std::vector<uint64_t> expected = Ids(table);
    std::erase_if(expected, [&](uint64_t id) {
      return std::ranges::any_of(
          ranges, [&](const RowRange& range) { return range.begin <= id && id < range.end; });
    });
    EXPECT_EQ(table.IdsBeside(ranges), expected);
  }
}

TEST(FragmentTableTest, ManyChangesAreFolded) {
  FragmentTable table = OpenSynthetic(1'000);
  for (uint64_t id = 0; id < 2'000; id += 4) {
    table = table.Remove(std::vector<uint64_t>{id}).ValueOrDie();
    if (id % 400 == 0) ExpectConsistent(table);
  }
  EXPECT_EQ(table.totals().num_fragments, 500);
  ExpectConsistent(table);
}

TEST(FragmentTableTest, MisuseIsRefusedByName) {
  const FragmentTable table = OpenSynthetic(3);
  EXPECT_THAT(table.Insert({{MakeFragment(2)}}),
              IsError(ErrorKind::kInvalidInput, "fragment 2 is already in the table"));
  EXPECT_THAT(table.Replace({{MakeFragment(3)}}),
              IsError(ErrorKind::kInvalidInput, "fragment 3 is not in the table"));
  EXPECT_THAT(table.Remove(std::vector<uint64_t>{2, 2}),
              IsError(ErrorKind::kInvalidInput, "id 2 is given twice"));
}

TEST(FragmentTableTest, CorruptManifestsAreNamed) {
  EXPECT_THAT(OpenBytes(FromHex("12020805"
                                "12020805")),
              IsError(ErrorKind::kCorrupt, "fragment id 5 occurs twice"));
  EXPECT_THAT(OpenBytes(FromHex("1206"
                                "088080808010")),
              IsError(ErrorKind::kCorrupt, "fragment id 4294967296 does not fit"));
  EXPECT_THAT(OpenBytes(FromHex("1206"
                                "2001"
                                "1a022002")),
              IsError(ErrorKind::kCorrupt, "byte 6: fragment 0 has 1 rows and 2 deleted"));
  const std::string manifest = FromHex(kManifestHex);
  for (size_t size = 0; size < manifest.size(); ++size) {
    const auto table = OpenBytes(manifest.substr(0, size));
    EXPECT_THAT(table,
                ::testing::AnyOf(IsOk(), IsError(ErrorKind::kCorrupt, "_versions/3.manifest")));
  }
}

}  // namespace
}  // namespace glaive::table
