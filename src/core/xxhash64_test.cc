#include "core/xxhash64.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace glaive {
namespace {

uint64_t Hash(std::string_view text) {
  return XxHash64(std::as_bytes(std::span(text.data(), text.size())));
}

// Values of the reference implementation.
TEST(XxHash64Test, MatchesTheReference) {
  EXPECT_EQ(Hash(""), 0xef46db3751d8e999);
  EXPECT_EQ(Hash("a"), 0xd24ec4f1a98c6e5b);
  EXPECT_EQ(Hash("abc"), 0x44bc2cf5ad770999);
  EXPECT_EQ(Hash("0123456789ab"), 0x862e292326b8a4fc);
  EXPECT_EQ(Hash("The quick brown fox jumps over the lazy dog"), 0xb242d361fda71bc);
  EXPECT_EQ(Hash(std::string(100, 'x')), 0x92f0de5a88a3c094);
}

}  // namespace
}  // namespace glaive
