#include "encoding/codec/byte_stream_split.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kPage = {"data/a.lance", 64};

arrow::Result<ByteStreamSplitDescription> Describe(uint64_t bits) {
  return ByteStreamSplitDescription::Validate({wire::MakeEncoding(wire::FlatEncoding{bits})},
                                              kPage);
}

TEST(ByteStreamSplitTest, AgreesWithAPlainLoop) {
  std::mt19937_64 random(5);
  for (const uint64_t width : {4, 8}) {
    const auto description = Describe(width * 8).ValueOrDie();
    for (const size_t count : {0, 1, 2, 511, 512, 1024}) {
      std::vector<std::byte> values(count * width);
      for (std::byte& byte : values) byte = static_cast<std::byte>(random());
      std::vector<std::byte> streams(values.size());
      for (size_t i = 0; i < count; ++i) {
        for (size_t byte = 0; byte < width; ++byte) {
          streams[byte * count + i] = values[i * width + byte];
        }
      }
      ASSERT_THAT(description.Check(streams, count, kPage), IsOk());
      std::vector<std::byte> decoded(values.size());
      description.Decode(streams, count, decoded.data());
      EXPECT_EQ(decoded, values);
      EXPECT_THAT(description.Check(streams, count + 1, kPage),
                  IsError(ErrorKind::kCorrupt, "byte-stream split values"));
    }
  }
}

TEST(ByteStreamSplitTest, OnlyWordsOf32And64Bits) {
  EXPECT_THAT(Describe(16), IsError(ErrorKind::kCorrupt, "32 or 64 bits"));
  EXPECT_THAT(Describe(32).ValueOrDie().Check({}, UINT64_MAX, kPage),
              IsError(ErrorKind::kCorrupt, "in 0 bytes"));
}

}  // namespace
}  // namespace glaive::encoding
