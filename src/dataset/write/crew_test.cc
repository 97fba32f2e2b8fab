#include "dataset/write/crew.h"

#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

TEST(WriteCrewTest, AJobThatThrowsHasFailed) {
  WriteCrew crew(2, nullptr, {});
  crew.Start([] { return arrow::Status::OK(); });
  crew.Start([]() -> arrow::Status { throw std::bad_alloc(); });
  EXPECT_THAT(crew.WaitForAtMost(0), IsError(ErrorKind::kCancelled, ""));
  crew.Stop();
  ASSERT_EQ(crew.FirstFailed(), 1u);
  EXPECT_THAT(crew.results()[1], IsError(ErrorKind::kOutOfMemory, "no memory"));
}

// What it threw with had a turn to compute, which others need.
TEST(WriteCrewTest, ItsTurnIsGivenBack) {
  WriteCrew crew(1, nullptr, {});
  crew.Start([]() -> arrow::Status { throw std::length_error("too long"); });
  EXPECT_THAT(crew.WaitForAtMost(0), IsError(ErrorKind::kCancelled, ""));
  crew.Stop();
  EXPECT_THAT(crew.results()[0], IsError(ErrorKind::kInternal, "too long"));
  const WriteCrew::Turn turn(crew);
}

}  // namespace
}  // namespace glaive::dataset
