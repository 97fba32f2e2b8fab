#include "encoding/structural/layout/open_page.h"
#include "encoding/structural/page/decoder.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "encoding/structural/layout/encode_page.h"
#include "encoding/structural/leaf/builder.h"
#include "testing/golden.h"
#include "testing/golden_pages.h"
#include "testing/matchers.h"
#include "testing/random_values.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::GoldenPage;
using glaive::testing::GoldenPages;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomValues;
using Type = std::shared_ptr<arrow::DataType>;
using ArrayResult = arrow::Result<std::shared_ptr<arrow::Array>>;

Type TypeNamed(std::string_view name) {
  using namespace arrow;
  if (name == "list<int32>") return list(int32());
  if (name == "list<list<int16>>") return list(list(int16()));
  if (name == "struct<l:list<struct<x:int8>>>") {
    return struct_({field("l", list(struct_({field("x", int8())})))});
  }
  if (name == "utf8") return utf8();
  if (name == "list<utf8>") return list(utf8());
  if (name == "fsl<int16,3>") return fixed_size_list(int16(), 3);
  if (name == "fsl<int16,2>") return fixed_size_list(int16(), 2);
  if (name == "list<int8>") return list(int8());
  if (name == "bool") return boolean();
  if (name == "int32") return int32();
  if (name == "int64") return int64();
  if (name == "float") return float32();
  if (name == "double") return float64();
  ADD_FAILURE() << name;
  return null();
}

LeafPath OnlyLeaf(const Type& type) { return LeavesOf(*arrow::field("c", type)).ValueOrDie()[0]; }

// A page in a file that is nothing but the page's buffers.
struct FileOfPage {
  std::string bytes;
  std::vector<ByteRange> buffers;
  std::string layout;
  uint64_t num_rows = 0;
  FileVersion version = FileVersion::k2_2;

  void AddBuffer(const std::string& buffer) {
    bytes.resize((bytes.size() + 63) / 64 * 64);
    buffers.push_back({bytes.size(), buffer.size()});
    bytes += buffer;
  }

  PageSource source() const {
    return {.buffers = buffers,
            .num_rows = num_rows,
            .layout = BytesOf(layout),
            .version = version,
            .path = "data/a.lance",
            .layout_offset = bytes.size(),
            .file_size = bytes.size()};
  }
};

FileOfPage FileOf(const GoldenPage& golden) {
  FileOfPage file{
      .layout = FromHex(golden.layout), .num_rows = golden.num_rows, .version = golden.version};
  for (const std::string_view buffer : golden.buffers) file.AddBuffer(FromHex(buffer));
  return file;
}

// What a read costs.
struct Cost {
  int rounds = 0;
  uint64_t bytes = 0;
};

ArrayResult Read(PageDecoder& decoder, const FileOfPage& file, const Type& type,
                 std::span<const RowRange> rows, Cost* cost = nullptr) {
  const LeafPath path = OnlyLeaf(type);
  LeafBuilder builder(path);
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder.Read(rows));
  Cost spent;
  while (!read->wanted().empty()) {
    ++spent.rounds;
    std::vector<std::shared_ptr<arrow::Buffer>> supplied;
    for (const ByteRange& range : read->wanted()) {
      // What is wanted lies in the file: the decoder made sure.
      if (range.offset > file.bytes.size() || range.size > file.bytes.size() - range.offset) {
        return arrow::Status::Invalid("a range beyond the file is wanted");
      }
      spent.bytes += range.size;
      supplied.push_back(arrow::Buffer::FromString(file.bytes.substr(range.offset, range.size)));
    }
    ARROW_RETURN_NOT_OK(read->Supply(std::move(supplied)));
  }
  if (cost != nullptr) *cost = spent;
  ARROW_RETURN_NOT_OK(read->DecodeInto(builder));
  std::vector<LeafRows> leaves;
  ARROW_ASSIGN_OR_RAISE(leaves.emplace_back(), std::move(builder).Finish());
  ARROW_ASSIGN_OR_RAISE(auto array, AssembleField(*arrow::field("c", type), std::move(leaves)));
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

ArrayResult Read(const FileOfPage& file, const Type& type, std::span<const RowRange> rows,
                 Cost* cost = nullptr) {
  ARROW_ASSIGN_OR_RAISE(const auto decoder, OpenPage(file.source(), OnlyLeaf(type)));
  return Read(*decoder, file, type, rows, cost);
}

ArrayResult ReadAll(const FileOfPage& file, const Type& type) {
  const RowRange all = {0, file.num_rows};
  return Read(file, type, std::span(&all, 1));
}

std::shared_ptr<arrow::Array> Expected(const GoldenPage& golden) {
  return arrow::json::ArrayFromJSONString(TypeNamed(golden.type), golden.json).ValueOrDie();
}

std::shared_ptr<arrow::Array> Select(const arrow::Array& array, std::span<const RowRange> rows) {
  arrow::ArrayVector slices;
  for (const RowRange& range : rows) {
    slices.push_back(
        array.Slice(static_cast<int64_t>(range.begin), static_cast<int64_t>(range.size())));
  }
  if (slices.empty()) slices.push_back(array.Slice(0, 0));
  return arrow::Concatenate(slices).ValueOrDie();
}

std::vector<RowRange> RandomRows(uint64_t num_rows, size_t num_ranges, std::mt19937_64& random) {
  std::vector<uint64_t> cuts;
  for (size_t i = 0; i < 2 * num_ranges; ++i) cuts.push_back(random() % (num_rows + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<RowRange> rows;
  for (size_t i = 0; i < cuts.size(); i += 2) {
    if (cuts[i] < cuts[i + 1]) rows.push_back({cuts[i], cuts[i + 1]});
  }
  return rows;
}

FileOfPage Encode(const std::shared_ptr<arrow::Array>& array, FileVersion version) {
  const auto data = array->data();
  auto pages =
      EncodePages(std::span(&data, 1), OnlyLeaf(array->type()), {.version = version}).ValueOrDie();
  EXPECT_EQ(pages.size(), 1);
  FileOfPage file{.layout = pages[0].layout, .num_rows = pages[0].num_rows, .version = version};
  for (const auto& parts : pages[0].buffers) {
    std::string buffer;
    for (const auto& part : parts) buffer += part->ToString();
    file.AddBuffer(buffer);
  }
  return file;
}

TEST(PageDecoderTest, PylancesPagesAreRead) {
  for (const GoldenPage& golden : GoldenPages()) {
    const Type type = TypeNamed(golden.type);
    const auto expected = Expected(golden);
    const auto read = ReadAll(FileOf(golden), type);
    ASSERT_THAT(read, IsOk()) << golden.type << " " << golden.layout;
    EXPECT_TRUE((*read)->Equals(*expected, arrow::EqualOptions::Defaults().nans_equal(true)))
        << golden.layout << "\n"
        << (*read)->ToString();
  }
}

TEST(PageDecoderTest, AnyRowsOfPylancesPages) {
  std::mt19937_64 random(2026);
  for (const GoldenPage& golden : GoldenPages()) {
    const Type type = TypeNamed(golden.type);
    const auto expected = Expected(golden);
    const FileOfPage file = FileOf(golden);
    const auto decoder = OpenPage(file.source(), OnlyLeaf(type)).ValueOrDie();
    for (int i = 0; i < 20; ++i) {
      const auto rows = RandomRows(golden.num_rows, random() % 4, random);
      // Through the one decoder, which has kept what earlier reads brought, and through a new one.
      for (const auto& read : {Read(*decoder, file, type, rows), Read(file, type, rows)}) {
        ASSERT_THAT(read, IsOk()) << golden.layout;
        EXPECT_TRUE((*read)->Equals(*Select(*expected, rows))) << golden.layout;
      }
    }
  }
}

TEST(PageDecoderTest, AnyRowsOfPagesWithManyChunks) {
  std::mt19937_64 random(7);
  const Type types[] = {arrow::int64(),
                        arrow::int32(),
                        arrow::utf8(),
                        arrow::boolean(),
                        arrow::fixed_size_binary(16),
                        arrow::fixed_size_list(arrow::float32(), 3),
                        arrow::fixed_size_list(arrow::float32(), 80),
                        arrow::list(arrow::int64()),
                        arrow::list(arrow::utf8()),
                        arrow::list(arrow::list(arrow::int16())),
                        arrow::struct_({arrow::field("a", arrow::list(arrow::int32()))})};
  for (const Type& type : types) {
    for (const FileVersion version : {FileVersion::k2_1, FileVersion::k2_2, FileVersion::k2_3}) {
      const auto array = arrow::MakeArray(RandomValues({}, 11).Make(type, 5000));
      const FileOfPage file = Encode(array, version);
      const auto decoder = OpenPage(file.source(), OnlyLeaf(type)).ValueOrDie();
      for (const size_t num_ranges : {1, 2, 50, 2000}) {
        for (int i = 0; i < 5; ++i) {
          const auto rows = RandomRows(file.num_rows, num_ranges, random);
          const auto read = Read(*decoder, file, type, rows);
          ASSERT_THAT(read, IsOk()) << type->ToString();
          EXPECT_TRUE((*read)->Equals(*Select(*array, rows))) << type->ToString();
        }
      }
    }
  }
}

// Every bit of small pages, many of large ones: an error that names the file, or other values.
TEST(PageDecoderTest, FlippedBitsAreSafe) {
  std::mt19937_64 random(99);
  for (const GoldenPage& golden : GoldenPages()) {
    const Type type = TypeNamed(golden.type);
    const FileOfPage file = FileOf(golden);
    const size_t num_bits = (file.bytes.size() + file.layout.size()) * 8;
    const size_t step = num_bits > 4000 ? num_bits / 4000 : 1;
    for (size_t bit = random() % step; bit < num_bits; bit += step) {
      FileOfPage damaged = file;
      std::string& where = bit / 8 < file.layout.size() ? damaged.layout : damaged.bytes;
      const size_t byte = bit / 8 < file.layout.size() ? bit / 8 : bit / 8 - file.layout.size();
      where[byte] = static_cast<char>(where[byte] ^ (1 << (bit % 8)));
      const auto read = ReadAll(damaged, type);
      if (read.ok()) {
        EXPECT_EQ((*read)->length(), static_cast<int64_t>(golden.num_rows));
      } else if (read.status().message().find("Invalid UTF8") == std::string::npos) {
        const auto kind = KindOf(read.status());
        EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
            << read.status().ToString();
        EXPECT_NE(read.status().message().find("data/a.lance"), std::string::npos)
            << read.status().ToString();
      }
    }
  }
}

TEST(PageDecoderTest, CutBuffersAreSafe) {
  for (const GoldenPage& golden : GoldenPages()) {
    const Type type = TypeNamed(golden.type);
    for (size_t buffer = 0; buffer < golden.buffers.size(); ++buffer) {
      for (const uint64_t cut : {1, 2, 7, 8, 16}) {
        FileOfPage file = FileOf(golden);
        if (file.buffers[buffer].size < cut) continue;
        file.buffers[buffer].size -= cut;
        const auto read = ReadAll(file, type);
        // A constant's string is as long as its buffer says, which is cut with it.
        EXPECT_THAT(read, IsError(ErrorKind::kCorrupt, "data/a.lance")) << golden.layout << cut;
      }
    }
    FileOfPage file = FileOf(golden);
    if (file.buffers.empty()) continue;
    file.buffers.back().size = file.bytes.size() + 1;
    EXPECT_THAT(ReadAll(file, type), IsError(ErrorKind::kCorrupt, "in a file of"));
  }
}

TEST(PageDecoderTest, SmallPagesAndScansTakeOneRound) {
  const auto array = arrow::MakeArray(RandomValues({}, 3).Make(arrow::int64(), 200'000));
  const FileOfPage file = Encode(array, FileVersion::k2_2);
  const Type type = arrow::int64();
  const auto decoder = OpenPage(file.source(), OnlyLeaf(type)).ValueOrDie();
  Cost cost;
  const RowRange some[] = {{10, 12}, {150'000, 150'001}};
  ASSERT_THAT(Read(*decoder, file, type, some, &cost), IsOk());
  EXPECT_EQ(cost.rounds, 2);
  EXPECT_LT(cost.bytes, 20'000);
  const uint64_t first_bytes = cost.bytes;
  // The chunk table is there now.
  ASSERT_THAT(Read(*decoder, file, type, some, &cost), IsOk());
  EXPECT_EQ(cost.rounds, 1);
  EXPECT_EQ(cost.bytes, first_bytes - file.buffers[0].size);
  EXPECT_GT(decoder->memory_bytes(), file.buffers[0].size);
  const RowRange all = {0, 200'000};
  ASSERT_THAT(Read(file, type, std::span(&all, 1), &cost), IsOk());
  EXPECT_EQ(cost.rounds, 1);
  ASSERT_THAT(Read(file, type, {}, &cost), IsOk());
  EXPECT_EQ(cost.rounds, 0);
}

TEST(PageDecoderTest, FullZipRowsAreFoundWithoutReadingThePage) {
  arrow::StringBuilder builder;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_THAT(
        builder.Append(std::string(300, static_cast<char>('a' + i % 26)) + std::to_string(i)),
        IsOk());
  }
  const auto array = builder.Finish().ValueOrDie();
  const FileOfPage file = Encode(array, FileVersion::k2_1);
  ASSERT_EQ(file.buffers.size(), 2);
  Cost cost;
  const RowRange some[] = {{5, 6}, {7, 8}, {19'000, 19'002}};
  const auto read = Read(file, array->type(), some, &cost);
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE((*read)->Equals(*Select(*array, some)));
  EXPECT_EQ(cost.rounds, 2);
  EXPECT_LT(cost.bytes, 4 * 320 + 100);
  const RowRange all = {0, 20'000};
  ASSERT_THAT(Read(file, array->type(), std::span(&all, 1), &cost), IsOk());
  EXPECT_EQ(cost.rounds, 1);
}

std::shared_ptr<arrow::Array> ListsWithoutItems(int64_t num_rows, bool with_nulls) {
  arrow::ListBuilder builder(arrow::default_memory_pool(), std::make_shared<arrow::Int32Builder>());
  for (int64_t i = 0; i < num_rows; ++i) {
    EXPECT_THAT(with_nulls && i % 3 == 0 ? builder.AppendNull() : builder.Append(), IsOk());
  }
  return builder.Finish().ValueOrDie();
}

// Whatever the rows are, a few of them and what is kept cost what the page stores.
TEST(PageDecoderTest, ListsWithoutItemsCostWhatTheyStore) {
  constexpr int64_t kRows = 300'000;
  for (const bool with_nulls : {false, true}) {
    const auto array = ListsWithoutItems(kRows, with_nulls);
    const FileOfPage file = Encode(array, FileVersion::k2_2);
    const auto decoder = OpenPage(file.source(), OnlyLeaf(array->type())).ValueOrDie();
    const std::vector<RowRange> rows = {{5, 7}, {1000, 1001}, {kRows - 5000, kRows}};
    Cost cost;
    const auto first = Read(*decoder, file, array->type(), rows, &cost);
    ASSERT_THAT(first, IsOk());
    EXPECT_TRUE((*first)->Equals(*Select(*array, rows)));
    EXPECT_EQ(cost.rounds, 1);
    const auto second = Read(*decoder, file, array->type(), rows, &cost);
    ASSERT_THAT(second, IsOk());
    EXPECT_TRUE((*second)->Equals(*Select(*array, rows)));
    EXPECT_EQ(cost.rounds, 0);
    EXPECT_LT(decoder->memory_bytes(), with_nulls ? kRows * 2 : 2000);
    EXPECT_EQ(decoder->decoded_bytes(), kRows * sizeof(int32_t));
  }
}

// Pages tell what their rows decode to, within what validity and a few offsets take.
TEST(PageDecoderTest, DecodedBytesAreKnownBeforehand) {
  constexpr int64_t kRows = 20'000;
  const auto expect = [](const std::shared_ptr<arrow::Array>& array, uint64_t bytes) {
    for (const FileVersion version : {FileVersion::k2_1, FileVersion::k2_2}) {
      const FileOfPage file = Encode(array, version);
      const auto decoder = OpenPage(file.source(), OnlyLeaf(array->type())).ValueOrDie();
      EXPECT_GE(decoder->decoded_bytes(), bytes) << array->type()->ToString();
      // Compressed texts are guessed at.
      EXPECT_LE(decoder->decoded_bytes(), 4 * bytes + 1000) << array->type()->ToString();
      // What is read of a page makes that better.
      const RowRange row = {0, 1};
      ASSERT_THAT(Read(*decoder, file, array->type(), {&row, 1}), IsOk());
      EXPECT_GE(decoder->decoded_bytes(), bytes) << array->type()->ToString();
    }
  };
  arrow::Int64Builder same;
  arrow::Int64Builder numbers;
  arrow::StringBuilder one;
  arrow::StringBuilder few;
  for (int64_t i = 0; i < kRows; ++i) {
    ASSERT_THAT(same.Append(7), IsOk());
    ASSERT_THAT(numbers.Append(i % 10), IsOk());
    ASSERT_THAT(one.Append(std::string(100, 'x')), IsOk());
    ASSERT_THAT(few.Append(std::to_string(i % 5) + std::string(200, 'y')), IsOk());
  }
  expect(same.Finish().ValueOrDie(), kRows * 8);
  expect(numbers.Finish().ValueOrDie(), kRows * 8);
  expect(one.Finish().ValueOrDie(), kRows * 104);
  expect(few.Finish().ValueOrDie(), kRows * 205);
  expect(arrow::MakeArray(
             RandomValues({}, 3).Make(arrow::fixed_size_list(arrow::float32(), 80), 1000)),
         1000 * 320);
  arrow::Int32Builder offsets;
  for (int32_t i = 0; i <= 500; ++i) ASSERT_THAT(offsets.Append(i * 40), IsOk());
  expect(arrow::ListArray::FromArrays(
             *offsets.Finish().ValueOrDie(),
             *arrow::MakeArrayFromScalar(*arrow::MakeScalar(int64_t{1}), kRows).ValueOrDie())
             .ValueOrDie(),
         kRows * 8);
}

// The file's zstd frames say far more than the pages around them can hold.
TEST(PageDecoderTest, WhatFramesClaimIsBoundedByTheirPage) {
  const auto flat = [](uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); };
  const auto zstd = [](const wire::EncodingPtr& inner) {
    return wire::MakeEncoding(
        wire::GeneralEncoding{wire::CompressionScheme::kZstd, std::nullopt, inner});
  };
  const auto word = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  // A frame of blocks that each stand for 128 KiB of zeros in 4 bytes.
  constexpr uint64_t kClaim = uint64_t{1} << 28;
  std::string frame = word(kClaim) + FromHex("28b52ffda0") + word(uint32_t{kClaim});
  constexpr uint32_t kBlock = 1 << 17;
  for (uint64_t i = 0; i < kClaim / kBlock; ++i) {
    const bool is_last = i + 1 == kClaim / kBlock;
    const uint32_t header = kBlock << 3 | 1 << 1 | (is_last ? 1 : 0);
    frame += word(header).substr(0, 3) + std::string(1, '\0');
  }
  ASSERT_LT(frame.size(), 10'000u);
  const auto refused = [](const FileOfPage& file, const Type& type) {
    EXPECT_THAT(ReadAll(file, type), IsError(ErrorKind::kCorrupt, "where there are at most"))
        << type->ToString();
  };

  // Levels of a page without values.
  FileOfPage levels{
      .layout = wire::Serialize(wire::ConstantLayout{.layers = {wire::RepDefLayer::kNullableItem},
                                                     .def_compression = zstd(flat(16)),
                                                     .num_def_values = 10}),
      .num_rows = 10};
  levels.AddBuffer("");
  levels.AddBuffer(frame);
  refused(levels, arrow::int32());

  // Values of a chunk.
  const std::string chunk = word(uint16_t{0}) + word(static_cast<uint16_t>(frame.size())) +
                            std::string(4, '\0') + frame +
                            std::string((8 - frame.size() % 8) % 8, '\0');
  const auto words = word(static_cast<uint16_t>((chunk.size() / 8 - 1) << 4));
  FileOfPage values{
      .layout = wire::Serialize(wire::MiniBlockLayout{.value_compression = zstd(flat(32)),
                                                      .layers = {wire::RepDefLayer::kAllValidItem},
                                                      .num_buffers = 1,
                                                      .num_items = 10}),
      .num_rows = 10};
  values.AddBuffer(words);
  values.AddBuffer(chunk);
  refused(values, arrow::int32());

  // Items of a dictionary.
  const std::string indices = word(uint16_t{0}) + word(uint16_t{40}) + std::string(44, '\0');
  FileOfPage dictionary{
      .layout = wire::Serialize(wire::MiniBlockLayout{.value_compression = flat(32),
                                                      .dictionary = zstd(flat(64)),
                                                      .num_dictionary_items = 3,
                                                      .layers = {wire::RepDefLayer::kAllValidItem},
                                                      .num_buffers = 1,
                                                      .num_items = 10}),
      .num_rows = 10};
  dictionary.AddBuffer(word(static_cast<uint16_t>((indices.size() / 8 - 1) << 4)));
  dictionary.AddBuffer(indices);
  dictionary.AddBuffer(frame);
  refused(dictionary, arrow::int64());
}

// Values that are all equal or null have no chunks in 2.3, but positions.
TEST(PageDecoderTest, SparsePagesAreReadAsWritten) {
  const auto repeat = [](const Type& type, const char* json, int times) {
    const auto part = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
    return arrow::Concatenate(arrow::ArrayVector(static_cast<size_t>(times), part)).ValueOrDie();
  };
  const Type lists = arrow::list(arrow::int32());
  const Type nested = TypeNamed("struct<l:list<struct<x:int8>>>");
  const std::shared_ptr<arrow::Array> arrays[] = {
      repeat(lists, "[[7,7],null,[],[null,7],[7],[],[7]]", 300),
      repeat(lists, "[null,[],null,[null,null],[]]", 300),
      repeat(lists, "[[],[null]]", 1),
      repeat(arrow::list(lists), "[[[1],[],null,[null]],null,[],[[1,1]],[null]]", 70),
      repeat(nested, "[{\"l\":[{\"x\":4},null,{\"x\":null}]},null,{\"l\":null},{\"l\":[]}]", 50),
      repeat(nested, "[{\"l\":[null,{\"x\":null}]},null,{\"l\":null},{\"l\":[]}]", 50),
      repeat(arrow::boolean(), "[true,null,true]", 900),
      repeat(arrow::int64(), "[null,5,null,null]", 9000),
  };
  std::mt19937_64 random(23);
  for (const auto& array : arrays) {
    const FileOfPage file = Encode(array, FileVersion::k2_3);
    const auto all = ReadAll(file, array->type());
    ASSERT_THAT(all, IsOk());
    EXPECT_TRUE((*all)->Equals(*array)) << (*all)->ToString();
    const auto decoder = OpenPage(file.source(), OnlyLeaf(array->type())).ValueOrDie();
    EXPECT_GT(decoder->decoded_bytes(), 0u);
    for (int i = 0; i < 20; ++i) {
      const auto rows = RandomRows(file.num_rows, 1 + random() % 9, random);
      const auto read = Read(*decoder, file, array->type(), rows);
      ASSERT_THAT(read, IsOk());
      EXPECT_TRUE((*read)->Equals(*Select(*array, rows)));
    }
  }
}

TEST(PageDecoderTest, WhatIsNotReadIsNamed) {
  FileOfPage file = FileOf(GoldenPages()[0]);
  const LeafPath path = OnlyLeaf(arrow::list(arrow::int32()));
  file.version = FileVersion::k2_0;
  EXPECT_THAT(OpenPage(file.source(), path),
              IsError(ErrorKind::kUnsupported, "before version 2.1"));
  file.version = FileVersion::k2_3;  // the layout is no planar one
  EXPECT_THAT(OpenPage(file.source(), path), IsError(ErrorKind::kCorrupt, "data/a.lance"));
  file.version = FileVersion::k2_2;
  file.layout = FromHex("2200");
  EXPECT_THAT(OpenPage(file.source(), path), IsError(ErrorKind::kUnsupported, "a page of blobs"));
  // has_large_chunk, in 2.1
  FileOfPage large = FileOf(GoldenPages()[1]);
  large.version = FileVersion::k2_1;
  EXPECT_THAT(OpenPage(large.source(), path),
              IsError(ErrorKind::kCorrupt, "large chunks before version 2.2"));
  EXPECT_THAT(OpenPage(FileOf(GoldenPages()[0]).source(), OnlyLeaf(arrow::int32())),
              IsError(ErrorKind::kCorrupt, "2 layers; its column has 1"));
}

}  // namespace
}  // namespace glaive::encoding
