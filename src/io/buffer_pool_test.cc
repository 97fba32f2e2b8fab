#include "io/buffer_pool.h"

#include <sys/wait.h>
#include <unistd.h>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::io {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

BufferPtr Allocate(uint64_t size, uint64_t file_offset = 0) {
  return AllocateReadBuffer(size, file_offset).ValueOrDie();
}

TEST(BufferPoolTest, BuffersAreAlignedAsTheFileIsAndHaveRoomBehind) {
  for (const uint64_t size : {0ull, 1ull, 63ull, 65'000ull, 65'536ull, 1ull << 20, (1ull << 20) + 1,
                              16ull << 20, (16ull << 20) + 1}) {
    for (const uint64_t offset : {0ull, 1ull, 63ull, 64ull, 12'345ull}) {
      const BufferPtr buffer = Allocate(size, offset);
      ASSERT_EQ(static_cast<uint64_t>(buffer->size()), size);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, offset % 64);
      std::memset(buffer->mutable_data(), 1, size + 64);
    }
  }
}

TEST(BufferPoolTest, MemoryIsUsedAgain) {
  BufferPtr buffer = Allocate(1 << 20);
  const uint8_t* const data = buffer->data();
  buffer.reset();
  EXPECT_GT(PooledBytes(), 1 << 20);
  EXPECT_EQ(Allocate((1 << 20) - 1000)->data(), data);  // of the same class
  EXPECT_NE(Allocate(1 << 19)->data(), data);
}

TEST(BufferPoolTest, ASliceKeepsTheMemoryAndGivesItBack) {
  BufferPtr slice = arrow::SliceBuffer(Allocate(1 << 20), 5, 10);
  const uint64_t pooled = PooledBytes();
  slice.reset();
  EXPECT_GT(PooledBytes(), pooled);
}

TEST(BufferPoolTest, WhatIsKeptIsBounded) {
  std::vector<BufferPtr> buffers;
  for (int i = 0; i < 20; ++i) buffers.push_back(Allocate(5 << 20));
  buffers.clear();
  EXPECT_LE(PooledBytes(), kMaxPooledBytes);
  EXPECT_GE(PooledBytes(), kMaxPooledBytes / 2);
  // Other sizes take the room over.
  for (int i = 0; i < 200; ++i) buffers.push_back(Allocate(100 << 10));
  const uint8_t* const last = buffers.back()->data();
  buffers.clear();
  EXPECT_LE(PooledBytes(), kMaxPooledBytes);
  EXPECT_EQ(Allocate(100 << 10)->data(), last);
}

TEST(BufferPoolTest, ThreadsShareIt) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (uint64_t i = 0; i < 300; ++i) {
        const BufferPtr buffer = Allocate((64 << 10) + i * 1000);
        std::memset(buffer->mutable_data(), thread, static_cast<size_t>(buffer->size()));
        for (const int64_t at : {int64_t{0}, buffer->size() - 1}) {
          ASSERT_EQ(buffer->data()[at], thread);
        }
      }
    });
  }
}

TEST(BufferPoolTest, AForkedChildBeginsWithNoneAndMayDropItsParentsBuffers) {
  BufferPtr buffer = Allocate(1 << 20);
  Allocate(2 << 20).reset();
  const pid_t child = fork();
  if (child == 0) {
    if (PooledBytes() != 0) _exit(1);
    buffer.reset();
    _exit(PooledBytes() > 0 ? 7 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace glaive::io
