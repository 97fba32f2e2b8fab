#include "io/read_buffer.h"

#include <cstring>

#include <gtest/gtest.h>

namespace glaive::io {
namespace {

TEST(ReadBufferTest, BuffersAreAlignedAsTheFileIsAndHaveRoomBehind) {
  for (const uint64_t size : {0ull, 1ull, 63ull, 65'000ull, 65'536ull, 1ull << 20, (1ull << 20) + 1,
                              16ull << 20, (16ull << 20) + 1}) {
    for (const uint64_t offset : {0ull, 1ull, 63ull, 64ull, 12'345ull}) {
      const auto buffer = AllocateReadBuffer(size, offset).ValueOrDie();
      ASSERT_EQ(static_cast<uint64_t>(buffer->size()), size);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, offset % 64);
      std::memset(buffer->mutable_data(), 1, size + 64);
    }
  }
}

}  // namespace
}  // namespace glaive::io
