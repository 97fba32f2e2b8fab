#include "io/request_counter.h"

#include <optional>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace glaive::io {
namespace {

using testing::BytesOf;
using testing::IsOk;
using testing::TemporaryFolder;

TEST(RequestCounterTest, RequestsInFlightTogetherAreOneRound) {
  RequestCounter counter;
  {
    const RequestCounter::InFlight first(counter, RequestKind::kGet);
    const RequestCounter::InFlight second(counter, RequestKind::kGet, 5);
  }
  EXPECT_EQ(counter.stats().dependent_rounds, 1);
  EXPECT_EQ(counter.stats().get_requests, 6);
  std::optional<RequestCounter::InFlight> slow;
  slow.emplace(counter, RequestKind::kGet);  // sets out in round 2
  for (int i = 0; i < 2; ++i) {
    const RequestCounter::InFlight quick(counter, RequestKind::kHead);  // rounds 2 and 3
  }
  slow.reset();
  EXPECT_EQ(counter.stats().dependent_rounds, 3);
}

TEST(IoRecorderTest, CountsWhatStoresAreAsked) {
  const TemporaryFolder folder;
  const std::shared_ptr<ObjectStore> stores[] = {LocalStore(), MakeMemoryStore()};
  for (const auto& store : stores) {
    const std::string path = folder.path() + "/f";
    const IoRecorder recorder;
    ASSERT_THAT(store->Put(path, BytesOf(std::string(100'000, 'x'))), IsOk());
    const auto reader = store->OpenRead(path, 100'000).ValueOrDie();
    EXPECT_EQ(recorder.stats(),
              (IoStats{.put_requests = 1, .bytes_written = 100'000, .dependent_rounds = 1}));
    const IoRecorder reads;
    ASSERT_THAT(reader->Read({0, 10}), IsOk());
    const ByteRange ranges[] = {{0, 10}, {20, 10}, {50'000, 10}};
    ASSERT_THAT(reader->ReadMany(ranges), IsOk());
    EXPECT_EQ(reads.stats(),
              (IoStats{.get_requests = 3, .bytes_read = 10 + 30 + 10, .dependent_rounds = 2}));
    const IoRecorder others;
    ASSERT_THAT(store->OpenRead(path), IsOk());
    ASSERT_THAT(store->Head(path), IsOk());
    ASSERT_THAT(store->List(folder.path()), IsOk());
    ASSERT_THAT(store->Delete(path), IsOk());
    EXPECT_EQ(others.stats().requests(), 4);
    EXPECT_EQ(others.stats().head_requests, 2);
    EXPECT_EQ(others.stats().dependent_rounds, 4);
  }
}

}  // namespace
}  // namespace glaive::io
