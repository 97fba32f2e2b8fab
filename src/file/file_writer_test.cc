#include "file/file_writer.h"

#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "file/file_reader.h"
#include "testing/faulty_store.h"
#include "testing/golden_file.h"
#include "testing/matchers.h"
#include "testing/random_table.h"

namespace glaive::file {
namespace {

using glaive::testing::CutAtRandom;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomBatch;
using glaive::testing::RandomRows;

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

// Each test writes below a folder of its own.
std::string PathOf(const std::string& name) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string("/file_writer_test/") + test->name() + "/" + name;
}

arrow::Result<FileSummary> WriteFile(const std::shared_ptr<io::ObjectStore>& store,
                                     const std::string& path, const Batches& batches,
                                     const FileWriterOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto schema, wire::FromArrow(*batches.at(0)->schema()));
  ARROW_ASSIGN_OR_RAISE(auto writer, FileWriter::Create(store, path, std::move(schema), options));
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(writer->Write(batch));
    if (writer->full()) break;
  }
  return writer->Finish();
}

std::string Contents(const std::shared_ptr<io::ObjectStore>& store, const std::string& path) {
  const auto reader = store->OpenRead(path).ValueOrDie();
  return reader->Read({0, reader->size_bytes()}).ValueOrDie()->ToString();
}

std::string BytesOf(const Batches& batches, const FileWriterOptions& options) {
  const std::string path = PathOf("data.lance");
  ARROW_CHECK_OK(WriteFile(io::MemoryStore(), path, batches, options).status());
  return Contents(io::MemoryStore(), path);
}

std::shared_ptr<arrow::RecordBatch> GoldenRows() {
  arrow::Int32Builder a;
  arrow::StringBuilder s;
  ARROW_CHECK_OK(a.AppendValues({1, 2, 0, 4}, {true, true, false, true}));
  ARROW_CHECK_OK(s.AppendValues({"x", "yy", "", "zzz"}, std::vector<uint8_t>{1, 1, 0, 1}.data()));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int32()), arrow::field("s", arrow::utf8())}), 4,
      {a.Finish().ValueOrDie(), s.Finish().ValueOrDie()});
}

TEST(FileWriterTest, PylancesFileIsWrittenToTheByte) {
  EXPECT_EQ(BytesOf({GoldenRows()}, {.version = FileVersion::k2_1}), glaive::testing::GoldenFile());
}

TEST(FileWriterTest, AnyCuttingGivesTheSameBytes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto batch = RandomBatch({.num_rows = 1 + 97 * round,
                                    .nulls = round % 3 == 0 ? 0.0 : 0.2,
                                    .hidden_values = round % 5 == 4},
                                   random);
    FileWriterOptions options = {.version = round % 2 == 0 ? FileVersion::k2_2 : FileVersion::k2_1};
    if (round % 4 == 1) options.max_page_bytes = 500;
    if (round % 4 == 2) options.data_cache_bytes = 9000;
    if (round % 4 == 3) options.max_bytes = 20'000;
    const std::string whole = BytesOf({batch}, options);
    for (const bool keep_slices : {false, true}) {
      options.keep_slices = keep_slices;
      ASSERT_TRUE(BytesOf(CutAtRandom(batch, random), options) == whole);
    }
  }
}

// All columns of the file at `path`, put together.
std::shared_ptr<arrow::Array> ReadField(FileReader& file, const arrow::Schema& schema, int field) {
  uint32_t column = 0;
  for (int i = 0; i < field; ++i) {
    column += static_cast<uint32_t>(encoding::LeavesOf(*schema.field(i)).ValueOrDie().size());
  }
  const auto leaves = encoding::LeavesOf(*schema.field(field)).ValueOrDie();
  std::vector<ColumnRead> reads;
  for (const auto& leaf : leaves) reads.push_back({column++, &leaf});
  const RowRange all = {0, file.metadata().num_rows};
  return encoding::AssembleField(*schema.field(field),
                                 file.ReadColumns(reads, {&all, 1}).ValueOrDie())
      .ValueOrDie();
}

TEST(FileWriterTest, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(11);
  for (const int64_t num_rows : {1, 100, 1023, 1024, 1025, 5000}) {
    const auto batch = RandomBatch({.num_rows = num_rows}, random);
    const std::string path = PathOf("data.lance");
    const FileWriterOptions options = {.max_page_bytes = 10'000};
    ASSERT_THAT(WriteFile(io::MemoryStore(), path, CutAtRandom(batch, random), options), IsOk());
    const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
    ASSERT_EQ(file->metadata().num_rows, static_cast<uint64_t>(num_rows));
    for (int i = 0; i < batch->num_columns(); ++i) {
      const auto read = ReadField(*file, *batch->schema(), i);
      ASSERT_THAT(read->ValidateFull(), IsOk());
      ASSERT_TRUE(read->Equals(batch->column(i))) << batch->schema()->field(i)->ToString();
    }
  }
}

// Lists of 16-bit numbers whose bits are all used, texts, and numbers. From row `first_null` on,
// each tenth list is null.
std::shared_ptr<arrow::RecordBatch> LargeRows(int64_t num_rows, int64_t first_null) {
  std::mt19937_64 random(12);
  const auto items = std::make_shared<arrow::UInt16Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), items);
  arrow::LargeBinaryBuilder texts;
  arrow::Int64Builder numbers;
  std::vector<uint16_t> values;
  for (int64_t i = 0; i < num_rows; ++i) {
    values.resize(1500 + random() % 1000);
    for (uint16_t& value : values) value = static_cast<uint16_t>(random());
    if (i >= first_null && i % 10 == 0) {
      ARROW_CHECK_OK(lists.AppendNull());
    } else {
      ARROW_CHECK_OK(lists.Append());
      ARROW_CHECK_OK(items->AppendValues(values));
    }
    ARROW_CHECK_OK(texts.Append(reinterpret_cast<const uint8_t*>(values.data()), 600));
    ARROW_CHECK_OK(numbers.Append(static_cast<int64_t>(random())));
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("lists", lists.type()), arrow::field("texts", texts.type()),
                     arrow::field("numbers", arrow::int64())}),
      num_rows,
      {lists.Finish().ValueOrDie(), texts.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()});
}

TEST(FileWriterTest, LargePagesAreWrittenWhileTheirRowsCome) {
  constexpr int64_t kRows = 7000;  // 28 MB of lists
  std::mt19937_64 random(13);
  for (const int64_t first_null : {int64_t{0}, kRows / 2, kRows}) {
    SCOPED_TRACE(first_null);
    const auto batch = LargeRows(kRows, first_null);
    Batches cut;
    for (int64_t at = 0; at < kRows;) {
      const int64_t length = 1 + static_cast<int64_t>(random() % 300);
      cut.push_back(batch->Slice(at, length));
      at += length;
    }
    int64_t most_held = 0;
    int64_t held = 0;
    const FileWriterOptions options = {.max_page_bytes = 16 << 20, .on_held = [&](int64_t more) {
                                         held += more;
                                         most_held = std::max(most_held, held);
                                       }};
    const std::string whole = BytesOf({batch}, options);
    most_held = held = 0;
    const std::string path = PathOf("cut.lance");
    const auto summary = WriteFile(io::MemoryStore(), path, cut, options).ValueOrDie();
    EXPECT_TRUE(Contents(io::MemoryStore(), path) == whole);
    // Half of a page, and the texts.
    EXPECT_LT(most_held, 14 << 20);
    // Two pages of lists, one of each of the others. Where nulls begin only after a while, the
    // first ends there.
    EXPECT_EQ(summary.num_pages, 4u);
    EXPECT_EQ(summary.pages_ended_by[static_cast<size_t>(PageEnd::kFormatLimit)],
              first_null == kRows / 2 ? 1u : 0u);
    const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
    for (int i = 0; i < batch->num_columns(); ++i) {
      const auto read = ReadField(*file, *batch->schema(), i);
      ASSERT_TRUE(read->Equals(batch->column(i))) << batch->schema()->field(i)->ToString();
    }
  }
}

TEST(FileWriterTest, AFileEndsAtItsLimitOfBytesWithinALargePage) {
  const auto batch = LargeRows(6000, 6000);
  const auto summary =
      WriteFile(io::MemoryStore(), PathOf("data.lance"), {batch}, {.max_bytes = 20 << 20})
          .ValueOrDie();
  EXPECT_GE(summary.size_bytes, (20u << 20) / 10 * 9);  // a bit for each item is not needed
  EXPECT_LE(summary.size_bytes, (20u << 20) + 4096);
}

TEST(FileWriterTest, AFileWithoutRowsHasColumnsWithoutPages) {
  const auto rows = GoldenRows();
  const std::string path = PathOf("data.lance");
  const auto summary = WriteFile(io::MemoryStore(), path, {rows->Slice(0, 0)}, {}).ValueOrDie();
  EXPECT_EQ(summary.num_rows, 0u);
  EXPECT_EQ(summary.num_pages, 0u);
  const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
  ASSERT_EQ(file->metadata().columns.size(), 2u);
  EXPECT_TRUE(file->metadata().columns[0].pages.empty());
  EXPECT_EQ(file->metadata().global_buffers[0].offset, 0u);
}

TEST(FileWriterTest, AFileEndsAtItsLimitOfRows) {
  std::mt19937_64 random(3);
  const auto batch = RandomBatch({.num_rows = 1000}, random);
  auto schema = wire::FromArrow(*batch->schema()).ValueOrDie();
  auto writer =
      FileWriter::Create(io::MemoryStore(), PathOf("data.lance"), schema, {.max_rows = 333})
          .ValueOrDie();
  EXPECT_THAT(writer->Write(batch, 900), glaive::testing::IsOkAndHolds(100));
  EXPECT_FALSE(writer->full());
  EXPECT_THAT(writer->Write(batch), glaive::testing::IsOkAndHolds(233));
  EXPECT_TRUE(writer->full());
  EXPECT_THAT(writer->Write(batch), glaive::testing::IsOkAndHolds(0));
  EXPECT_EQ(writer->Finish().ValueOrDie().num_rows, 333u);
}

TEST(FileWriterTest, AFileEndsAtItsLimitOfBytesWithinARow) {
  arrow::BinaryBuilder builder;
  std::mt19937_64 random(4);
  for (int i = 0; i < 4000; ++i) {
    std::string value(1000, ' ');
    for (char& c : value) c = static_cast<char>(random());
    ARROW_CHECK_OK(builder.Append(value));
  }
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("b", arrow::binary(), false)}), 4000,
                               {builder.Finish().ValueOrDie()});
  for (const uint64_t page_bytes : {uint64_t{20'000}, uint64_t{256} << 20}) {
    const auto summary = WriteFile(io::MemoryStore(), PathOf("data.lance"), {batch},
                                   {.max_page_bytes = page_bytes, .max_bytes = 500'000})
                             .ValueOrDie();
    EXPECT_GE(summary.size_bytes, 500'000u * 9 / 10);
    EXPECT_LE(summary.size_bytes, 500'000u + 1004 + 4096);
  }
}

TEST(FileWriterTest, ExtraBuffersAndMetadataAreInTheFile) {
  const auto rows = GoldenRows();
  const std::string path = PathOf("data.lance");
  auto schema = wire::FromArrow(*rows->schema()).ValueOrDie();
  auto writer = FileWriter::Create(io::MemoryStore(), path, schema, {}).ValueOrDie();
  EXPECT_THAT(writer->AddGlobalBuffer(arrow::Buffer::FromString("first")),
              glaive::testing::IsOkAndHolds(1u));
  ASSERT_THAT(writer->Write(rows), IsOk());
  EXPECT_THAT(writer->AddGlobalBuffer(arrow::Buffer::FromString("second")),
              glaive::testing::IsOkAndHolds(2u));
  writer->AddSchemaMetadata("key", "value");
  ASSERT_THAT(writer->Finish(), IsOk());
  const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
  EXPECT_EQ(file->ReadGlobalBuffer(1).ValueOrDie()->ToString(), "first");
  EXPECT_EQ(file->ReadGlobalBuffer(2).ValueOrDie()->ToString(), "second");
  EXPECT_EQ(file->metadata().schema.metadata.at("key"), "value");
}

TEST(FileWriterTest, WhatIsNotWrittenIsRefusedByName) {
  const auto create = [](std::shared_ptr<arrow::Field> field, FileVersion version) {
    auto schema = wire::FromArrow(*arrow::schema({std::move(field)})).ValueOrDie();
    return FileWriter::Create(io::MemoryStore(), PathOf("data.lance"), schema, {.version = version})
        .status();
  };
  const auto kUnsupported = ErrorKind::kUnsupported;
  const auto number = arrow::field("n", arrow::int8());
  EXPECT_THAT(create(number, FileVersion::k0_1), IsError(kUnsupported, "version 0.1"));
  const auto blob =
      arrow::field("b", arrow::large_binary())
          ->WithMetadata(arrow::key_value_metadata({{"lance-encoding:blob", "true"}}));
  EXPECT_THAT(create(blob, FileVersion::k2_2), IsError(kUnsupported, "`b`"));
}

}  // namespace
}  // namespace glaive::file
