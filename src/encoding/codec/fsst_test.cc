#include "encoding/codec/fsst.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;

constexpr Location kPage = {"data/a.lance", 64};

std::string Table(const std::vector<std::string>& symbols, bool compresses = true) {
  std::string table;
  table += static_cast<char>(symbols.size());
  table += std::string("\0\0", 2);
  table += compresses ? '\x01' : '\0';
  table += "TSSF";
  for (const std::string& symbol : symbols) table += symbol + std::string(8 - symbol.size(), '\0');
  for (const std::string& symbol : symbols) table += static_cast<char>(symbol.size());
  table.resize(FsstTable::kTableBytes, '\0');
  return table;
}

FsstTable Parse(const std::string& table) {
  return FsstTable::Validate(BytesOf(table), kPage).ValueOrDie();
}

std::optional<std::string> Decode(const FsstTable& table, std::string_view hex) {
  const std::string codes = FromHex(hex);
  std::vector<uint8_t> out(codes.size() * FsstTable::kMaxSymbolBytes);
  const auto size = table.Decode(BytesOf(codes), out.data());
  if (!size) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(out.data()), *size);
}

TEST(FsstTest, SymbolsAndEscapes) {
  const FsstTable table = Parse(Table({"lance", "ab", "12345678"}));
  EXPECT_TRUE(table.compresses());
  EXPECT_EQ(Decode(table, ""), "");
  EXPECT_EQ(Decode(table, "0001"), "lanceab");
  EXPECT_EQ(Decode(table, "ff78"), "x");
  EXPECT_EQ(Decode(table, "ffff"), "\xff");
  // Escapes at every place in what is decoded four codes at a time.
  EXPECT_EQ(Decode(table, "01010202ff7801"), "abab1234567812345678xab");
  EXPECT_EQ(Decode(table, "01ff78010101"), "abxababab");
  EXPECT_EQ(Decode(table, "010101ff00010101"), std::string("ababab\0ababab", 13));
}

TEST(FsstTest, UnknownCodesAndLoneEscapesAreRefused) {
  const FsstTable table = Parse(Table({"a", "b"}));
  EXPECT_EQ(Decode(table, "02"), std::nullopt);
  EXPECT_EQ(Decode(table, "0001fe0001"), std::nullopt);
  EXPECT_EQ(Decode(table, "00ff"), std::nullopt);
  EXPECT_EQ(Decode(table, "00010001ff"), std::nullopt);
}

TEST(FsstTest, TablesAreChecked) {
  EXPECT_FALSE(Parse(Table({}, false)).compresses());
  const std::string table = Table({"abc"});
  EXPECT_THAT(FsstTable::Validate(BytesOf(table).first(2311), kPage),
              IsError(ErrorKind::kCorrupt, "2311 bytes; 2312 expected"));
  std::string damaged = table;
  damaged[4] = 'F';
  EXPECT_THAT(FsstTable::Validate(BytesOf(damaged), kPage),
              IsError(ErrorKind::kCorrupt, "without its magic"));
  damaged = table;
  damaged[16] = 9;
  EXPECT_THAT(FsstTable::Validate(BytesOf(damaged), kPage),
              IsError(ErrorKind::kCorrupt, "symbol 0 has a length of 9"));
  // A count of 255 reaches the end of the table.
  damaged = table;
  damaged[0] = '\xff';
  EXPECT_THAT(FsstTable::Validate(BytesOf(damaged), kPage),
              IsError(ErrorKind::kCorrupt, "has a length of 0"));
}

}  // namespace
}  // namespace glaive::encoding
