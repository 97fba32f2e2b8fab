#include "file/page_description.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden_file.h"
#include "testing/matchers.h"
#include "wire/encodings_v2_0.h"
#include "wire/encodings_v2_1.h"

namespace glaive::file {
namespace {

using wire::MakeEncoding;

std::string Described(const wire::PageLayout& layout, size_t num_buffers = 0) {
  return DescribePage({.buffers = std::vector<ByteRange>(num_buffers),
                       .encoding = {"/lance.encodings21.PageLayout", wire::Serialize(layout)}});
}

TEST(PageDescriptionTest, PylancesPages) {
  const std::string file = testing::GoldenFile();
  const auto page_of = [&](size_t begin, size_t end) {
    const auto message = testing::BytesOf(file).subspan(begin, end - begin);
    return wire::ParseColumnMetadata(message, {"f", begin}).ValueOrDie().pages[0];
  };
  EXPECT_EQ(DescribePage(page_of(testing::kColumn0Offset, testing::kColumn1Offset)),
            "MiniBlock(Flat(32), def Flat(16))");
  EXPECT_EQ(DescribePage(page_of(testing::kColumn1Offset, testing::kColumnTableOffset)),
            "MiniBlock(Variable(Flat(32)), def Flat(16))");
}

TEST(PageDescriptionTest, EveryLayoutHasWords) {
  const auto flat = MakeEncoding(wire::FlatEncoding{32});
  EXPECT_EQ(Described(wire::MiniBlockLayout{
                .rep_compression = MakeEncoding(wire::InlineBitpackingEncoding{16}),
                .value_compression = MakeEncoding(wire::InlineBitpackingEncoding{8}),
                .dictionary = MakeEncoding(wire::VariableEncoding{flat}),
                .num_dictionary_items = 20,
                .num_buffers = 1}),
            "MiniBlock(InlineBitpacking(8), rep InlineBitpacking(16), dictionary 20 of "
            "Variable(Flat(32)))");
  EXPECT_EQ(Described(wire::FullZipLayout{
                .bits_def = 1, .bits_per_value = 1024, .value_compression = flat}),
            "FullZip(Flat(32), def 1 bits)");
  EXPECT_EQ(Described(wire::ConstantLayout{.inline_value = "12345678"}), "Constant(8 bytes)");
  EXPECT_EQ(Described(wire::ConstantLayout{}, 0), "Constant(null)");
  EXPECT_EQ(Described(wire::ConstantLayout{}, 1), "Constant(value in a buffer)");
  EXPECT_EQ(Described(wire::ConstantLayout{}, 2), "Constant(null, levels)");
  EXPECT_EQ(Described(wire::ConstantLayout{}, 3), "Constant(value in a buffer, levels)");
}

TEST(PageDescriptionTest, DamagedPagesAreSaidToBe) {
  EXPECT_EQ(DescribePage({.encoding = {"/lance.encodings21.PageLayout", "\xff"}}), "Unreadable");
}

TEST(PageDescriptionTest, PagesOfArrays) {
  const auto described = [](const wire::ArrayPtr& encoding) {
    return DescribePage(
        {.encoding = {"/lance.encodings.ArrayEncoding", wire::Serialize(*encoding)}});
  };
  const auto flat = [](uint64_t bits, std::string scheme = "") {
    return wire::MakeArrayEncoding(
        wire::FlatArray{.bits_per_value = bits, .scheme = std::move(scheme)});
  };
  const auto binary = wire::MakeArrayEncoding(
      wire::BinaryArray{wire::MakeArrayEncoding(wire::NoNullsArray{flat(64)}), flat(8, "zstd"), 9});
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::SomeNullsArray{flat(1), flat(32)})),
            "Nullable(Flat(32))");
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::AllNullsArray{})), "Nulls");
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::ListArray{flat(64), 8, 7})),
            "List(Flat(64), 7 items)");
  EXPECT_EQ(described(binary), "Binary(Flat(64), Flat(8, zstd))");
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::DictionaryArray{flat(8), binary, 3})),
            "Dictionary(Flat(8), 3 of Binary(Flat(64), Flat(8, zstd)))");
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::FixedSizeListArray{4, flat(32)})),
            "FixedSizeList(4 of Flat(32))");
  EXPECT_EQ(described(wire::MakeArrayEncoding(wire::StructArray{})), "Struct");
}

}  // namespace
}  // namespace glaive::file
