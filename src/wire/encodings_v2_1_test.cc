#include "wire/encodings_v2_1.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::wire {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;

constexpr Location kWhere = {"data/a.lance", 4096};

PageLayout Parse(std::string_view hex) {
  return ParsePageLayout(BytesOf(FromHex(hex)), kWhere).ValueOrDie();
}

template <typename Kind>
const Kind& As(const EncodingPtr& encoding) {
  return std::get<Kind>(encoding->kind);
}

// Layouts of pages that pylance 14.0.2 wrote, one for each codec.
constexpr std::string_view kPages[] = {
    // list<int32> in 2.1, then in 2.2
    "0a1c0a040a02081012040a0208101a040a02082032020306380140014804",
    "0a1e0a040a02081012040a0208101a040a020820320203063801400148045001",
    // full-zip strings with nulls; full-zip fixed-size lists of 100 floats
    "1a1510012020280330033a0812060a040a020820420103",
    "1a1a100118e819280230023a0c5a0a086412040a0208201801420103",
    // constants: a value with nulls, lists without a value
    "12092a0103320405000000",
    "12142a0201063a040a02081042040a02081048035003",
    // rle, dictionary of lz4 strings, fixed-size list with item validity
    "0a1a1a0e420c0a040a02082012040a020808320101380248c0025001",
    "0a241a042a0208202210520e0a0208011a0812060a040a0208202802320101380148c8015001",
    "0a1d12040a0208101a0c5a0a080212040a0208101801320103380248035001",
    // zstd around a byte-stream split; out-of-line bit-packed levels; a packed struct
    "0a1c1a10520e0a0208021a084a060a040a020820320101380148b8175001",
    "0a290a0a220808101a040a020801120a220808101a040a0208021a042a020820320201063801400148e012",
    "0a171a0c620a0a02204012040a020860320101380148025001",
};

TEST(EncodingsTest, PylancesLayoutsAreReadAndWrittenToTheByte) {
  for (const std::string_view hex : kPages) {
    const PageLayout layout = Parse(hex);
    EXPECT_FALSE(std::holds_alternative<UnknownLayout>(layout)) << hex;
    EXPECT_EQ(Serialize(layout), FromHex(hex)) << hex;
  }
}

TEST(EncodingsTest, MiniBlockFields) {
  const auto list = std::get<MiniBlockLayout>(Parse(kPages[1]));
  EXPECT_EQ(As<FlatEncoding>(list.rep_compression).bits_per_value, 16);
  EXPECT_EQ(As<FlatEncoding>(list.def_compression).bits_per_value, 16);
  EXPECT_EQ(As<FlatEncoding>(list.value_compression).bits_per_value, 32);
  EXPECT_EQ(list.dictionary, nullptr);
  EXPECT_THAT(list.layers, ElementsAre(RepDefLayer::kNullableItem, RepDefLayer::kNullAndEmptyList));
  EXPECT_EQ(list.num_buffers, 1);
  EXPECT_EQ(list.repetition_index_depth, 1);
  EXPECT_EQ(list.num_items, 4);
  EXPECT_TRUE(list.has_large_chunk);

  const auto strings = std::get<MiniBlockLayout>(Parse(kPages[7]));
  EXPECT_EQ(As<InlineBitpackingEncoding>(strings.value_compression).uncompressed_bits, 32);
  const auto& dictionary = As<GeneralEncoding>(strings.dictionary);
  EXPECT_EQ(dictionary.scheme, CompressionScheme::kLz4);
  EXPECT_FALSE(dictionary.level.has_value());
  EXPECT_EQ(As<FlatEncoding>(As<VariableEncoding>(dictionary.values).offsets).bits_per_value, 32);
  EXPECT_EQ(strings.num_dictionary_items, 2);

  const auto lists = std::get<MiniBlockLayout>(Parse(kPages[8]));
  const auto& fsl = As<FixedSizeListEncoding>(lists.value_compression);
  EXPECT_EQ(fsl.items_per_value, 2);
  EXPECT_TRUE(fsl.has_validity);

  const auto levels = std::get<MiniBlockLayout>(Parse(kPages[10]));
  const auto& packed = As<OutOfLineBitpackingEncoding>(levels.def_compression);
  EXPECT_EQ(packed.uncompressed_bits, 16);
  EXPECT_EQ(As<FlatEncoding>(packed.values).bits_per_value, 2);

  const auto rows = std::get<MiniBlockLayout>(Parse(kPages[11]));
  EXPECT_THAT(As<PackedStructEncoding>(rows.value_compression).bits_per_value, ElementsAre(32, 64));
}

TEST(EncodingsTest, FullZipAndConstantFields) {
  const auto strings = std::get<FullZipLayout>(Parse(kPages[2]));
  EXPECT_EQ(strings.bits_def, 1);
  EXPECT_EQ(strings.bits_per_offset, 32);
  EXPECT_FALSE(strings.bits_per_value.has_value());
  EXPECT_EQ(strings.num_items, 3);
  EXPECT_EQ(strings.num_visible_items, 3);
  EXPECT_EQ(std::get<FullZipLayout>(Parse(kPages[3])).bits_per_value, 3304);

  const auto scalar = std::get<ConstantLayout>(Parse(kPages[4]));
  EXPECT_EQ(scalar.inline_value, FromHex("05000000"));
  EXPECT_EQ(scalar.rep_compression, nullptr);
  const auto none = std::get<ConstantLayout>(Parse(kPages[5]));
  EXPECT_FALSE(none.inline_value.has_value());
  EXPECT_EQ(none.num_rep_values, 3);
  EXPECT_EQ(none.num_def_values, 3);
}

TEST(EncodingsTest, PresentDefaultsAndLevelsSurvive) {
  FullZipLayout full_zip;
  full_zip.bits_per_value = 0;
  full_zip.value_compression = MakeEncoding(ConstantEncoding{std::string()});
  const std::string text = Serialize(full_zip);
  EXPECT_EQ(text, FromHex("1a0818003a041a020a00"));
  MiniBlockLayout mini_block;
  mini_block.value_compression =
      MakeEncoding(GeneralEncoding{CompressionScheme::kZstd, 0, MakeEncoding(FlatEncoding{0})});
  EXPECT_EQ(Serialize(mini_block), FromHex("0a0e1a0c520a0a04080210001a020a00"));
}

TEST(EncodingsTest, BoolsAreVarints) {
  EXPECT_FALSE(std::get<MiniBlockLayout>(Parse("0a03508000")).has_large_chunk);
  EXPECT_TRUE(std::get<MiniBlockLayout>(Parse("0a03508001")).has_large_chunk);
  // The message ends behind the tag; what lies behind it belongs to nobody.
  const auto bytes = std::make_unique<std::byte[]>(3);
  std::memcpy(bytes.get(), "\x0a\x01\x50", 3);
  EXPECT_THAT(ParsePageLayout({bytes.get(), 3}, kWhere), IsError(ErrorKind::kCorrupt, "message"));
}

TEST(EncodingsTest, WhatIsNotKnownIsNamedByItsNumber) {
  EXPECT_EQ(std::get<UnknownLayout>(Parse("2200")).number, 4);
  EXPECT_EQ(std::get<UnknownLayout>(Parse("")).number, 0);
  const auto layout = std::get<MiniBlockLayout>(Parse("0a041a026a00"));
  EXPECT_EQ(As<UnknownEncoding>(layout.value_compression).number, 13);
  // No encoding at all, and one whose nested encoding is missing: never null.
  EXPECT_EQ(As<UnknownEncoding>(std::get<MiniBlockLayout>(Parse("0a00")).value_compression).number,
            0);
  const auto general = std::get<MiniBlockLayout>(Parse("0a041a025200"));
  EXPECT_EQ(As<UnknownEncoding>(As<GeneralEncoding>(general.value_compression).values).number, 0);
  // The compression that a flat buffer could have, but never has.
  EXPECT_THAT(ParsePageLayout(BytesOf(FromHex("0a061a040a021200")), kWhere),
              IsError(ErrorKind::kUnsupported, "flat encoding with a buffer compression"));
}

TEST(EncodingsTest, NestingIsBounded) {
  EncodingPtr nested = MakeEncoding(FlatEncoding{8});
  for (int depth = 0; depth < 31; ++depth) nested = MakeEncoding(ByteStreamSplitEncoding{nested});
  MiniBlockLayout layout;
  layout.value_compression = nested;
  EXPECT_THAT(ParsePageLayout(BytesOf(Serialize(layout)), kWhere), IsOk());
  layout.value_compression = MakeEncoding(ByteStreamSplitEncoding{nested});
  EXPECT_THAT(ParsePageLayout(BytesOf(Serialize(layout)), kWhere),
              IsError(ErrorKind::kCorrupt, "deeper than 32"));
}

TEST(EncodingsTest, EveryPrefixAndBitFlipIsSafe) {
  for (const std::string_view hex : kPages) {
    const std::string message = FromHex(hex);
    for (size_t size = 1; size < message.size(); ++size) {
      EXPECT_THAT(ParsePageLayout(BytesOf(message).first(size), kWhere),
                  IsError(ErrorKind::kCorrupt, "not a valid message"));
    }
    for (size_t bit = 0; bit < message.size() * 8; ++bit) {
      std::string flipped = message;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const auto layout = ParsePageLayout(BytesOf(flipped), kWhere);
      if (layout.ok()) {
        EXPECT_THAT(ParsePageLayout(BytesOf(Serialize(*layout)), kWhere), IsOk());
      }
    }
  }
}

}  // namespace
}  // namespace glaive::wire
