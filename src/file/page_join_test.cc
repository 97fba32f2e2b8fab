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

#include "io/memory_store.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::file {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using glaive::testing::RandomValueOptions;
using glaive::testing::RandomValues;
using ::testing::ElementsAre;

using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;
using FilePtr = std::shared_ptr<FileReader>;
using PagesOfColumns = std::vector<std::vector<CopiedPage>>;

constexpr FileVersion kVersions[] = {FileVersion::k2_1, FileVersion::k2_2};
constexpr uint64_t kNoLimit = uint64_t{256} << 20;

// Files of one field `c`, in a store of their own.
class ColumnFiles {
 public:
  ColumnFiles(TypePtr type, FileVersion version)
      : field_(arrow::field("c", std::move(type))), version_(version) {}

  std::vector<LeafColumn> leaves() const { return LeafColumn::Of(*field_).ValueOrDie(); }

  FilePtr Write(const ArrayPtr& rows, uint64_t max_page_bytes = kNoLimit) {
    const auto batch = arrow::RecordBatch::Make(arrow::schema({field_}), rows->length(), {rows});
    auto writer = Create({.version = version_, .max_page_bytes = max_page_bytes}).ValueOrDie();
    ARROW_CHECK_OK(writer->Write(batch).status());
    return Open(writer->Finish().ValueOrDie().path).ValueOrDie();
  }

  // Nothing where pages cannot be joined after all.
  arrow::Result<FilePtr> Copy(const PagesOfColumns& columns) {
    ARROW_ASSIGN_OR_RAISE(auto writer, Create({.version = version_, .copied_fields = {0}}));
    for (size_t column = 0; column < columns.size(); ++column) {
      for (const CopiedPage& page : columns[column]) {
        ARROW_ASSIGN_OR_RAISE(const bool done,
                              WriteCopiedPage(
                                  page, column, PageEnd::kFileEnd, 0,
                                  [](uint64_t) { return arrow::Status::OK(); }, *writer));
        if (!done) return nullptr;
      }
    }
    ARROW_ASSIGN_OR_RAISE(const FileSummary summary, writer->Finish());
    return Open(summary.path);
  }

  arrow::Result<PagesOfColumns> Plan(const std::vector<FilePtr>& files,
                                     uint64_t max_page_bytes = kNoLimit) const {
    PagesOfColumns columns;
    uint32_t column = 0;
    for (const LeafColumn& leaf : leaves()) {
      std::vector<PageRef> pages;
      for (const FilePtr& file : files) {
        if (column >= file->metadata().columns.size()) return Corrupt({}, "columns are missing");
        const size_t count = file->metadata().columns[column].pages.size();
        for (size_t page = 0; page < count; ++page) pages.push_back({file, column, page});
      }
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), PlanPageCopy(leaf, pages, max_page_bytes));
      ++column;
    }
    return columns;
  }

  arrow::Result<FilePtr> Join(const std::vector<FilePtr>& files) {
    ARROW_ASSIGN_OR_RAISE(const auto columns, Plan(files));
    return Copy(columns);
  }

  arrow::Result<ArrayPtr> Read(FileReader& file, std::span<const RowRange> rows) const {
    ARROW_ASSIGN_OR_RAISE(const auto paths, encoding::LeavesOf(*field_));
    std::vector<ColumnRead> reads;
    for (uint32_t i = 0; i < paths.size(); ++i) reads.push_back({i, &paths[i]});
    ARROW_ASSIGN_OR_RAISE(auto leaves, file.ReadColumns(reads, rows));
    return encoding::AssembleField(*field_, std::move(leaves));
  }
  arrow::Result<ArrayPtr> ReadAll(FileReader& file) const {
    const RowRange all = {0, file.metadata().num_rows};
    return Read(file, {&all, 1});
  }

  // All rows at once, and some by themselves, which are found by what pages say of their chunks.
  void ExpectRows(FileReader& file, const ArrayPtr& expected) const;

  std::string Bytes(const FileReader& file) const {
    const auto reader = store_->OpenRead(file.path()).ValueOrDie();
    return reader->Read({0, reader->size_bytes()}).ValueOrDie()->ToString();
  }
  arrow::Result<FilePtr> Put(const std::string& bytes) {
    const std::string path = NextPath();
    ARROW_CHECK_OK(store_->Put(path, std::as_bytes(std::span(bytes))));
    return Open(path);
  }

 private:
  std::string NextPath() { return "/" + std::to_string(num_files_++ % 16) + ".lance"; }
  arrow::Result<std::unique_ptr<FileWriter>> Create(const FileWriterOptions& options) {
    ARROW_ASSIGN_OR_RAISE(auto schema, wire::FromArrow(*arrow::schema({field_})));
    return FileWriter::Create(store_, NextPath(), std::move(schema), options);
  }
  arrow::Result<FilePtr> Open(const std::string& path) const {
    return FileReader::Open(store_, path, std::nullopt);
  }

  std::shared_ptr<arrow::Field> field_;
  FileVersion version_;
  std::shared_ptr<io::ObjectStore> store_ = io::MakeMemoryStore();
  size_t num_files_ = 0;
};

void ColumnFiles::ExpectRows(FileReader& file, const ArrayPtr& expected) const {
  const auto num_rows = static_cast<uint64_t>(expected->length());
  ASSERT_EQ(file.metadata().num_rows, num_rows);
  const auto read = ReadAll(file);
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT((*read)->ValidateFull(), IsOk());
  ASSERT_TRUE((*read)->Equals(*expected));
  std::mt19937_64 random(num_rows);
  std::vector<RowRange> some;
  arrow::ArrayVector slices;
  for (uint64_t row = 0; row < num_rows; row += 1 + random() % (num_rows / 20 + 1)) {
    const uint64_t end = std::min(num_rows, row + 1 + random() % 3);
    some.push_back({row, end});
    slices.push_back(expected->Slice(static_cast<int64_t>(row), static_cast<int64_t>(end - row)));
    row = end;
  }
  const auto taken = Read(file, some);
  ASSERT_THAT(taken, IsOk());
  ASSERT_TRUE((*taken)->Equals(*arrow::Concatenate(slices).ValueOrDie()));
}

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
  EXPECT_FALSE(AreAsGoodAsNew(scattered, kNoLimit));
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
