#include "dataset/handle/byte_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::dataset {
namespace {

struct Value {
  uint64_t bytes;
  uint64_t memory_bytes() const { return bytes; }
};

void Put(ByteCache& cache, const std::string& key, uint64_t bytes, bool holds_file_open = false) {
  cache.Put(key, std::make_shared<Value>(bytes), holds_file_open);
}

bool Has(ByteCache& cache, const std::string& key) { return cache.Get<Value>(key) != nullptr; }

TEST(ByteCacheTest, TheLeastRecentlyUsedGoesFirst) {
  ByteCache cache(100'000, 10);
  Put(cache, "a", 40'000);
  Put(cache, "b", 40'000);
  EXPECT_TRUE(Has(cache, "a"));
  Put(cache, "c", 40'000);
  EXPECT_TRUE(Has(cache, "a"));
  EXPECT_FALSE(Has(cache, "b"));
  EXPECT_TRUE(Has(cache, "c"));
  EXPECT_LE(cache.size_bytes(), 100'000);
}

TEST(ByteCacheTest, AValueThatIsTooLargeIsNotKept) {
  ByteCache cache(1'000, 10);
  Put(cache, "a", 10'000);
  EXPECT_FALSE(Has(cache, "a"));
  EXPECT_EQ(cache.size_bytes(), 0);
}

TEST(ByteCacheTest, WhatGrowsIsMeasuredAgain) {
  ByteCache cache(100'000, 10);
  const auto value = std::make_shared<Value>(10);
  cache.Put("a", value, false);
  Put(cache, "b", 60'000);
  value->bytes = 90'000;
  EXPECT_TRUE(Has(cache, "a"));  // and now there is no room for the other
  EXPECT_FALSE(Has(cache, "b"));
}

TEST(ByteCacheTest, WhatMatchesIsTakenOut) {
  ByteCache cache(100'000, 10);
  for (uint64_t i = 0; i < 6; ++i) Put(cache, std::to_string(i), i, /*holds_file_open=*/true);
  cache.RemoveIf<Value>(
      [](const std::string& key, const Value& value) { return key == "0" || value.bytes > 3; });
  EXPECT_EQ(cache.num_entries(), 3u);
  EXPECT_FALSE(Has(cache, "0"));
  EXPECT_TRUE(Has(cache, "1"));
  EXPECT_FALSE(Has(cache, "4"));
  cache.RemoveIf<Value>([](const std::string&, const Value&) { return true; });
  EXPECT_EQ(cache.size_bytes(), 0u);
}

TEST(ByteCacheTest, FewFilesStayOpen) {
  ByteCache cache(100'000, 2);
  Put(cache, "other", 1);
  for (const char* key : {"a", "b", "c"}) Put(cache, key, 1, /*holds_file_open=*/true);
  EXPECT_FALSE(Has(cache, "a"));
  EXPECT_TRUE(Has(cache, "b"));
  EXPECT_TRUE(Has(cache, "c"));
  EXPECT_TRUE(Has(cache, "other"));
}

TEST(ByteCacheTest, AKeyIsReplaced) {
  ByteCache cache(100'000, 10);
  Put(cache, "a", 50'000);
  Put(cache, "a", 7);
  EXPECT_EQ(cache.Get<Value>("a")->bytes, 7);
  EXPECT_LT(cache.size_bytes(), 1'000);
}

TEST(ByteCacheTest, AForkKeepsWhatWasThere) {
  ByteCache cache(100'000, 10);
  Put(cache, "a", 7);
  const pid_t child = fork();
  if (child == 0) {
    Put(cache, "b", 7);
    _exit(Has(cache, "a") && Has(cache, "b") ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(Has(cache, "b"));
}

TEST(ByteCacheTest, ThreadsShareIt) {
  ByteCache cache(10'000, 3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (uint64_t i = 0; i < 500; ++i) {
        const std::string key = std::to_string((i * 7 + static_cast<uint64_t>(t)) % 50);
        if (!Has(cache, key)) Put(cache, key, i % 1'000, i % 2 == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.size_bytes(), 10'000);
}

}  // namespace
}  // namespace glaive::dataset
