#include "table/packed_file_name.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace glaive::table {
namespace {

std::string RandomName(std::mt19937& random) {
  std::string name;
  for (int i = 0; i < 24; ++i) name += "01"[random() % 2];
  for (int i = 0; i < 26; ++i) name += "0123456789abcdef"[random() % 16];
  return name + ".lance";
}

std::string Unpacked(const PackedFileName& packed) {
  std::string name(kFileNameSize, '\0');
  UnpackFileName(packed, name.data());
  return name;
}

TEST(PackedFileNameTest, ANameComesBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = RandomName(random);
    PackedFileName packed;
    ASSERT_TRUE(PackFileName(name, packed)) << name;
    EXPECT_EQ(Unpacked(packed), name);
  }
  const std::string known =
      "000000010000001000000011"
      "0405060708090a0b0c0d0e0fff"
      ".lance";
  PackedFileName packed;
  ASSERT_TRUE(PackFileName(known, packed));
  for (uint8_t i = 0; i < 15; ++i) EXPECT_EQ(packed[i], i + 1);
  EXPECT_EQ(packed[15], 0xff);
}

// Every byte value at every place: either the name comes back, or it is not packed.
TEST(PackedFileNameTest, NoOtherNameIsPacked) {
  std::mt19937 random(2);
  const std::string name = RandomName(random);
  for (size_t place = 0; place < name.size(); ++place) {
    const std::string_view digits =
        place < 24 ? "01" : (place < 50 ? "0123456789abcdef" : std::string_view(&name[place], 1));
    for (int byte = 0; byte < 256; ++byte) {
      std::string other = name;
      other[place] = static_cast<char>(byte);
      PackedFileName packed;
      const bool is_packed = PackFileName(other, packed);
      EXPECT_EQ(is_packed, digits.find(other[place]) != std::string_view::npos) << other;
      if (is_packed) {
        EXPECT_EQ(Unpacked(packed), other);
      }
    }
  }
  PackedFileName packed;
  EXPECT_FALSE(PackFileName("", packed));
  EXPECT_FALSE(PackFileName(name.substr(1), packed));
  EXPECT_FALSE(PackFileName("0" + name, packed));
}

}  // namespace
}  // namespace glaive::table
