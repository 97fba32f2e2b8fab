#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/faulty_store.h"
#include "testing/golden.h"
#include "testing/latency_store.h"
#include "testing/matchers.h"
#include "testing/recording_store.h"

// The stores that tests put in front of others, tested with the stores they stand before.
namespace glaive::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::shared_ptr<arrow::Buffer>> OnePart(std::string text) {
  return {arrow::Buffer::FromString(std::move(text))};
}

std::string Content(io::ObjectStore& store, const std::string& path) {
  const auto reader = store.OpenRead(path);
  if (!reader.ok()) return "(none)";
  return (*reader)->Read({0, (*reader)->size_bytes()}).ValueOrDie()->ToString();
}

arrow::Status WriteFile(io::ObjectStore& store, const std::string& path, std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(const auto writer, store.OpenWrite(path));
  ARROW_RETURN_NOT_OK(writer->Write(BytesOf(text)));
  return writer->Finish();
}

TEST(FaultyStoreTest, TheCallOfThatNumberFails) {
  const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
  uint64_t call = 0;
  for (;; ++call) {
    store->FailAt(call);
    const arrow::Status status = WriteFile(*store, "/f", "x");
    if (!store->has_failed()) {
      EXPECT_THAT(status, IsOk());
      break;
    }
    EXPECT_THAT(status, IsError(ErrorKind::kIO, "/f"));
    store->Disarm();
    EXPECT_EQ(Content(*store, "/f"), "(none)");
  }
  EXPECT_EQ(call, 3);
  EXPECT_EQ(store->num_calls(), 3);
}

TEST(FaultyStoreTest, AnAnswerMayBeLostAfterTheEffect) {
  const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
  store->FailAt(0, Fault::kAfterEffect);
  EXPECT_THAT(store->PutIfAbsent("/f", OnePart("x"), true), IsError(ErrorKind::kIO, "/f"));
  EXPECT_EQ(Content(*store, "/f"), "x");
  store->FailAt(1, Fault::kBeforeEffect, /*and_later_ones=*/true);
  EXPECT_THAT(store->Head("/f"), IsOk());
  EXPECT_THAT(store->Head("/f"), IsError(ErrorKind::kIO, "/f"));
  EXPECT_THAT(store->List("/"), IsError(ErrorKind::kIO, "/"));
}

TEST(CountingStoreTest, CountsByKindAndCanBeReset) {
  const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
  ASSERT_THAT(WriteFile(*store, "/f", std::string(100'000, 'x')), IsOk());
  ASSERT_THAT(store->PutIfAbsent("/g", OnePart("xy"), false), IsOk());
  EXPECT_EQ(store->stats(),
            (IoStats{.put_requests = 2, .bytes_written = 100'002, .dependent_rounds = 2}));
  store->Reset();
  EXPECT_EQ(store->stats(), IoStats{});
  const auto reader = store->OpenRead("/f", 100'000).ValueOrDie();
  const ByteRange ranges[] = {{0, 10}, {20, 10}, {50'000, 10}};
  ASSERT_THAT(reader->ReadMany(ranges), IsOk());
  ASSERT_THAT(store->ListNames("/"), IsOk());
  EXPECT_EQ(
      store->stats(),
      (IoStats{.get_requests = 2, .list_requests = 1, .bytes_read = 40, .dependent_rounds = 2}));
  ASSERT_EQ(store->requests().size(), 2);
  EXPECT_EQ(store->requests()[0].path, "/f");
  EXPECT_EQ(store->requests()[0].num_requests, 2);
}

TEST(LatencyStoreTest, DelaysRequestsAndNotWhatIsNone) {
  using namespace std::chrono_literals;
  const auto store = std::make_shared<LatencyStore>(
      io::MakeMemoryStore(),
      LatencyOptions{.per_request = 20ms, .stream_bytes_per_second = 1'000'000});
  const auto time = [](auto&& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_GE(time([&] { EXPECT_THAT(store->Put("/f", BytesOf(std::string(20'000, 'x'))), IsOk()); }),
            40ms);
  std::shared_ptr<io::ObjectReader> reader;
  EXPECT_LT(time([&] { reader = store->OpenRead("/f", 20'000).ValueOrDie(); }), 20ms);
  const ByteRange ranges[] = {{0, 10'000}, {10'000, 10'000}};
  EXPECT_GE(time([&] { EXPECT_THAT(reader->ReadMany(ranges), IsOk()); }), 30ms);
}

TEST(RecordingStoreTest, ReplaysWhatACrashLeaves) {
  const auto store = std::make_shared<RecordingStore>(io::MakeMemoryStore());
  ASSERT_THAT(WriteFile(*store, "/data", "rows"), IsOk());
  ASSERT_THAT(store->Put("/other", BytesOf("o")), IsOk());
  const std::string synced[] = {"/data"};
  ASSERT_THAT(store->Sync(synced), IsOk());
  ASSERT_THAT(store->PutIfAbsent("/manifest", OnePart("m"), true), IsOk());
  ASSERT_THAT(store->Delete("/data"), IsOk());
  const std::vector<StoreEffect> log = store->log();
  ASSERT_EQ(log.size(), 5);

  const auto before_sync = Replay(log, 2, Crash::kLosesUnsynced).ValueOrDie();
  EXPECT_THAT(before_sync->ListRecursive("/").ValueOrDie(), IsEmpty());
  const auto torn = Replay(log, 2, Crash::kEmptiesUnsynced).ValueOrDie();
  EXPECT_EQ(Content(*torn, "/data"), "");
  const auto synced_only = Replay(log, 4, Crash::kLosesUnsynced).ValueOrDie();
  EXPECT_EQ(Content(*synced_only, "/data"), "rows");
  EXPECT_EQ(Content(*synced_only, "/manifest"), "m");
  EXPECT_EQ(Content(*synced_only, "/other"), "(none)");
  const auto all = Replay(log, 5, Crash::kKeepsAll).ValueOrDie();
  EXPECT_EQ(Content(*all, "/other"), "o");
  EXPECT_EQ(Content(*all, "/data"), "(none)");
}

}  // namespace
}  // namespace glaive::testing
