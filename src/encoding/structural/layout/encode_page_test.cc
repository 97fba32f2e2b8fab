#include "encoding/structural/layout/encode_page.h"

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/pretty_print.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "encoding/structural/layout/open_page.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/page/decoder.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomValueOptions;
using glaive::testing::RandomValues;
using Pieces = std::vector<std::shared_ptr<arrow::ArrayData>>;
using Type = std::shared_ptr<arrow::DataType>;

std::vector<LeafPath> Leaves(const Type& type) {
  return LeavesOf(*arrow::field("c", type)).ValueOrDie();
}

std::vector<EncodedPage> Encode(const Pieces& pieces, const LeafPath& path, FileVersion version) {
  auto pages = EncodePages(pieces, path, {.version = version, .column_name = "c"});
  EXPECT_THAT(pages, IsOk());
  return pages.ok() ? *std::move(pages) : std::vector<EncodedPage>{};
}

std::vector<EncodedPage> EncodeJson(const Type& type, const std::string& json,
                                    FileVersion version) {
  const auto array = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return Encode({array->data()}, Leaves(type).front(), version);
}

wire::PageLayout LayoutOf(const EncodedPage& page) {
  return wire::ParsePageLayout(testing::BytesOf(page.layout), {"page"}).ValueOrDie();
}

std::string Joined(const std::vector<std::shared_ptr<arrow::Buffer>>& parts) {
  std::string bytes;
  for (const auto& part : parts) bytes += part->ToString();
  return bytes;
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return hex;
}

std::vector<std::string> HexBuffers(const EncodedPage& page) {
  std::vector<std::string> buffers;
  for (const auto& parts : page.buffers) buffers.push_back(Hex(Joined(parts)));
  return buffers;
}

// All of a page's bytes, and how they are cut into pages and buffers.
std::vector<std::string> Everything(const std::vector<EncodedPage>& pages) {
  std::vector<std::string> all;
  for (const EncodedPage& page : pages) {
    all.push_back(std::to_string(page.num_rows) + Hex(page.layout));
    for (const auto& parts : page.buffers) all.push_back(Joined(parts));
  }
  return all;
}

// Reads a page's rows through the decoder, from a file that holds this page alone.
arrow::Status DecodeInto(const EncodedPage& page, const LeafPath& path, FileVersion version,
                         LeafBuilder& builder) {
  std::string file;
  std::vector<ByteRange> buffers;
  for (const auto& parts : page.buffers) {
    const std::string bytes = Joined(parts);
    buffers.push_back({file.size(), bytes.size()});
    file += bytes;
    file.resize((file.size() + 63) / 64 * 64);
  }
  ARROW_ASSIGN_OR_RAISE(const auto decoder, OpenPage({.buffers = buffers,
                                                      .num_rows = page.num_rows,
                                                      .layout = testing::BytesOf(page.layout),
                                                      .version = version,
                                                      .path = "page",
                                                      .file_size = file.size()},
                                                     path));
  const RowRange rows{0, page.num_rows};
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder->Read(std::span(&rows, 1)));
  while (!read->wanted().empty()) {
    std::vector<std::shared_ptr<arrow::Buffer>> supplied;
    for (const ByteRange& range : read->wanted()) {
      supplied.push_back(arrow::Buffer::FromString(file.substr(range.offset, range.size)));
    }
    ARROW_RETURN_NOT_OK(read->Supply(std::move(supplied)));
  }
  return read->DecodeInto(builder);
}

arrow::Result<std::shared_ptr<arrow::Array>> RoundTrip(const Pieces& pieces, const Type& type,
                                                       FileVersion version) {
  std::vector<LeafRows> leaves;
  for (const LeafPath& path : Leaves(type)) {
    LeafBuilder builder(path);
    for (const EncodedPage& page : Encode(pieces, path, version)) {
      ARROW_RETURN_NOT_OK(DecodeInto(page, path, version, builder));
    }
    ARROW_ASSIGN_OR_RAISE(leaves.emplace_back(), std::move(builder).Finish());
  }
  return AssembleField(*arrow::field("c", type), std::move(leaves));
}

void ExpectRoundTrip(const std::shared_ptr<arrow::ArrayData>& rows, const std::string& what) {
  for (const FileVersion version : {FileVersion::k2_1, FileVersion::k2_2}) {
    const auto read = RoundTrip({rows}, rows->type, version);
    ASSERT_THAT(read, IsOk()) << what;
    const auto expected = arrow::MakeArray(rows);
    ASSERT_TRUE((*read)->Equals(*expected)) << what << "\n" << expected->Diff(**read);
  }
}

const std::vector<Type>& AllTypes() {
  using namespace arrow;
  static const std::vector<Type> types = [] {
    const auto pair = struct_({field("a", int32()), field("b", utf8())});
    return std::vector<Type>{
        int8(),
        int16(),
        int32(),
        int64(),
        uint8(),
        uint16(),
        uint32(),
        uint64(),
        float16(),
        float32(),
        float64(),
        boolean(),
        decimal128(12, 3),
        decimal256(60, 5),
        date32(),
        timestamp(TimeUnit::MICRO),
        fixed_size_binary(16),
        fixed_size_binary(300),
        utf8(),
        binary(),
        large_utf8(),
        large_binary(),
        null(),
        fixed_size_list(float32(), 4),
        fixed_size_list(fixed_size_list(int16(), 2), 3),
        fixed_size_list(int64(), 40),
        list(int32()),
        large_list(utf8()),
        list(list(int16())),
        list(boolean()),
        list(fixed_size_list(float32(), 3)),
        list(pair),
        pair,
        struct_({field("a", struct_({field("x", int64()), field("y", boolean())}))}),
        struct_({field("a", list(int32())), field("b", utf8())}),
        list(struct_({field("a", large_list(struct_({field("b", uint8())})))})),
        list(null())};
  }();
  return types;
}

TEST(PageEncoderTest, EveryTypeAndShapeComesBack) {
  uint64_t seed = 0;
  for (const Type& type : AllTypes()) {
    for (const double nulls : {0.0, 0.2, 1.0}) {
      for (const uint64_t distinct : {0, 1, 5}) {
        for (const int64_t rows : {0, 1, 2, 1023, 1024, 1025, 5000}) {
          RandomValues random({.nulls = nulls, .distinct = distinct}, ++seed);
          ExpectRoundTrip(random.Make(type, rows),
                          type->ToString() + " nulls " + std::to_string(nulls) + " distinct " +
                              std::to_string(distinct) + " rows " + std::to_string(rows));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(PageEncoderTest, LongValuesComeBack) {
  for (const Type& type : {arrow::utf8(), arrow::large_binary(), arrow::list(arrow::binary())}) {
    for (const int64_t max_length : {254, 256, 3000}) {
      RandomValues random({.max_length = max_length}, 5);
      ExpectRoundTrip(random.Make(type, 300), type->ToString());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(PageEncoderTest, LongTextIsCompressedAndNoiseIsNot) {
  for (const Type& type : {arrow::utf8(), arrow::large_binary(), arrow::list(arrow::utf8())}) {
    for (const bool text : {true, false}) {
      RandomValues random({.max_length = 3000, .distinct = text ? uint64_t{2} : 0}, 5);
      const auto rows = random.Make(type, 300);
      const auto pages = Encode({rows}, Leaves(type).front(), FileVersion::k2_2);
      const auto layout = std::get<wire::FullZipLayout>(LayoutOf(pages.at(0)));
      EXPECT_EQ(std::holds_alternative<wire::GeneralEncoding>(layout.value_compression->kind),
                text);
      ExpectRoundTrip(rows, type->ToString());
      const auto cut = Encode({rows->Slice(0, 77), rows->Slice(77, 223)}, Leaves(type).front(),
                              FileVersion::k2_2);
      EXPECT_EQ(Everything(cut), Everything(pages));
    }
  }
}

// What is no bytes at all must be so to every reader of the format.
TEST(PageEncoderTest, Lz4IsOnlyForTextWithoutEmptyValues) {
  const LeafPath path = Leaves(arrow::utf8()).front();
  const auto scheme_of = [&](const std::string& odd) {
    std::string json = "[";
    for (size_t i = 0; i < 100; ++i) json += '"' + std::string(1000 + i, 'x') + "\",";
    const auto rows =
        arrow::json::ArrayFromJSONString(arrow::utf8(), json + odd + "]").ValueOrDie()->data();
    ExpectRoundTrip(rows, odd);
    const auto pages = Encode({rows}, path, FileVersion::k2_2);
    const auto layout = std::get<wire::FullZipLayout>(LayoutOf(pages.at(0)));
    return std::get<wire::GeneralEncoding>(layout.value_compression->kind).scheme;
  };
  EXPECT_EQ(scheme_of(R"("y")"), wire::CompressionScheme::kLz4);
  EXPECT_EQ(scheme_of(R"("")"), wire::CompressionScheme::kZstd);
  EXPECT_EQ(scheme_of("null"), wire::CompressionScheme::kZstd);
}

TEST(PageEncoderTest, CuttingTheRowsLeavesNoTrace) {
  for (const Type& type : AllTypes()) {
    for (const double nulls : {0.0, 0.3}) {
      for (const uint64_t distinct : {0, 7}) {
        RandomValues random({.nulls = nulls, .distinct = distinct}, 17);
        const auto rows = random.Make(type, 3000);
        for (const LeafPath& path : Leaves(type)) {
          const auto whole = Everything(Encode({rows}, path, FileVersion::k2_2));
          for (const int64_t step : {1, 100, 1024, 1999}) {
            Pieces pieces;
            for (int64_t at = 0; at < rows->length; at += step) {
              pieces.push_back(rows->Slice(at, std::min(step, rows->length - at)));
            }
            ASSERT_EQ(Everything(Encode(pieces, path, FileVersion::k2_2)), whole)
                << type->ToString() << " in pieces of " << step;
          }
        }
      }
    }
  }
}

// Two arrays with the same values, of which one has other things behind its nulls.
TEST(PageEncoderTest, WhatIsHiddenBehindNullsIsNotStored) {
  const auto offsets = [](std::vector<int32_t> values) {
    return arrow::Buffer::FromVector(std::move(values));
  };
  const auto numbers = [](std::vector<int32_t> values) {
    const auto length = static_cast<int64_t>(values.size());
    return arrow::ArrayData::Make(arrow::int32(), length,
                                  {nullptr, arrow::Buffer::FromVector(std::move(values))}, 0);
  };
  const auto validity = arrow::Buffer::FromString(std::string(1, '\5'));
  const auto type = arrow::list(arrow::int32());
  const auto clean =
      arrow::ArrayData::Make(type, 3, {validity, offsets({0, 2, 2, 3})}, {numbers({1, 2, 3})}, 1);
  const auto hiding = arrow::ArrayData::Make(type, 3, {validity, offsets({1, 3, 5, 6})},
                                             {numbers({9, 1, 2, 8, 8, 3})}, 1);
  const LeafPath path = Leaves(type).front();
  EXPECT_EQ(Everything(Encode({hiding}, path, FileVersion::k2_2)),
            Everything(Encode({clean}, path, FileVersion::k2_2)));
  const auto value = [&](int32_t hidden) {
    return arrow::ArrayData::Make(
        arrow::int32(), 3, {validity, arrow::Buffer::FromVector<int32_t>({4, hidden, 6})}, 1);
  };
  const LeafPath flat = Leaves(arrow::int32()).front();
  EXPECT_EQ(Everything(Encode({value(77)}, flat, FileVersion::k2_2)),
            Everything(Encode({value(-1)}, flat, FileVersion::k2_2)));
}

// The pages that pylance 14.0.2 writes for these values.
TEST(PageEncoderGoldenTest, MiniBlockOfLists) {
  const auto pages =
      EncodeJson(arrow::list(arrow::int32()), "[[1, 2], null, [], [null, 4]]", FileVersion::k2_1);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(HexBuffers(pages[0]), (std::vector<std::string>{"6000",
                                                            "06000c000c001000"
                                                            "010000000100010001000000fefefefe"
                                                            "000000000200030001000000fefefefe"
                                                            "01000000020000000000000004000000",
                                                            "04000000000000000000000000000000"}));
}

TEST(PageEncoderGoldenTest, MiniBlockOfNumbers) {
  const auto old = EncodeJson(arrow::int32(), "[1, 2, 3, 4]", FileVersion::k2_1);
  EXPECT_EQ(Hex(old.at(0).layout), "0a0d1a040a02082032010138014804");
  const auto current = EncodeJson(arrow::int32(), "[1, 2, 3, 4]", FileVersion::k2_2);
  EXPECT_EQ(Hex(current.at(0).layout), "0a0f1a040a020820320101380148045001");
  EXPECT_EQ(
      HexBuffers(current[0]),
      (std::vector<std::string>{"20000000", "000010000000fefe01000000020000000300000004000000"}));
}

TEST(PageEncoderGoldenTest, FullZipOfStrings) {
  const std::string a(300, 'a');
  const auto pages = EncodeJson(arrow::utf8(), "[\"" + a + "\", null, \"bbb\"]", FileVersion::k2_1);
  EXPECT_EQ(HexBuffers(pages.at(0)), (std::vector<std::string>{"00"
                                                               "2c010000" +
                                                                   Hex(a) +
                                                                   "01"
                                                                   "00"
                                                                   "03000000"
                                                                   "626262",
                                                               "00003101"
                                                               "32013a01"}));
}

TEST(PageEncoderGoldenTest, FullZipOfListsOfStrings) {
  const std::string a(300, 'a');
  const auto pages = EncodeJson(arrow::list(arrow::utf8()),
                                "[[\"" + a + "\", null], null, [], [\"b\"]]", FileVersion::k2_1);
  EXPECT_EQ(HexBuffers(pages.at(0)), (std::vector<std::string>{"04"
                                                               "2c010000" +
                                                                   Hex(a) +
                                                                   "01"
                                                                   "06"
                                                                   "07"
                                                                   "04"
                                                                   "01000000"
                                                                   "62",
                                                               "0000"
                                                               "3201"
                                                               "3301"
                                                               "3401"
                                                               "3a01"}));
}

TEST(PageEncoderGoldenTest, Constants) {
  const auto numbers = EncodeJson(arrow::int32(), "[5, null, 5]", FileVersion::k2_2);
  EXPECT_EQ(std::get<wire::ConstantLayout>(LayoutOf(numbers.at(0))).inline_value,
            std::string("\5\0\0\0", 4));
  EXPECT_EQ(HexBuffers(numbers[0]), (std::vector<std::string>{"", "000001000000"}));

  const auto strings = EncodeJson(arrow::utf8(), R"(["hi", "hi"])", FileVersion::k2_2);
  EXPECT_EQ(HexBuffers(strings.at(0)), (std::vector<std::string>{"020000000800000002000000"
                                                                 "0000000002000000"
                                                                 "6869"}));

  const auto nulls = EncodeJson(arrow::int32(), "[null, null]", FileVersion::k2_1);
  EXPECT_TRUE(nulls.at(0).buffers.empty());
  EXPECT_EQ(std::get<wire::ConstantLayout>(LayoutOf(nulls[0])).layers,
            std::vector{wire::RepDefLayer::kNullableItem});
}

TEST(PageEncoderGoldenTest, Runs) {
  std::vector<int32_t> values(300, 9);
  values.insert(values.end(), 20, 7);
  const auto rows = arrow::ArrayData::Make(
      arrow::int32(), 320, {nullptr, arrow::Buffer::FromVector(std::move(values))}, 0);
  const auto pages = Encode({rows}, Leaves(arrow::int32()).front(), FileVersion::k2_1);
  EXPECT_EQ(HexBuffers(pages.at(0)).at(1),
            "00000c000300fefe"
            "090000000900000007000000fefefefe"
            "ff2d14fefefefefe");
}

std::shared_ptr<arrow::ArrayData> Lists(const std::vector<int32_t>& lengths,
                                        std::shared_ptr<arrow::ArrayData> items) {
  std::vector<int32_t> offsets = {0};
  for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
  const auto type = arrow::list(items->type);
  return arrow::ArrayData::Make(type, static_cast<int64_t>(lengths.size()),
                                {nullptr, arrow::Buffer::FromVector(std::move(offsets))},
                                {std::move(items)}, 0);
}

// Between two values lie more entries than a chunk may have, so that only the page can end there.
TEST(PageEncoderTest, SparseListsBecomeSeveralSmallPages) {
  std::vector<int32_t> lengths(1'000'000);
  for (size_t i = 5'000; i < lengths.size(); i += 10'000) lengths[i] = 2;
  RandomValues random({.nulls = 0}, 6);
  const auto rows = Lists(lengths, random.Make(arrow::int64(), 200));
  const auto pages = Encode({rows}, Leaves(rows->type).front(), FileVersion::k2_2);
  EXPECT_GT(pages.size(), 10u);
  EXPECT_LT(pages.size(), 100u);
  uint64_t size = 0;
  for (const EncodedPage& page : pages) size += page.size_bytes();
  EXPECT_LT(size, 40'000u);
  ExpectRoundTrip(rows, "sparse lists");
  const auto cut = Encode({rows->Slice(0, 123'456), rows->Slice(123'456, 876'544)},
                          Leaves(rows->type).front(), FileVersion::k2_2);
  EXPECT_EQ(Everything(cut), Everything(pages));
}

TEST(PageEncoderTest, ListsWithoutAnyItemAreOnePage) {
  RandomValues random({}, 6);
  const auto rows = Lists(std::vector<int32_t>(500'000), random.Make(arrow::int64(), 0));
  const auto pages = Encode({rows}, Leaves(rows->type).front(), FileVersion::k2_2);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_LT(pages[0].size_bytes(), 20'000u);
  ExpectRoundTrip(rows, "empty lists");
}

// One row passes what a chunk can hold: it alone is zipped, its neighbours are not.
TEST(PageEncoderTest, ASparseRowGetsAPageOfItsOwn) {
  std::vector<int32_t> inner(200'000);
  inner[100'000] = 1;
  for (const Type& type : {arrow::int32(), arrow::boolean(), arrow::utf8()}) {
    RandomValues random({.nulls = 0}, 8);
    const auto rows = Lists({0, 3, 1, 199'990, 2, 4}, Lists(inner, random.Make(type, 1)));
    const auto pages = Encode({rows}, Leaves(rows->type).front(), FileVersion::k2_1);
    ASSERT_EQ(pages.size(), 3u);
    EXPECT_EQ(pages[0].num_rows, 3u);
    EXPECT_EQ(pages[1].num_rows, 1u);
    EXPECT_TRUE(std::holds_alternative<wire::FullZipLayout>(LayoutOf(pages[1])));
    ExpectRoundTrip(rows, type->ToString());
  }
}

TEST(PageEncoderTest, LongListsDoNotPayForTheirLevels) {
  RandomValues random({.nulls = 0}, 9);
  const auto rows = Lists(std::vector<int32_t>(20, 20'000), random.Make(arrow::int16(), 400'000));
  const auto pages = Encode({rows}, Leaves(rows->type).front(), FileVersion::k2_2);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_LT(pages[0].size_bytes(), 2 * 400'000 * 102 / 100);
}

TEST(PageEncoderTest, LayoutsFollowTheValues) {
  const auto encode = [](const Type& type, RandomValueOptions options, int64_t rows) {
    options.nulls = 0;
    RandomValues random(options, 21);
    return LayoutOf(
        Encode({random.Make(type, rows)}, Leaves(type).front(), FileVersion::k2_2).at(0));
  };
  const auto mini = [](const wire::PageLayout& layout) {
    return std::get<wire::MiniBlockLayout>(layout);
  };
  const auto packed = mini(encode(arrow::int64(), {.distinct = 1000}, 50));
  EXPECT_TRUE(
      std::holds_alternative<wire::FlatEncoding>(packed.value_compression->kind));  // too few
  EXPECT_TRUE(std::holds_alternative<wire::InlineBitpackingEncoding>(
      mini(encode(arrow::int64(), {.distinct = 1000}, 5000)).value_compression->kind));
  EXPECT_EQ(mini(encode(arrow::fixed_size_binary(16), {.distinct = 9}, 5000)).num_dictionary_items,
            9u);
  EXPECT_EQ(mini(encode(arrow::fixed_size_binary(16), {}, 5000)).num_dictionary_items, 0u);
  EXPECT_EQ(encode(arrow::fixed_size_list(arrow::float32(), 64), {}, 9).index(),
            encode(arrow::fixed_size_binary(256), {}, 9).index());
  EXPECT_TRUE(std::holds_alternative<wire::FullZipLayout>(
      encode(arrow::fixed_size_list(arrow::float32(), 64), {}, 9)));
  EXPECT_TRUE(std::holds_alternative<wire::MiniBlockLayout>(
      encode(arrow::fixed_size_list(arrow::float32(), 63), {}, 9)));
}

TEST(PageEncoderTest, TypesWithoutAnEncoderAreNamed) {
  const Type type = arrow::fixed_size_list(arrow::boolean(), 3);
  RandomValues random({}, 1);
  const auto rows = random.Make(type, 5);
  EXPECT_THAT(EncodePages(Pieces{rows}, Leaves(type).front(), {.column_name = "c"}),
              IsError(ErrorKind::kUnsupported, "fixed-size lists of bool"));
}

}  // namespace
}  // namespace glaive::encoding
