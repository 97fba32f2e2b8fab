#include "core/recycling_pool.h"

#include <sys/wait.h>
#include <unistd.h>
#include <cstring>
#include <thread>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

namespace glaive {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

BufferPtr Allocate(int64_t size) {
  return arrow::AllocateBuffer(size, RecyclingPool()).ValueOrDie();
}

TEST(RecyclingPoolTest, MemoryIsUsedAgain) {
  BufferPtr buffer = Allocate(1 << 20);
  const uint8_t* const data = buffer->data();
  buffer.reset();
  EXPECT_GT(RecycledBytes(), 1 << 20);
  EXPECT_EQ(Allocate((1 << 20) - 1000)->data(), data);  // of the same class
  EXPECT_NE(Allocate(1 << 19)->data(), data);
}

TEST(RecyclingPoolTest, ASliceKeepsTheMemoryAndGivesItBack) {
  BufferPtr slice = arrow::SliceBuffer(Allocate(1 << 20), 5, 10);
  const uint64_t pooled = RecycledBytes();
  slice.reset();
  EXPECT_GT(RecycledBytes(), pooled);
}

TEST(RecyclingPoolTest, WhatIsKeptIsBounded) {
  std::vector<BufferPtr> buffers;
  for (int i = 0; i < 20; ++i) buffers.push_back(Allocate(5 << 20));
  buffers.clear();
  EXPECT_LE(RecycledBytes(), kMaxRecycledBytes);
  EXPECT_GE(RecycledBytes(), kMaxRecycledBytes / 2);
  // Other sizes take the room over.
  for (int i = 0; i < 200; ++i) buffers.push_back(Allocate(100 << 10));
  const uint8_t* const last = buffers.back()->data();
  buffers.clear();
  EXPECT_LE(RecycledBytes(), kMaxRecycledBytes);
  EXPECT_EQ(Allocate(100 << 10)->data(), last);
}

// Through sizes that are kept and sizes that are not, up and down.
TEST(RecyclingPoolTest, ABufferThatChangesItsSizeKeepsItsBytes) {
  const int64_t in_use = RecyclingPool()->bytes_allocated();
  auto buffer = arrow::AllocateResizableBuffer(100, RecyclingPool()).ValueOrDie();
  std::memset(buffer->mutable_data(), 7, 100);
  for (const int64_t size :
       {1 << 10, 70 << 10, 71 << 10, 1 << 20, 17 << 20, 3 << 20, 65 << 10, 100}) {
    ASSERT_TRUE(buffer->Resize(size).ok());
    ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0);
    ASSERT_GE(RecyclingPool()->bytes_allocated() - in_use, size);
    for (int64_t at = 0; at < 100; ++at) ASSERT_EQ(buffer->data()[at], 7);
  }
  buffer.reset();
  EXPECT_EQ(RecyclingPool()->bytes_allocated(), in_use);
}

TEST(RecyclingPoolTest, ThreadsShareIt) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int64_t i = 0; i < 300; ++i) {
        const BufferPtr buffer = Allocate((64 << 10) + i * 1000);
        std::memset(buffer->mutable_data(), thread, static_cast<size_t>(buffer->size()));
        for (const int64_t at : {int64_t{0}, buffer->size() - 1}) {
          ASSERT_EQ(buffer->data()[at], thread);
        }
      }
    });
  }
}

TEST(RecyclingPoolTest, AForkedChildBeginsWithNoneAndMayDropItsParentsBuffers) {
  BufferPtr buffer = Allocate(1 << 20);
  Allocate(2 << 20).reset();
  const pid_t child = fork();
  if (child == 0) {
    if (RecycledBytes() != 0) _exit(1);
    buffer.reset();
    _exit(RecycledBytes() > 0 ? 7 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace glaive
