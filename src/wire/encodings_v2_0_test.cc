#include "wire/encodings_v2_0.h"

#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/golden_arrays.h"
#include "testing/matchers.h"

namespace glaive::wire {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kWhere = {"data/a.lance", 4096};

TEST(ArrayEncodingTest, PylancesMessagesComeBackAsTheyWere) {
  for (const auto& field : glaive::testing::GoldenFields()) {
    for (const auto& column : field.columns) {
      const std::string bytes = FromHex(column.encoding);
      const auto parsed = ParseArrayEncoding(BytesOf(bytes), kWhere);
      ASSERT_THAT(parsed, IsOk()) << field.type;
      EXPECT_EQ(Serialize(**parsed), bytes) << field.type;
    }
  }
}

TEST(ArrayEncodingTest, EveryKindComesBackAsItWas) {
  const auto flat = MakeArrayEncoding(FlatArray{
      .bits_per_value = 8, .buffer = {2, BufferKind::kFile}, .scheme = "zstd", .level = -3});
  const ArrayPtr encodings[] = {
      flat,
      MakeArrayEncoding(NoNullsArray{flat}),
      MakeArrayEncoding(SomeNullsArray{flat, flat}),
      MakeArrayEncoding(AllNullsArray{}),
      MakeArrayEncoding(FixedSizeListArray{7, flat, true}),
      MakeArrayEncoding(ListArray{flat, 9, 8}),
      MakeArrayEncoding(StructArray{}),
      MakeArrayEncoding(BinaryArray{flat, flat, 12}),
      MakeArrayEncoding(DictionaryArray{flat, flat, 3}),
      MakeArrayEncoding(FsstArray{flat, "table"}),
      MakeArrayEncoding(PackedStructArray{{flat, flat}, {1, BufferKind::kColumn}}),
      MakeArrayEncoding(BitpackedArray{3, 32, {4, BufferKind::kPage}, true}),
      MakeArrayEncoding(FixedSizeBinaryArray{flat, 5}),
      MakeArrayEncoding(BitpackedForNonNegArray{3, 32, {4, BufferKind::kPage}}),
      MakeArrayEncoding(ConstantArray{"abcd"}),
  };
  for (const ArrayPtr& encoding : encodings) {
    const std::string bytes = Serialize(*encoding);
    const auto parsed = ParseArrayEncoding(BytesOf(bytes), kWhere);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ((*parsed)->kind.index(), encoding->kind.index());
    EXPECT_EQ(Serialize(**parsed), bytes) << encoding->kind.index();
  }
  const auto read = ParseArrayEncoding(BytesOf(Serialize(*flat)), kWhere).ValueOrDie();
  const auto& as_flat = std::get<FlatArray>(read->kind);
  EXPECT_EQ(as_flat.level, -3);
  EXPECT_EQ(as_flat.buffer, (BufferRef{2, BufferKind::kFile}));
}

TEST(ArrayEncodingTest, UnknownKindsAreNumbered) {
  const auto block = ParseArrayEncoding(BytesOf(FromHex("9201020801")), kWhere).ValueOrDie();
  EXPECT_EQ(std::get<UnknownArray>(block->kind).number, 18);
  const auto empty = ParseArrayEncoding({}, kWhere).ValueOrDie();
  EXPECT_EQ(std::get<UnknownArray>(empty->kind).number, 0);
}

TEST(ArrayEncodingTest, NestingIsLimited) {
  ArrayPtr encoding = MakeArrayEncoding(AllNullsArray{});
  for (int i = 0; i < 40; ++i) encoding = MakeArrayEncoding(NoNullsArray{encoding});
  EXPECT_THAT(ParseArrayEncoding(BytesOf(Serialize(*encoding)), kWhere),
              IsError(ErrorKind::kCorrupt, "nest deeper"));
}

TEST(ArrayEncodingTest, CutsAreErrorsOrOtherMessages) {
  for (const auto& field : glaive::testing::GoldenFields()) {
    const std::string bytes = FromHex(field.columns[0].encoding);
    for (size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_THAT(ParseArrayEncoding(BytesOf(bytes.substr(0, size)), kWhere),
                  IsError(ErrorKind::kCorrupt, "data/a.lance"));
    }
  }
}

}  // namespace
}  // namespace glaive::wire
