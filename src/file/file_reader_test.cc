#include "file/file_reader.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "core/too_large.h"
#include "file/file_writer.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/golden_file.h"
#include "testing/matchers.h"

namespace glaive::file {
namespace {

using testing::BytesOf;
using testing::CountingStore;
using testing::GoldenFile;
using testing::IsError;
using testing::IsOk;

constexpr int64_t kRows = 20'000;
constexpr const char* kPath = "/t.lance";

// {id: int64, text: string, list: list<int32>} with nulls and, by small pages, many pages.
std::shared_ptr<arrow::RecordBatch> MakeRows() {
  std::mt19937_64 random(11);
  arrow::Int64Builder ids;
  arrow::StringBuilder texts;
  const auto numbers = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), numbers);
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_TRUE(ids.Append(static_cast<int64_t>(random())).ok());
    EXPECT_TRUE((row % 7 == 0 ? texts.AppendNull() : texts.Append(std::to_string(random()))).ok());
    EXPECT_TRUE((row % 11 == 0 ? lists.AppendNull() : lists.Append()).ok());
    for (uint64_t i = row % 11 == 0 ? 0 : random() % 5; i > 0; --i) {
      EXPECT_TRUE(numbers->Append(static_cast<int32_t>(random())).ok());
    }
  }
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("text", arrow::utf8()),
                     arrow::field("list", arrow::list(arrow::int32()))});
  return arrow::RecordBatch::Make(
      schema, kRows,
      {ids.Finish().ValueOrDie(), texts.Finish().ValueOrDie(), lists.Finish().ValueOrDie()});
}

class FileReaderTest : public ::testing::Test {
 protected:
  FileReaderTest() {
    auto writer = FileWriter::Create(store_, kPath, wire::FromArrow(*rows_->schema()).ValueOrDie(),
                                     {.data_cache_bytes = 64 << 10, .max_page_bytes = 32 << 10})
                      .ValueOrDie();
    EXPECT_THAT(writer->Write(rows_), IsOk());
    EXPECT_THAT(writer->Finish(), IsOk());
    for (const auto& field : rows_->schema()->fields()) {
      paths_.push_back(encoding::LeavesOf(*field).ValueOrDie()[0]);
    }
    Reopen();
  }

  void Reopen() {
    reader_ = FileReader::Open(store_, kPath, std::nullopt).ValueOrDie();
    store_->Reset();
  }

  std::vector<ColumnRead> AllColumns() const {
    std::vector<ColumnRead> columns;
    for (uint32_t i = 0; i < paths_.size(); ++i) columns.push_back({i, &paths_[i]});
    return columns;
  }

  // Every column's rows, put together as arrays.
  arrow::Result<std::vector<std::shared_ptr<arrow::Array>>> Read(std::span<const RowRange> rows) {
    ARROW_ASSIGN_OR_RAISE(auto leaves, reader_->ReadColumns(AllColumns(), rows));
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (size_t i = 0; i < leaves.size(); ++i) {
      std::vector<encoding::LeafRows> leaf;
      leaf.push_back(std::move(leaves[i]));
      ARROW_ASSIGN_OR_RAISE(
          auto array,
          encoding::AssembleField(*rows_->schema()->field(static_cast<int>(i)), std::move(leaf)));
      ARROW_RETURN_NOT_OK(array->ValidateFull());
      arrays.push_back(std::move(array));
    }
    return arrays;
  }

  void ExpectRows(std::span<const RowRange> rows) {
    const auto arrays = Read(rows);
    ASSERT_THAT(arrays, IsOk());
    for (size_t i = 0; i < arrays->size(); ++i) {
      const arrow::Array& array = *(*arrays)[i];
      ASSERT_EQ(static_cast<uint64_t>(array.length()), CountRows(rows));
      int64_t at = 0;
      for (const RowRange& range : rows) {
        const auto size = static_cast<int64_t>(range.size());
        const auto begin = static_cast<int64_t>(range.begin);
        ASSERT_TRUE(array.RangeEquals(*rows_->column(static_cast<int>(i)), at, at + size, begin))
            << "column " << i << ", rows " << range.begin << " to " << range.end;
        at += size;
      }
    }
  }

  std::shared_ptr<arrow::RecordBatch> rows_ = MakeRows();
  std::shared_ptr<CountingStore> store_ = std::make_shared<CountingStore>(io::MakeMemoryStore());
  std::vector<encoding::LeafPath> paths_;
  std::shared_ptr<FileReader> reader_;
};

TEST_F(FileReaderTest, ReadsRowsOfAllShapesOfRanges) {
  ASSERT_GT(reader_->metadata().columns[0].pages.size(), 3);
  ExpectRows(std::vector<RowRange>{});
  ExpectRows(std::vector<RowRange>{{0, kRows}});
  ExpectRows(std::vector<RowRange>{{0, 1}, {kRows - 1, kRows}});
  std::vector<RowRange> pages;
  for (const wire::Page& page : reader_->metadata().columns[0].pages) {
    pages.push_back({page.priority, page.priority + page.num_rows});
  }
  ExpectRows(pages);  // adjacent ranges
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<RowRange> ranges;
    const uint64_t step = 1 + random() % 2'000;
    for (uint64_t row = random() % 100; row < kRows;) {
      const uint64_t end = std::min<uint64_t>(row + random() % 50, kRows);
      ranges.push_back({row, end});  // some are empty
      row = end + random() % step;
    }
    ExpectRows(ranges);
  }
}

TEST_F(FileReaderTest, ColumnsShareTheirRounds) {
  const std::vector<RowRange> rows = {{5, 6}, {9'000, 9'001}, {kRows - 1, kRows}};
  uint64_t deepest = 0;
  for (const ColumnRead& column : AllColumns()) {
    Reopen();
    ASSERT_THAT(reader_->ReadColumns(std::span(&column, 1), rows), IsOk());
    deepest = std::max(deepest, store_->stats().dependent_rounds);
  }
  Reopen();
  ASSERT_THAT(Read(rows), IsOk());
  EXPECT_EQ(store_->stats().dependent_rounds, deepest);
  EXPECT_EQ(store_->stats().requests(), store_->stats().get_requests);
}

TEST_F(FileReaderTest, ASecondReadKnowsThePagesAlready) {
  const std::vector<RowRange> rows = {{5, 6}, {9'000, 9'001}};
  const uint64_t memory_before = reader_->memory_bytes();
  ASSERT_THAT(Read(rows), IsOk());
  const IoStats first = store_->stats();
  EXPECT_GT(reader_->memory_bytes(), memory_before);
  store_->Reset();
  ASSERT_THAT(Read(rows), IsOk());
  EXPECT_LE(store_->stats().dependent_rounds, first.dependent_rounds);
  EXPECT_EQ(store_->stats().dependent_rounds, 1);
  EXPECT_LE(store_->stats().bytes_read, first.bytes_read);
}

// As after a damaged manifest gave the column another type than the one before it did.
// The first read of a small file needs no request, the next one does: the bytes are not kept.
TEST(FileReaderSmallTest, OpeningReadsASmallFileAlready) {
  const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
  const std::string bytes = GoldenFile();
  ASSERT_THAT(store->Put("/f", BytesOf(bytes)), IsOk());
  store->Reset();
  const auto reader = FileReader::Open(store, "/f", bytes.size()).ValueOrDie();
  const auto arrow = wire::ToArrow(reader->metadata().schema).ValueOrDie();
  const auto paths = encoding::LeavesOf(*arrow->field(0)).ValueOrDie();
  const ColumnRead column = {.column = 0, .path = &paths[0]};
  const RowRange all = {0, reader->metadata().num_rows};

  ASSERT_THAT(reader->ReadColumns({{column}}, {{all}}), IsOk());
  EXPECT_EQ(store->stats().requests(), 1);
  ASSERT_THAT(reader->ReadColumns({{column}}, {{all}}), IsOk());
  EXPECT_EQ(store->stats().requests(), 2);
}

TEST_F(FileReaderTest, WhatWasDecodedForOneTypeDoesNotServeAnother) {
  const std::vector<RowRange> rows = {{0, kRows}};
  for (uint32_t column = 0; column < paths_.size(); ++column) {
    for (uint32_t other = 0; other < paths_.size(); ++other) {
      if (column == other) continue;
      Reopen();
      const ColumnRead mistaken = {column, &paths_[other]};
      const auto first = reader_->ReadColumns(std::span(&mistaken, 1), rows);
      ExpectRows(rows);
      const auto second = reader_->ReadColumns(std::span(&mistaken, 1), rows);
      EXPECT_FALSE(first.ok()) << column << " as " << other;
      EXPECT_EQ(second.status().message(), first.status().message());
    }
  }
}

TEST_F(FileReaderTest, WhatTheFileDoesNotHaveIsAnError) {
  EXPECT_THAT(Read(std::vector<RowRange>{{kRows - 1, kRows + 1}}),
              IsError(ErrorKind::kCorrupt, "rows up to 20001 are asked for, column 0 has 20000"));
  const std::vector<RowRange> rows = {{0, 1}};
  const ColumnRead missing = {3, &paths_[0]};
  EXPECT_THAT(reader_->ReadColumns(std::span(&missing, 1), rows),
              IsError(ErrorKind::kCorrupt, "column 3 is asked for, the file has 3"));
  EXPECT_THAT(reader_->ReadGlobalBuffer(1), IsError(ErrorKind::kInvalidInput, "global buffer 1"));
  EXPECT_THAT(reader_->ReadGlobalBuffer(0), IsOk());
  EXPECT_THAT(FileReader::Open(store_, "/none", std::nullopt),
              IsError(ErrorKind::kFileNotFound, "/none"));
}

TEST_F(FileReaderTest, RowsTellWhatTheyTakeDecoded) {
  const ColumnRead ids = {0, &paths_[0]};
  const auto size = reader_->SizeFrom({&ids, 1}, 0);
  EXPECT_EQ(size.bytes, 8);
  EXPECT_EQ(reader_->SizeFrom({&ids, 1}, kRows - 1).bytes, 8);
  EXPECT_EQ(reader_->SizeFrom({}, 0).bytes, 0);
  // More than a reading may take.
  const std::vector<RowRange> rows = {{0, 1000}};
  EXPECT_TRUE(IsTooLarge(reader_->ReadColumns({&ids, 1}, rows, 7999).status()));
  EXPECT_THAT(reader_->ReadColumns({&ids, 1}, rows, 8000), IsOk());
}

TEST_F(FileReaderTest, ThreadsShareAReader) {
  std::vector<std::jthread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 20; ++i) {
        const uint64_t row = (i * 997 + thread * 4'999) % (kRows - 10);
        ExpectRows(std::vector<RowRange>{{row, row + 10}});
      }
    });
  }
}

// All rows of the golden file, whatever its bytes say.
arrow::Status ReadGolden(const std::string& bytes) {
  const auto store = io::MakeMemoryStore();
  ARROW_RETURN_NOT_OK(store->Put(kPath, BytesOf(bytes)));
  ARROW_ASSIGN_OR_RAISE(const auto reader, FileReader::Open(store, kPath, std::nullopt));
  ARROW_ASSIGN_OR_RAISE(const auto schema, wire::ToArrow(reader->metadata().schema));
  std::vector<encoding::LeafPath> paths;
  for (const auto& field : schema->fields()) {
    ARROW_ASSIGN_OR_RAISE(auto leaves, encoding::LeavesOf(*field));
    for (encoding::LeafPath& leaf : leaves) paths.push_back(std::move(leaf));
  }
  const RowRange rows = {0, 4};
  for (uint32_t i = 0; i < paths.size(); ++i) {
    const ColumnRead column = {i, &paths[i]};
    ARROW_RETURN_NOT_OK(reader->ReadColumns(std::span(&column, 1), std::span(&rows, 1)).status());
  }
  return arrow::Status::OK();
}

TEST(DamagedFileTest, EveryFlippedBitIsReadOrATypedError) {
  const std::string golden = GoldenFile();
  ASSERT_THAT(ReadGolden(golden), IsOk());
  int num_read = 0;
  for (size_t bit = 0; bit < golden.size() * 8; ++bit) {
    std::string flipped = golden;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const arrow::Status status = ReadGolden(flipped);
    num_read += status.ok() ? 1 : 0;
    if (status.ok()) continue;
    const ErrorKind kind = KindOf(status);
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
        << "bit " << bit << ": " << status.ToString();
  }
  EXPECT_GT(num_read, 1'000);  // padding and values
  EXPECT_LT(num_read, static_cast<int>(golden.size()) * 8 - 1'000);
}

}  // namespace
}  // namespace glaive::file
