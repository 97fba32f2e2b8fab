#include "encoding/array/page.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "encoding/array/encoder.h"
#include "encoding/array/list_page.h"
#include "encoding/codec/bitpacking.h"
#include "encoding/structural/leaf/builder.h"
#include "testing/golden.h"
#include "testing/golden_arrays.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::GoldenArray;
using glaive::testing::GoldenField;
using glaive::testing::GoldenFields;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomValues;
using Type = std::shared_ptr<arrow::DataType>;
using ArrayResult = arrow::Result<std::shared_ptr<arrow::Array>>;

Type TypeNamed(std::string_view name) {
  using namespace arrow;
  if (name == "int32") return int32();
  if (name == "bool") return boolean();
  if (name == "utf8") return utf8();
  if (name == "large_utf8") return large_utf8();
  if (name == "fsl<int16,3>") return fixed_size_list(int16(), 3);
  if (name == "fsl<fsl<int16,2>,2>") return fixed_size_list(fixed_size_list(int16(), 2), 2);
  if (name == "fsl<bool,3>") return fixed_size_list(boolean(), 3);
  if (name == "list<int32>") return list(int32());
  if (name == "list<list<int16>>") return list(list(int16()));
  ADD_FAILURE() << name;
  return null();
}

// A page in a file that is nothing but the page's buffers.
struct FileOfPage {
  std::string bytes;
  std::vector<ByteRange> buffers;
  std::string encoding;
  uint64_t num_slots = 0;
  bool is_dictionary = false;

  void AddBuffer(const std::string& buffer) {
    bytes.resize((bytes.size() + 63) / 64 * 64);
    buffers.push_back({bytes.size(), buffer.size()});
    bytes += buffer;
  }

  ArraySource source() const {
    return {.page_buffers = buffers,
            .num_slots = num_slots,
            .is_dictionary = is_dictionary,
            .path = "data/a.lance",
            .metadata_offset = bytes.size(),
            .file_size = bytes.size()};
  }
};

FileOfPage FileOf(const GoldenArray& golden) {
  FileOfPage file{.encoding = FromHex(golden.encoding), .num_slots = golden.num_slots};
  for (const std::string_view buffer : golden.buffers) file.AddBuffer(FromHex(buffer));
  return file;
}

FileOfPage FileOf(const EncodedPage& page) {
  FileOfPage file{.encoding = page.layout, .num_slots = page.num_rows};
  for (const auto& parts : page.buffers) {
    std::string buffer;
    for (const auto& part : parts) buffer += part->ToString();
    file.AddBuffer(buffer);
  }
  return file;
}

FileOfPage FileOf(const wire::ArrayPtr& encoding, uint64_t num_slots,
                  std::initializer_list<std::string> buffers) {
  FileOfPage file{.encoding = wire::Serialize(*encoding), .num_slots = num_slots};
  for (const std::string& buffer : buffers) file.AddBuffer(buffer);
  return file;
}

struct Cost {
  int rounds = 0;
  uint64_t bytes = 0;
};

// Runs a step machine on the bytes of a file.
template <typename Machine>
arrow::Status Supply(Machine& read, const FileOfPage& file, Cost* cost = nullptr) {
  Cost spent;
  while (!read.wanted().empty()) {
    ++spent.rounds;
    std::vector<std::shared_ptr<arrow::Buffer>> supplied;
    for (const ByteRange& range : read.wanted()) {
      if (range.offset > file.bytes.size() || range.size > file.bytes.size() - range.offset) {
        return arrow::Status::Invalid("a range beyond the file is wanted");
      }
      spent.bytes += range.size;
      supplied.push_back(arrow::Buffer::FromString(file.bytes.substr(range.offset, range.size)));
    }
    ARROW_RETURN_NOT_OK(read.Supply(std::move(supplied)));
  }
  if (cost != nullptr) *cost = spent;
  return arrow::Status::OK();
}

ArrayResult Read(PageDecoder& page, const FileOfPage& file, const Type& type,
                 std::span<const RowRange> rows, Cost* cost = nullptr) {
  const LeafPath path = {.layers = {{}}, .type = type};
  LeafBuilder builder(path);
  ARROW_ASSIGN_OR_RAISE(const auto read, page.Read(rows));
  ARROW_RETURN_NOT_OK(Supply(*read, file, cost));
  ARROW_RETURN_NOT_OK(read->DecodeInto(builder));
  ARROW_ASSIGN_OR_RAISE(const LeafRows leaf, std::move(builder).Finish());
  const auto array = arrow::MakeArray(leaf.values);
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

ArrayResult Read(const FileOfPage& file, const Type& type, std::span<const RowRange> rows,
                 Cost* cost = nullptr) {
  ARROW_ASSIGN_OR_RAISE(const auto page, OpenArrayPage(BytesOf(file.encoding), file.source(),
                                                       {.layers = {{}}, .type = type}));
  return Read(*page, file, type, rows, cost);
}

ArrayResult ReadAll(const FileOfPage& file, const Type& type) {
  const RowRange all = {0, file.num_slots};
  return Read(file, type, std::span(&all, 1));
}

std::shared_ptr<arrow::Array> Values(const Type& type, std::string_view json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

// The leaf of a golden field: its last column, and the values below its lists.
struct Leaf {
  FileOfPage file;
  std::shared_ptr<arrow::Array> values;
};

Leaf LeafOf(const GoldenField& golden) {
  auto values = Values(TypeNamed(golden.type), golden.json);
  while (values->type_id() == arrow::Type::LIST) {
    values = static_cast<const arrow::ListArray&>(*values).values();
  }
  return {FileOf(golden.columns.back()), std::move(values)};
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

// Random values in buffers of their own.
std::shared_ptr<arrow::Array> RandomArray(const Type& type, int64_t length, uint64_t seed) {
  const auto array = arrow::MakeArray(RandomValues({}, seed).Make(type, length));
  return arrow::Concatenate({array->Slice(0, 1), array->Slice(1)}).ValueOrDie();
}

TEST(ArrayPageTest, PylancesPagesAreRead) {
  for (const GoldenField& golden : GoldenFields()) {
    const Leaf leaf = LeafOf(golden);
    const auto read = ReadAll(leaf.file, leaf.values->type());
    ASSERT_THAT(read, IsOk()) << golden.type;
    EXPECT_TRUE((*read)->Equals(*leaf.values)) << golden.type << (*read)->ToString();
  }
}

TEST(ArrayPageTest, PylancesPagesAreWritten) {
  for (const GoldenField& golden : GoldenFields()) {
    if (!golden.compression.empty()) continue;
    const Leaf leaf = LeafOf(golden);
    const auto page = EncodeArrayLeaf(*leaf.values->data(), {});
    ASSERT_THAT(page, IsOk()) << golden.type;
    const FileOfPage written = FileOf(*page);
    EXPECT_EQ(written.encoding, leaf.file.encoding) << golden.type;
    EXPECT_EQ(written.buffers, leaf.file.buffers) << golden.type;
  }
}

TEST(ArrayPageTest, CompressedTextsComeBack) {
  const auto values = RandomArray(arrow::utf8(), 400, 5);
  for (const auto scheme : {wire::CompressionScheme::kZstd, wire::CompressionScheme::kLz4}) {
    const auto page = EncodeArrayLeaf(*values->data(), {.compression = {.scheme = scheme}});
    ASSERT_THAT(page, IsOk());
    const auto read = ReadAll(FileOf(*page), values->type());
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE((*read)->Equals(*values));
  }
}

TEST(ArrayPageTest, AnyRows) {
  std::mt19937_64 random(2026);
  for (const GoldenField& golden : GoldenFields()) {
    const Leaf leaf = LeafOf(golden);
    const Type type = leaf.values->type();
    const auto page = OpenArrayPage(BytesOf(leaf.file.encoding), leaf.file.source(),
                                    {.layers = {{}}, .type = type})
                          .ValueOrDie();
    for (int i = 0; i < 20; ++i) {
      const auto rows = RandomRows(leaf.file.num_slots, random() % 4, random);
      for (const auto& read : {Read(*page, leaf.file, type, rows), Read(leaf.file, type, rows)}) {
        ASSERT_THAT(read, IsOk()) << golden.type;
        EXPECT_TRUE((*read)->Equals(*Select(*leaf.values, rows))) << golden.type;
      }
    }
  }
}

TEST(ArrayPageTest, AnyRowsOfLargePages) {
  std::mt19937_64 random(7);
  const Type types[] = {arrow::int64(),
                        arrow::boolean(),
                        arrow::utf8(),
                        arrow::large_binary(),
                        arrow::fixed_size_binary(16),
                        arrow::fixed_size_list(arrow::float32(), 3),
                        arrow::fixed_size_list(arrow::boolean(), 5)};
  for (const Type& type : types) {
    const auto array = RandomArray(type, 5000, 11);
    const FileOfPage file = FileOf(EncodeArrayLeaf(*array->data(), {}).ValueOrDie());
    for (const size_t num_ranges : {1, 2, 50, 2000}) {
      const auto rows = RandomRows(file.num_slots, num_ranges, random);
      const auto read = Read(file, type, rows);
      ASSERT_THAT(read, IsOk()) << type->ToString();
      EXPECT_TRUE((*read)->Equals(*Select(*array, rows))) << type->ToString();
    }
  }
}

TEST(ArrayPageTest, RowsCostWhatTheyTake) {
  const Type type = arrow::large_utf8();
  const auto array = RandomArray(type, 100'000, 3);
  const FileOfPage file = FileOf(EncodeArrayLeaf(*array->data(), {}).ValueOrDie());
  Cost cost;
  const RowRange one = {77'777, 77'778};
  ASSERT_THAT(Read(file, type, std::span(&one, 1), &cost), IsOk());
  EXPECT_EQ(cost.rounds, 2);
  EXPECT_LT(cost.bytes, 200);
  const RowRange all = {0, 100'000};
  ASSERT_THAT(Read(file, type, std::span(&all, 1), &cost), IsOk());
  EXPECT_EQ(cost.rounds, 1);
}

TEST(ArrayPageTest, PackedNumbers) {
  // -3, 2, 1, -4 in three bits each, then the same without signs.
  const std::string packed = FromHex("5508");
  const auto encoding = [](bool is_signed) {
    return wire::MakeArrayEncoding(wire::NoNullsArray{wire::MakeArrayEncoding(wire::BitpackedArray{
        .compressed_bits = 3, .uncompressed_bits = 16, .is_signed = is_signed})});
  };
  const auto read = ReadAll(FileOf(encoding(true), 4, {packed}), arrow::int16());
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE((*read)->Equals(*Values(arrow::int16(), "[-3, 2, 1, -4]"))) << (*read)->ToString();
  const RowRange some[] = {{1, 2}, {3, 4}};
  const auto part = Read(FileOf(encoding(false), 4, {packed}), arrow::int16(), some);
  ASSERT_THAT(part, IsOk());
  EXPECT_TRUE((*part)->Equals(*Values(arrow::int16(), "[2, 4]"))) << (*part)->ToString();
  EXPECT_THAT(ReadAll(FileOf(encoding(true), 6, {packed}), arrow::int16()),
              IsError(ErrorKind::kCorrupt, "data/a.lance"));
}

TEST(ArrayPageTest, PackedBlocks) {
  constexpr unsigned kWidth = 11;
  std::vector<uint32_t> values(2 * kBitpackBlock);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i * 7 % 2048);
  std::string packed(2 * PackedBlockBytes(kWidth), '\0');
  for (size_t block = 0; block < 2; ++block) {
    PackBlock<uint32_t>(
        values.data() + block * kBitpackBlock, kWidth,
        reinterpret_cast<std::byte*>(packed.data() + block * PackedBlockBytes(kWidth)));
  }
  const auto encoding = wire::MakeArrayEncoding(
      wire::BitpackedForNonNegArray{.compressed_bits = kWidth, .uncompressed_bits = 32});
  const RowRange rows[] = {{0, 3}, {1000, 1100}, {1999, 2000}};
  const auto read = Read(FileOf(encoding, 2000, {packed}), arrow::uint32(), rows);
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ((*read)->length(), 104);
  const auto& numbers = static_cast<const arrow::UInt32Array&>(**read);
  EXPECT_EQ(numbers.Value(2), values[2]);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(numbers.Value(3 + i), values[1000 + static_cast<size_t>(i)]);
  EXPECT_EQ(numbers.Value(103), values[1999]);
  EXPECT_THAT(ReadAll(FileOf(encoding, 2000, {packed.substr(1)}), arrow::uint32()),
              IsError(ErrorKind::kCorrupt, "in a buffer of"));
}

TEST(ArrayPageTest, StringsOfOneWidthAndConstants) {
  const auto flat = wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 8});
  const auto fixed = wire::MakeArrayEncoding(wire::FixedSizeBinaryArray{
      .bytes = wire::MakeArrayEncoding(wire::NoNullsArray{flat}), .byte_width = 2});
  const RowRange rows[] = {{0, 1}, {2, 3}};
  const auto read = Read(FileOf(fixed, 3, {"aabbcc"}), arrow::utf8(), rows);
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE((*read)->Equals(*Values(arrow::utf8(), R"(["aa", "cc"])")));
  const auto constant = wire::MakeArrayEncoding(wire::ConstantArray{std::string("\x05\0", 2)});
  const auto same = ReadAll(FileOf(constant, 3, {}), arrow::int16());
  ASSERT_THAT(same, IsOk());
  EXPECT_TRUE((*same)->Equals(*Values(arrow::int16(), "[5, 5, 5]")));
}

TEST(ArrayPageTest, IndicesOfDictionaryColumnsCountFromZero) {
  const auto items = wire::MakeArrayEncoding(wire::SomeNullsArray{
      wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 1, .buffer = {1}}),
      wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 16, .buffer = {2}})});
  const auto encoding = wire::MakeArrayEncoding(wire::DictionaryArray{
      .indices = wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 32}),
      .items = items,
      .num_items = 3});
  FileOfPage file =
      FileOf(encoding, 4,
             {FromHex("00000000020000000100000000000000"), FromHex("03"), FromHex("070009000000")});
  file.is_dictionary = true;
  const auto read = ReadAll(file, arrow::int16());
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE((*read)->Equals(*Values(arrow::int16(), "[7, null, 9, 7]"))) << (*read)->ToString();
  file.bytes[0] = 3;
  EXPECT_THAT(ReadAll(file, arrow::int16()), IsError(ErrorKind::kCorrupt, "index 3"));
}

TEST(ArrayPageTest, BuffersOfTheColumnAndTheFile) {
  FileOfPage file;
  file.AddBuffer(FromHex("0100020003000400"));
  file.num_slots = 4;
  for (const auto kind : {wire::BufferKind::kColumn, wire::BufferKind::kFile}) {
    file.encoding = wire::Serialize(
        *wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 16, .buffer = {0, kind}}));
    ArraySource source = file.source();
    source.page_buffers = {};
    const LeafPath path = {.layers = {{}}, .type = arrow::int16()};
    EXPECT_THAT(OpenArrayPage(BytesOf(file.encoding), source, path),
                IsError(ErrorKind::kCorrupt, "names buffer 0"));
    (kind == wire::BufferKind::kColumn ? source.column_buffers : source.file_buffers) =
        file.buffers;
    const auto page = OpenArrayPage(BytesOf(file.encoding), source, path);
    ASSERT_THAT(page, IsOk());
    const RowRange all = {0, 4};
    const auto read = Read(**page, file, arrow::int16(), std::span(&all, 1));
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE((*read)->Equals(*Values(arrow::int16(), "[1, 2, 3, 4]")));
  }
}

TEST(ArrayPageTest, WhatIsNotOfTheLeafIsRefused) {
  const auto flat = wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 16});
  const auto of = [&](wire::ArrayPtr encoding, const Type& type) {
    return ReadAll(FileOf(encoding, 2, {std::string(64, '\0')}), type);
  };
  EXPECT_THAT(of(flat, arrow::int32()), IsError(ErrorKind::kCorrupt, "values of 16 bits"));
  EXPECT_THAT(of(wire::MakeArrayEncoding(wire::StructArray{}), arrow::int32()),
              IsError(ErrorKind::kCorrupt, "the header of a struct"));
  EXPECT_THAT(of(wire::MakeArrayEncoding(wire::FixedSizeListArray{2, flat}), arrow::int16()),
              IsError(ErrorKind::kCorrupt, "a fixed-size list where"));
  EXPECT_THAT(of(wire::MakeArrayEncoding(wire::FixedSizeListArray{2, flat}),
                 arrow::fixed_size_list(arrow::int16(), 3)),
              IsError(ErrorKind::kCorrupt, "of 2 items, 3 expected"));
  EXPECT_THAT(of(wire::MakeArrayEncoding(wire::UnknownArray{}), arrow::utf8()),
              IsError(ErrorKind::kUnsupported, "data/a.lance"));
  EXPECT_THAT(of(wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 16, .scheme = "brotli"}),
                 arrow::int16()),
              IsError(ErrorKind::kUnsupported, "brotli"));
}

// An error that names the file, or other values.
void ExpectSafe(const ArrayResult& read, const FileOfPage& file, std::string_view type) {
  if (read.ok()) {
    EXPECT_EQ((*read)->length(), static_cast<int64_t>(file.num_slots));
  } else if (read.status().message().find("Invalid UTF8") == std::string::npos) {
    const auto kind = KindOf(read.status());
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
        << type << read.status().ToString();
    EXPECT_NE(read.status().message().find("data/a.lance"), std::string::npos)
        << read.status().ToString();
  }
}

TEST(ArrayPageTest, FlippedBitsAreSafe) {
  for (const GoldenField& golden : GoldenFields()) {
    const Leaf leaf = LeafOf(golden);
    const size_t of_encoding = leaf.file.encoding.size() * 8;
    const size_t num_bits = of_encoding + leaf.file.bytes.size() * 8;
    for (size_t bit = 0; bit < num_bits; ++bit) {
      FileOfPage damaged = leaf.file;
      const bool in_encoding = bit < of_encoding;
      std::string& where = in_encoding ? damaged.encoding : damaged.bytes;
      const size_t at = in_encoding ? bit : bit - of_encoding;
      where[at / 8] = static_cast<char>(where[at / 8] ^ (1 << (at % 8)));
      ExpectSafe(ReadAll(damaged, leaf.values->type()), damaged, golden.type);
    }
  }
}

TEST(ArrayPageTest, CutBuffersAreSafe) {
  for (const GoldenField& golden : GoldenFields()) {
    const Leaf leaf = LeafOf(golden);
    for (size_t buffer = 0; buffer < leaf.file.buffers.size(); ++buffer) {
      for (uint64_t size = 0; size < leaf.file.buffers[buffer].size; ++size) {
        FileOfPage cut = leaf.file;
        cut.buffers[buffer].size = size;
        EXPECT_THAT(ReadAll(cut, leaf.values->type()), IsError(ErrorKind::kCorrupt, "data/a.lance"))
            << golden.type << " " << buffer << " " << size;
      }
    }
    FileOfPage file = leaf.file;
    if (file.buffers.empty()) continue;
    file.buffers.back().size = file.bytes.size() + 1;
    EXPECT_THAT(ReadAll(file, leaf.values->type()), IsError(ErrorKind::kCorrupt, "in a file of"));
  }
}

TEST(ListPageTest, PylancesOffsetsAreReadAndWritten) {
  for (const GoldenField& golden : GoldenFields()) {
    if (!golden.type.starts_with("list")) continue;
    auto values = Values(TypeNamed(golden.type), golden.json);
    for (size_t column = 0; values->type_id() == arrow::Type::LIST; ++column) {
      const FileOfPage file = FileOf(golden.columns[column]);
      const auto& lists = static_cast<const arrow::ListArray&>(*values);
      const FileOfPage written = FileOf(EncodeArrayLists(*values->data()).ValueOrDie());
      EXPECT_EQ(written.encoding, file.encoding);
      EXPECT_EQ(written.bytes, file.bytes);
      const auto page = ListPage::Open(BytesOf(file.encoding), file.source()).ValueOrDie();
      EXPECT_EQ(page->num_items(), static_cast<uint64_t>(lists.values()->length()));
      for (uint64_t begin = 0; begin < file.num_slots; ++begin) {
        const RowRange rows = {begin, file.num_slots};
        const auto read = page->Read(std::span(&rows, 1));
        ASSERT_THAT(Supply(*read, file), IsOk());
        const auto runs = read->Take().ValueOrDie();
        ASSERT_EQ(runs.size(), 1);
        for (uint64_t i = 0; i < rows.size(); ++i) {
          const auto slot = static_cast<int64_t>(begin + i);
          EXPECT_EQ(runs[0].offsets[i + 1], static_cast<uint64_t>(lists.value_offset(slot + 1)));
          const bool valid = runs[0].validity.empty() || runs[0].validity[i] != 0;
          EXPECT_EQ(valid, lists.IsValid(slot));
        }
      }
      values = lists.values();
    }
  }
}

TEST(ListPageTest, EndsThatDescendOrReachTooFarAreCorrupt) {
  const auto ends = [](std::initializer_list<uint64_t> values) {
    std::string bytes;
    for (const uint64_t value : values) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return bytes;
  };
  const auto read = [&](const std::string& bytes, uint64_t null_adjustment) -> arrow::Status {
    const auto flat = wire::MakeArrayEncoding(wire::FlatArray{.bits_per_value = 64});
    const FileOfPage file =
        FileOf(wire::MakeArrayEncoding(wire::ListArray{flat, null_adjustment, 4}), 3, {bytes});
    ARROW_ASSIGN_OR_RAISE(const auto page, ListPage::Open(BytesOf(file.encoding), file.source()));
    const RowRange all = {0, 3};
    const auto reading = page->Read(std::span(&all, 1));
    ARROW_RETURN_NOT_OK(Supply(*reading, file));
    return reading->Take().status();
  };
  EXPECT_THAT(read(ends({1, 3, 4}), 5), IsOk());
  EXPECT_THAT(read(ends({2, 1, 4}), 5), IsError(ErrorKind::kCorrupt, "end at 1 after 2"));
  EXPECT_THAT(read(ends({2, 3, 10}), 5), IsError(ErrorKind::kCorrupt, "end at 5 after 3"));
  EXPECT_THAT(read(ends({1, 3, 4}), 4), IsError(ErrorKind::kCorrupt, "null adjustment of 4"));
  EXPECT_THAT(read(ends({1, 3}), 5), IsError(ErrorKind::kCorrupt, "in a buffer of 16 bytes"));
}

}  // namespace
}  // namespace glaive::encoding
