#include "file/page_join.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "testing/column_files.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::file {
namespace {

using glaive::testing::ArrayPtr;
using glaive::testing::ColumnFiles;
using glaive::testing::FilePtr;
using glaive::testing::IsOk;
using glaive::testing::kNoPageLimit;
using glaive::testing::RandomValueOptions;
using glaive::testing::RandomValues;
using glaive::testing::TypePtr;
using ::testing::ElementsAre;

constexpr FileVersion kVersions[] = {FileVersion::k2_1, FileVersion::k2_2};

wire::PageLayout LayoutOf(const wire::Page& page) {
  return wire::ParsePageLayout(std::as_bytes(std::span(page.encoding.value)), {}).ValueOrDie();
}

// All chunks but the last must hold a power of two of values, at least two.
void ExpectChunks(FileReader& file) {
  for (const wire::ColumnMetadata& column : file.metadata().columns) {
    for (const wire::Page& page : column.pages) {
      const wire::PageLayout layout = LayoutOf(page);
      const auto* mini_block = std::get_if<wire::MiniBlockLayout>(&layout);
      if (mini_block == nullptr) continue;
      const auto words = file.ReadBytes({page.buffers.data(), 1}).ValueOrDie().front();
      const int64_t width = mini_block->has_large_chunk ? 4 : 2;
      for (int64_t at = 0; at + width < words->size(); at += width) {
        ASSERT_GE(words->data()[at] & 15, 1) << "chunk " << at / width;
      }
    }
  }
}

// Rows whose leaves take about so many bytes each.
int64_t RowsOf(const TypePtr& type, int64_t bytes) {
  switch (type->id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST: return RowsOf(type->field(0)->type(), bytes) / 2;
    case arrow::Type::STRUCT: {
      int64_t rows = 0;
      for (const auto& field : type->fields()) rows = std::max(rows, RowsOf(field->type(), bytes));
      return rows;
    }
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
      return RowsOf(list.value_type(), bytes) / list.list_size() + 1;
    }
    case arrow::Type::BOOL: return 8 * bytes;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_BINARY: return bytes / 500;
    default: return bytes / type->byte_width();
  }
}

ArrayPtr RandomArray(const TypePtr& type, RandomValueOptions options, int64_t rows, uint64_t seed) {
  return arrow::MakeArray(RandomValues(options, seed).Make(type, rows));
}

// Three arrays that are worth a join, whose numbers of rows are odd by the bits of `odd`. With
// `distinct`, those of the next array are eight times as many.
std::vector<ArrayPtr> Parts(const TypePtr& type, RandomValueOptions options, uint32_t odd,
                            uint64_t seed, int64_t bytes = 90'000) {
  std::vector<ArrayPtr> parts;
  if (options.distinct > 0) bytes *= 4;
  if (options.nulls > 0) bytes += bytes / 2;
  for (uint32_t i = 0; i < 3; ++i, options.distinct *= 8) {
    const int64_t rows = RowsOf(type, bytes) / 2 * 2 + (odd >> i & 1);
    parts.push_back(RandomArray(type, options, rows, seed + 1000 * i));
  }
  return parts;
}

ArrayPtr Together(const std::vector<ArrayPtr>& parts) {
  return arrow::Concatenate(parts).ValueOrDie();
}

struct Kind {
  TypePtr type;
  double nulls = 0;
  uint64_t distinct = 0;
};

const std::vector<Kind>& JoinedKinds() {
  using namespace arrow;
  static const std::vector<Kind> kinds = [] {
    const auto wide = decimal128(38, 3);
    const auto pair = struct_({field("a", int32()), field("b", wide)});
    std::vector<Kind> all;
    for (const double nulls : {0.0, 0.2}) {
      for (const TypePtr& type :
           {int16(), int32(), float32(), float64(), fixed_size_binary(5), wide,
            fixed_size_binary(300), list(int16()), list(wide), large_list(int32()),
            list(list(int16())), list(pair), pair, list(fixed_size_binary(7)),
            list(fixed_size_binary(260)), utf8(), list(utf8()), large_binary(),
            struct_({field("a", list(int32())), field("b", pair)})}) {
        all.push_back({type, nulls});
      }
      // Packed to other widths in each page.
      for (const TypePtr& type : {uint32(), int64(), list(uint32()), list(list(int64()))}) {
        all.push_back({type, nulls, 1 << 14});
      }
    }
    // Null items of fixed-size lists are stored apart.
    for (const TypePtr& type : {float32(), int16()}) {
      all.push_back({fixed_size_list(type, 3)});
      all.push_back({fixed_size_list(type, 40)});
      all.push_back({fixed_size_list(type, 150)});
      all.push_back({list(fixed_size_list(type, 5))});
    }
    return all;
  }();
  return kinds;
}

TEST(PageJoinTest, JoinedPagesHoldTheRows) {
  uint64_t seed = 0;
  for (const FileVersion version : kVersions) {
    for (const auto& [type, nulls, distinct] : JoinedKinds()) {
      for (const uint32_t odd : {1, 3, 6}) {
        SCOPED_TRACE(type->ToString() + " nulls " + std::to_string(nulls) + " distinct " +
                     std::to_string(distinct) + " odd " + std::to_string(odd));
        ColumnFiles table(type, version);
        const auto parts =
            Parts(type, {.nulls = nulls, .max_length = 2000, .distinct = distinct}, odd, ++seed);
        std::vector<FilePtr> files;
        for (const ArrayPtr& part : parts) files.push_back(table.Write(part));
        const auto plan = table.Plan(files);
        ASSERT_THAT(plan, IsOk());
        for (const auto& column : *plan) {
          ASSERT_EQ(column.size(), 1u);
          EXPECT_EQ(column[0].sources.size(), 3u);
        }
        const auto joined = table.Copy(*plan);
        ASSERT_THAT(joined, IsOk());
        ASSERT_NE(*joined, nullptr);
        ASSERT_NO_FATAL_FAILURE(table.ExpectRows(**joined, Together(parts)));
        ASSERT_NO_FATAL_FAILURE(ExpectChunks(**joined));
      }
    }
  }
}

// Chunks that move are cut in pieces of a MiB, on several threads.
TEST(PageJoinTest, LargePagesMoveInPieces) {
  for (const FileVersion version : kVersions) {
    for (const TypePtr& type : {arrow::list(arrow::int16()), arrow::float32()}) {
      for (const uint32_t odd : {1, 3}) {
        ColumnFiles table(type, version);
        const auto parts = Parts(type, {.nulls = 0.1}, odd, 7, 1'200'000);
        std::vector<FilePtr> files;
        for (const ArrayPtr& part : parts) files.push_back(table.Write(part));
        const auto joined = table.Join(files).ValueOrDie();
        ASSERT_EQ(joined->metadata().columns[0].pages.size(), 1u);
        ASSERT_NO_FATAL_FAILURE(table.ExpectRows(*joined, Together(parts)));
        ASSERT_NO_FATAL_FAILURE(ExpectChunks(*joined));
        EXPECT_LE(joined->metadata().file_size,
                  table.Write(Together(parts))->metadata().file_size * 102 / 100);
      }
    }
  }
}

TEST(PageJoinTest, WhatWasJoinedIsJoinedAgain) {
  for (const TypePtr& type : {arrow::list(arrow::int16()), arrow::list(arrow::utf8())}) {
    ColumnFiles table(type, FileVersion::k2_2);
    const auto parts = Parts(type, {.max_length = 2000}, 7, 8);
    const auto first = table.Write(parts[0]);
    auto joined = first;
    std::vector<ArrayPtr> expected = {parts[0]};
    for (const ArrayPtr& part : {parts[1], parts[2], parts[1]}) {
      joined = table.Join({joined, table.Write(part), first}).ValueOrDie();
      expected.insert(expected.end(), {part, parts[0]});
      ASSERT_EQ(joined->metadata().columns[0].pages.size(), 1u);
      ASSERT_NO_FATAL_FAILURE(table.ExpectRows(*joined, Together(expected)));
      ASSERT_NO_FATAL_FAILURE(ExpectChunks(*joined));
    }
  }
}

// A page as it is, beside others: whatever it is.
TEST(PageJoinTest, PagesThatDoNotGoTogetherAreCopied) {
  using namespace arrow;
  struct Case {
    TypePtr type;
    RandomValueOptions first;
    RandomValueOptions second;
  };
  const RandomValueOptions none = {.nulls = 0};
  const RandomValueOptions some = {.nulls = 0.2};
  const Case cases[] = {
      {int32(), none, some},                                 // layers
      {list(int16()), some, none},                           // layers
      {fixed_size_binary(300), none, some},                  // control words
      {int64(), none, {.nulls = 0, .distinct = 1 << 14}},    // plain and packed
      {utf8(), some, some},                                  // texts in chunks
      {boolean(), some, some},                               // bits
      {utf8(), {.distinct = 3}, {.distinct = 3}},            // dictionaries
      {int32(), {.nulls = 0, .distinct = 1}, {.nulls = 1}},  // constants
      {fixed_size_list(int16(), 30), some, some},            // validity of items
      {struct_({field("a", int32()), field("b", utf8())}), some, some},
  };
  for (const FileVersion version : kVersions) {
    for (const Case& kinds : cases) {
      SCOPED_TRACE(kinds.type->ToString());
      ColumnFiles table(kinds.type, version);
      std::vector<ArrayPtr> parts;
      std::vector<FilePtr> files;
      for (const RandomValueOptions& options : {kinds.first, kinds.second, kinds.first}) {
        parts.push_back(RandomArray(kinds.type, options, 30'001, 3));
        files.push_back(table.Write(parts.back()));
      }
      const auto plan = table.Plan(files).ValueOrDie();
      EXPECT_EQ(plan.back().size(), 3u);
      const auto copied = table.Copy(plan).ValueOrDie();
      ASSERT_NE(copied, nullptr);
      ASSERT_NO_FATAL_FAILURE(table.ExpectRows(*copied, Together(parts)));
    }
  }
}

std::vector<size_t> SourcesOf(const std::vector<CopiedPage>& pages) {
  std::vector<size_t> counts;
  for (const CopiedPage& page : pages) counts.push_back(page.sources.size());
  return counts;
}

TEST(PageJoinTest, PagesEndAtTheLimit) {
  constexpr int64_t kRows = 2000;
  for (const int width : {100, 260}) {  // in chunks, and zipped
    const auto type = arrow::fixed_size_binary(width);
    const uint64_t page_bytes = kRows * (8 * static_cast<uint64_t>(width) + 1) / 8;
    ColumnFiles table(type, FileVersion::k2_2);
    const auto rows = RandomArray(type, {}, kRows, 4);
    const std::vector<FilePtr> files(5, table.Write(rows));
    const auto plan = [&](uint64_t limit) { return table.Plan(files, limit).ValueOrDie()[0]; };
    EXPECT_THAT(SourcesOf(plan(5 * page_bytes)), ElementsAre(5));
    EXPECT_THAT(SourcesOf(plan(2 * page_bytes)), ElementsAre(2, 2, 1));
    EXPECT_THAT(SourcesOf(plan(2 * page_bytes - 1)), ElementsAre(1, 1, 1, 1, 1));
    const auto joined = table.Copy({plan(2 * page_bytes)}).ValueOrDie();
    EXPECT_EQ(joined->metadata().columns[0].pages.size(), 3u);
    table.ExpectRows(*joined, Together({rows, rows, rows, rows, rows}));
    // All but the last are nearly full.
    const auto is_good = [&](uint64_t limit) { return AreAsGoodAsNew(plan(limit), limit); };
    EXPECT_TRUE(is_good(page_bytes * 9 / 8));
    EXPECT_FALSE(is_good(page_bytes * 10 / 8));
    EXPECT_FALSE(is_good(page_bytes - 1));
    EXPECT_EQ(is_good(2 * page_bytes), width == 260);  // not with many small chunks
  }
}

// A row above the limit is a page of its own, and as good as can be.
TEST(PageJoinTest, ARowAboveTheLimitStaysAlone) {
  const auto type = arrow::list(arrow::int16());
  ColumnFiles table(type, FileVersion::k2_1);
  RandomValues random({.nulls = 0}, 1);
  const auto items = random.Make(arrow::int16(), 100'000);
  const auto row = arrow::MakeArray(arrow::ArrayData::Make(
      type, 1, {nullptr, arrow::Buffer::FromVector<int32_t>({0, 100'000})}, {items}, 0));
  const std::vector<FilePtr> files(3, table.Write(row));
  const auto plan = table.Plan(files, 150'000).ValueOrDie()[0];
  EXPECT_THAT(SourcesOf(plan), ElementsAre(1, 1, 1));
  EXPECT_TRUE(AreAsGoodAsNew(plan, 150'000));
  table.ExpectRows(*table.Copy({plan}).ValueOrDie(), Together({row, row, row}));
  EXPECT_THAT(SourcesOf(table.Plan(files).ValueOrDie()[0]), ElementsAre(3));
}

TEST(PageJoinTest, ManySmallChunkedPagesAreNotAsGood) {
  ColumnFiles table(arrow::float32(), FileVersion::k2_2);
  const std::vector<FilePtr> small(4, table.Write(RandomArray(arrow::float32(), {}, 30'000, 1)));
  const auto scattered = table.Plan(small).ValueOrDie()[0];
  EXPECT_THAT(SourcesOf(scattered), ElementsAre(4));
  EXPECT_FALSE(AreAsGoodAsNew(scattered, kNoPageLimit));
  const std::vector<FilePtr> tiny(4, table.Write(RandomArray(arrow::float32(), {}, 1'000, 1)));
  EXPECT_THAT(SourcesOf(table.Plan(tiny).ValueOrDie()[0]), ElementsAre(1, 1, 1, 1));
}

// Lists of one value of 200 bytes, with so many empty ones before some of them.
ArrayPtr SparseLists(const std::vector<std::pair<int64_t, int64_t>>& gaps, int64_t num_values) {
  std::vector<int32_t> offsets = {0};
  auto gap = gaps.begin();
  for (int32_t value = 0; value < num_values; ++value) {
    if (gap != gaps.end() && gap->first == value) {
      offsets.insert(offsets.end(), static_cast<size_t>(gap++->second), value);
    }
    offsets.push_back(value + 1);
  }
  offsets.insert(offsets.end(), 2, static_cast<int32_t>(num_values));
  const auto type = arrow::fixed_size_binary(200);
  const auto length = static_cast<int64_t>(offsets.size()) - 1;
  RandomValues random({.nulls = 0}, 5);
  return arrow::MakeArray(arrow::ArrayData::Make(
      arrow::list(type), length, {nullptr, arrow::Buffer::FromVector(std::move(offsets))},
      {random.Make(type, num_values)}, 0));
}

// So many levels lie between some values that a chunk which moves by one may have too many.
TEST(PageJoinTest, ChunksWithTooManyLevelsAreCut) {
  for (const FileVersion version : kVersions) {
    ColumnFiles table(arrow::list(arrow::fixed_size_binary(200)), version);
    const int64_t gap = version == FileVersion::k2_1 ? 5'400 : 7'200;
    const auto odd = SparseLists({{3, gap}, {300, gap}}, 401);
    const auto sparse = SparseLists({{31, gap}, {33, gap}, {40, gap}, {62, gap}}, 400);
    const auto joined =
        table.Join({table.Write(odd), table.Write(sparse), table.Write(odd)}).ValueOrDie();
    ASSERT_NE(joined, nullptr);
    ASSERT_EQ(joined->metadata().columns[0].pages.size(), 1u);
    ASSERT_NO_FATAL_FAILURE(table.ExpectRows(*joined, Together({odd, sparse, odd})));
    ASSERT_NO_FATAL_FAILURE(ExpectChunks(*joined));
  }
}

}  // namespace
}  // namespace glaive::file
