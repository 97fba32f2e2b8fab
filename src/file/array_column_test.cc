#include "file/array_column.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <arrow/json/from_string.h>
#include <arrow/util/logging.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "file/array_writer.h"
#include "file/file_reader.h"
#include "file/file_writer.h"
#include "io/memory_store.h"
#include "testing/matchers.h"
#include "wire/file_columns.h"

namespace glaive::file {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using Random = std::mt19937_64;

constexpr int64_t kRows = 700;

std::string PathOf(const std::string& name) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string("/array_column_test/") + test->name() + "/" + name;
}

std::string Maybe(Random& random, std::string value) { return random() % 5 == 0 ? "null" : value; }
std::string Number(Random& random) { return std::to_string(random() % 1000); }
std::string Text(Random& random) {
  return "\"" + std::string(random() % 7, 'x') + Number(random) + "\"";
}

template <typename Item>
std::string List(Random& random, const Item& item) {
  std::string text = "[";
  for (uint64_t i = random() % 5; i > 0; --i) text += item() + (i > 1 ? "," : "");
  return text + "]";
}

std::shared_ptr<arrow::Schema> TestSchema() {
  using namespace arrow;
  const auto item = struct_({field("x", int32()), field("y", list(utf8()))});
  return schema({field("n", int64()), field("s", utf8()), field("l", list(int16())),
                 field("ll", large_list(list(utf8()))),
                 field("st", struct_({field("a", list(item)), field("b", boolean())})),
                 field("f", list(fixed_size_list(float32(), 2)))});
}

std::shared_ptr<arrow::RecordBatch> TestRows(Random& random) {
  std::vector<std::string> columns(6, "[");
  for (int64_t row = 0; row < kRows; ++row) {
    const auto number = [&] { return Maybe(random, Number(random)); };
    const auto text = [&] { return Maybe(random, Text(random)); };
    const auto item = [&] {
      return fmt::format("{{\"x\":{},\"y\":{}}}", number(), Maybe(random, List(random, text)));
    };
    const std::string values[] = {
        number(),
        text(),
        Maybe(random, List(random, number)),
        Maybe(random, List(random, [&] { return Maybe(random, List(random, text)); })),
        fmt::format("{{\"a\":{},\"b\":{}}}", Maybe(random, List(random, item)),
                    Maybe(random, "true")),
        Maybe(random, List(random, [&] { return Maybe(random, "[" + number() + ",1]"); }))};
    for (size_t i = 0; i < columns.size(); ++i) columns[i] += (row > 0 ? "," : "") + values[i];
  }
  arrow::ArrayVector arrays;
  const auto schema = TestSchema();
  for (size_t i = 0; i < columns.size(); ++i) {
    arrays.push_back(arrow::json::ArrayFromJSONString(schema->field(static_cast<int>(i))->type(),
                                                      columns[i] + "]")
                         .ValueOrDie());
  }
  return arrow::RecordBatch::Make(schema, kRows, std::move(arrays));
}

std::string Write(const arrow::RecordBatch& rows, uint64_t max_page_bytes, int64_t batch_rows) {
  const std::string path = PathOf("data.lance");
  auto writer =
      FileWriter::Create(io::MemoryStore(), path, wire::FromArrow(*rows.schema()).ValueOrDie(),
                         {.version = FileVersion::k2_0, .max_page_bytes = max_page_bytes})
          .ValueOrDie();
  for (int64_t row = 0; row < rows.num_rows(); row += batch_rows) {
    ARROW_CHECK_OK(writer->Write(rows.Slice(row, batch_rows)).status());
  }
  const FileSummary summary = writer->Finish().ValueOrDie();
  EXPECT_EQ(summary.num_rows, static_cast<uint64_t>(rows.num_rows()));
  return path;
}

// The columns of the leaves of each field, by the rules of the format.
std::vector<std::vector<uint32_t>> LeafColumns(const FileReader& file) {
  std::vector<std::vector<uint32_t>> columns;
  uint32_t next = 0;
  for (const wire::Field& field : file.metadata().schema.fields) {
    columns.emplace_back();
    for (const auto& column : wire::FileColumns({.fields = {field}}, FileVersion::k2_0)) {
      if (column.is_leaf) columns.back().push_back(next);
      ++next;
    }
  }
  return columns;
}

arrow::Result<std::shared_ptr<arrow::Array>> Read(FileReader& file, int field,
                                                  std::span<const RowRange> rows,
                                                  uint64_t most_bytes = UINT64_MAX) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, wire::ToArrow(file.metadata().schema));
  ARROW_ASSIGN_OR_RAISE(const auto leaves, encoding::LeavesOf(*schema->field(field)));
  const auto columns = LeafColumns(file)[static_cast<size_t>(field)];
  std::vector<ColumnRead> reads;
  for (size_t i = 0; i < leaves.size(); ++i) reads.push_back({columns[i], &leaves[i]});
  ARROW_ASSIGN_OR_RAISE(auto decoded, file.ReadColumns(reads, rows, most_bytes));
  ARROW_ASSIGN_OR_RAISE(auto array,
                        encoding::AssembleField(*schema->field(field), std::move(decoded)));
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

std::shared_ptr<arrow::Array> Select(const arrow::Array& array, std::span<const RowRange> rows) {
  arrow::ArrayVector slices = {array.Slice(0, 0)};
  for (const RowRange& range : rows) {
    slices.push_back(
        array.Slice(static_cast<int64_t>(range.begin), static_cast<int64_t>(range.size())));
  }
  return arrow::Concatenate(slices).ValueOrDie();
}

std::vector<RowRange> RandomRanges(size_t num_ranges, Random& random) {
  std::vector<uint64_t> cuts;
  for (size_t i = 0; i < 2 * num_ranges; ++i) cuts.push_back(random() % (kRows + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<RowRange> rows;
  for (size_t i = 0; i < cuts.size(); i += 2) rows.push_back({cuts[i], cuts[i + 1]});
  return rows;
}

TEST(ArrayColumnTest, AnyRowsOfPagesThatEndAnywhere) {
  Random random(20);
  const auto rows = TestRows(random);
  for (const uint64_t page_bytes : {64, 500, 1 << 20}) {
    const std::string path = Write(*rows, page_bytes, 37);
    const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
    EXPECT_EQ(file->metadata().version, FileVersion::k2_0);
    EXPECT_EQ(file->metadata().footer_major, 0);
    EXPECT_EQ(file->metadata().footer_minor, 3);
    for (int field = 0; field < rows->num_columns(); ++field) {
      for (const size_t num_ranges : {0, 1, 3, 40}) {
        for (int i = 0; i < 4; ++i) {
          const auto ranges = RandomRanges(num_ranges, random);
          const auto read = Read(*file, field, ranges);
          ASSERT_THAT(read, IsOk()) << rows->schema()->field(field)->ToString();
          ASSERT_TRUE((*read)->Equals(*Select(*rows->column(field), ranges)))
              << rows->schema()->field(field)->ToString();
        }
      }
    }
  }
}

TEST(ArrayColumnTest, EveryFieldHasAColumn) {
  Random random(21);
  const auto rows = TestRows(random);
  const auto file =
      FileReader::Open(io::MemoryStore(), Write(*rows, 1 << 20, kRows), std::nullopt).ValueOrDie();
  const FileMetadata& metadata = file->metadata();
  // n, s, l, l.item, ll, ll.item, ll.item.item, st, st.a, .item, .x, .y, .y.item, .b, f, f.item
  ASSERT_EQ(metadata.columns.size(), 16u);
  using Lists = std::vector<uint32_t>;
  const auto columns = ArrayColumnsOf(metadata.schema, 16, "a.lance").ValueOrDie();
  EXPECT_THAT(ArrayColumnsOf(metadata.schema, 15, "a.lance"),
              IsError(ErrorKind::kCorrupt, "15 columns, but 16 fields"));
  EXPECT_EQ(columns[0].lists, Lists());
  EXPECT_EQ(columns[3].lists, Lists({2}));
  EXPECT_EQ(columns[6].lists, Lists({4, 5}));
  EXPECT_EQ(columns[10].lists, Lists({8}));
  EXPECT_EQ(columns[12].lists, Lists({8, 11}));
  EXPECT_EQ(columns[13].lists, Lists());
  EXPECT_EQ(columns[15].lists, Lists({14}));
  EXPECT_EQ(metadata.columns[7].pages.at(0).num_rows, static_cast<uint64_t>(kRows));
  EXPECT_TRUE(metadata.columns[7].pages[0].buffers.empty());
}

TEST(ArrayColumnTest, WhatDoesNotFitIsTooLargeAndRowsTellWhatTheyTake) {
  Random random(22);
  const auto rows = TestRows(random);
  const auto file =
      FileReader::Open(io::MemoryStore(), Write(*rows, 2000, 100), std::nullopt).ValueOrDie();
  const RowRange all = {0, kRows};
  EXPECT_TRUE(Read(*file, 3, {&all, 1}, 100).status().IsCapacityError());
  const auto schema = TestSchema();
  const auto columns = LeafColumns(*file);
  for (int field = 0; field < rows->num_columns(); ++field) {
    const auto leaves = encoding::LeavesOf(*schema->field(field)).ValueOrDie();
    std::vector<ColumnRead> reads;
    for (size_t i = 0; i < leaves.size(); ++i) {
      reads.push_back({columns[static_cast<size_t>(field)][i], &leaves[i]});
    }
    double bytes = 0;
    for (uint64_t row = 0; row < kRows;) {
      const auto size = file->SizeFrom(reads, row);
      ASSERT_GT(size.end, row);
      const uint64_t end = std::min<uint64_t>(size.end, kRows);
      bytes += size.bytes * static_cast<double>(end - row);
      row = end;
    }
    const auto actual =
        static_cast<double>(Read(*file, field, {&all, 1}).ValueOrDie()->data()->buffers.size());
    EXPECT_GT(bytes, actual) << schema->field(field)->ToString();
    EXPECT_LT(bytes, 1 << 20) << schema->field(field)->ToString();
  }
}

TEST(ArrayColumnTest, AFileWithoutRows) {
  Random random(23);
  const auto rows = TestRows(random)->Slice(0, 0);
  const std::string path = PathOf("data.lance");
  auto writer =
      FileWriter::Create(io::MemoryStore(), path, wire::FromArrow(*rows->schema()).ValueOrDie(),
                         {.version = FileVersion::k2_0})
          .ValueOrDie();
  ASSERT_THAT(writer->Write(rows), IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  const auto file = FileReader::Open(io::MemoryStore(), path, std::nullopt).ValueOrDie();
  EXPECT_EQ(file->metadata().columns[7].pages.size(), 1u);  // the header of a struct
  EXPECT_TRUE(file->metadata().columns[8].pages.empty());
  for (int field = 0; field < rows->num_columns(); ++field) {
    EXPECT_TRUE(Read(*file, field, {}).ValueOrDie()->Equals(rows->column(field)));
  }
}

TEST(ArrayColumnTest, NullStructsAreRefusedByName) {
  const auto type = arrow::struct_({arrow::field("x", arrow::int8())});
  const auto write = [&](const std::shared_ptr<arrow::DataType>& of, const char* json) {
    const auto rows =
        arrow::RecordBatch::Make(arrow::schema({arrow::field("q", of)}), 2,
                                 {arrow::json::ArrayFromJSONString(of, json).ValueOrDie()});
    auto writer = FileWriter::Create(io::MemoryStore(), PathOf("data.lance"),
                                     wire::FromArrow(*rows->schema()).ValueOrDie(),
                                     {.version = FileVersion::k2_0})
                      .ValueOrDie();
    ARROW_RETURN_NOT_OK(writer->Write(rows).status());
    return writer->Finish().status();
  };
  EXPECT_THAT(write(type, R"([{"x":1}, null])"), IsError(ErrorKind::kInvalidInput, "`q`"));
  EXPECT_THAT(write(arrow::list(type), R"([[{"x":1}, null], []])"),
              IsError(ErrorKind::kInvalidInput, "`q"));
  EXPECT_THAT(write(arrow::list(type), R"([[{"x":1}], null])"), IsOk());
  EXPECT_THAT(ArrayWriter::CheckTypes(
                  wire::FromArrow(*arrow::schema({arrow::field(
                                      "m", arrow::list(arrow::map(arrow::int8(), arrow::int8())))}))
                      .ValueOrDie()
                      .fields),
              IsError(ErrorKind::kInvalidInput, "type map"));
}

// A small file with everything in it: flips of each bit give other values or an error.
TEST(ArrayColumnTest, EveryFlippedBitIsReadOrATypedError) {
  using namespace arrow;
  const auto schema = arrow::schema(
      {field("a", list(list(int8()))), field("s", struct_({field("t", list(utf8()))}))});
  const auto rows = RecordBatch::Make(
      schema, 3,
      {json::ArrayFromJSONString(schema->field(0)->type(), "[[[1],null,[2,3]],null,[[]]]")
           .ValueOrDie(),
       json::ArrayFromJSONString(schema->field(1)->type(),
                                 R"([{"t":["x",null]},{"t":null},{"t":["yy"]}])")
           .ValueOrDie()});
  const std::string path = Write(*rows, 1 << 20, 3);
  const auto source = io::MemoryStore()->OpenRead(path).ValueOrDie();
  const std::string golden = source->Read({0, source->size_bytes()}).ValueOrDie()->ToString();
  const auto read_all = [&](const std::string& bytes) -> arrow::Status {
    const auto store = io::MakeMemoryStore();
    ARROW_RETURN_NOT_OK(store->Put("a.lance", std::as_bytes(std::span(bytes))));
    ARROW_ASSIGN_OR_RAISE(const auto file, FileReader::Open(store, "a.lance", std::nullopt));
    const RowRange all = {0, 3};
    const RowRange last = {2, 3};
    const auto fields = static_cast<int>(file->metadata().schema.fields.size());
    for (int i = 0; i < fields; ++i) {
      ARROW_RETURN_NOT_OK(Read(*file, i, {&all, 1}).status());
      ARROW_RETURN_NOT_OK(Read(*file, i, {&last, 1}).status());
    }
    return arrow::Status::OK();
  };
  ASSERT_THAT(read_all(golden), IsOk());
  int num_read = 0;
  for (size_t bit = 0; bit < golden.size() * 8; ++bit) {
    std::string flipped = golden;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const arrow::Status status = read_all(flipped);
    num_read += status.ok() ? 1 : 0;
    if (status.ok() || status.message().find("Invalid UTF8") != std::string::npos) continue;
    const ErrorKind kind = KindOf(status);
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
        << "bit " << bit << ": " << status.ToString();
  }
  EXPECT_GT(num_read, 1'000);
  EXPECT_LT(num_read, static_cast<int>(golden.size()) * 8 - 1'000);
}

}  // namespace
}  // namespace glaive::file
