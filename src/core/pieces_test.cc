#include "core/pieces.h"

#include <vector>

#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using ::testing::ElementsAre;
using testing::IsError;
using testing::IsOk;

// Things that take so many bytes each, of which a piece may take `limit`.
struct Things {
  std::vector<uint64_t> bytes;
  uint64_t limit;
  std::vector<uint64_t> sizes = {};  // of the pieces that were done
  size_t num_failed = 0;

  arrow::Status Do(Piece piece) {
    uint64_t total = 0;
    for (uint64_t i = 0; i < piece.size; ++i) total += bytes[piece.begin + i];
    if (total > limit && !piece.is_single()) {
      ++num_failed;
      return TooLarge("{} bytes", total);
    }
    sizes.push_back(piece.size);
    return arrow::Status::OK();
  }
};

TEST(PiecesTest, AreAsLargeAsIsExpectedToFit) {
  Things things{std::vector<uint64_t>(10, 1), 100};
  Pieces pieces(10, [](uint64_t) { return 4; });
  while (!pieces.at_end()) {
    ASSERT_THAT(pieces.Next([&](Piece piece) { return things.Do(piece); }), IsOk());
  }
  EXPECT_THAT(things.sizes, ElementsAre(4, 4, 2));
}

TEST(PiecesTest, AreSmallerWhereMoreComesOfThem) {
  Things things{std::vector<uint64_t>(20, 10), 50};
  Pieces pieces(20, [](uint64_t) { return 1000; });
  while (!pieces.at_end()) {
    ASSERT_THAT(pieces.Next([&](Piece piece) { return things.Do(piece); }), IsOk());
  }
  // 20, then 10 fail; those behind begin with what did not.
  EXPECT_THAT(things.sizes, ElementsAre(5, 5, 5, 5));
  EXPECT_EQ(things.num_failed, 2u);
}

TEST(PiecesTest, AskAgainAfterAFailure) {
  Things things{std::vector<uint64_t>(100, 10), 50};
  Pieces pieces(100, [&](uint64_t) { return things.num_failed == 0 ? 100 : 3; });
  ASSERT_THAT(pieces.Next([&](Piece piece) { return things.Do(piece); }), IsOk());
  EXPECT_THAT(things.sizes, ElementsAre(3));
  EXPECT_EQ(things.num_failed, 1u);
}

TEST(PiecesTest, AThingByItselfIsDoneWhateverItTakes) {
  Things things{{1, 1000, 1, 1000}, 50};
  Pieces pieces(4, [](uint64_t) { return 4; });
  while (!pieces.at_end()) {
    ASSERT_THAT(pieces.Next([&](Piece piece) { return things.Do(piece); }), IsOk());
  }
  EXPECT_THAT(things.sizes, ElementsAre(1, 1, 1, 1));
}

TEST(PiecesTest, GiveOtherErrorsBackAndThatOfASingleThing) {
  Pieces pieces(4, [](uint64_t) { return 4; });
  size_t tried = 0;
  const auto fail = [&](Piece) -> arrow::Result<int> {
    ++tried;
    return Internal("no");
  };
  EXPECT_THAT(pieces.Next(fail), IsError(ErrorKind::kInternal, "no"));
  EXPECT_EQ(tried, 1u);
  EXPECT_FALSE(pieces.at_end());
  const auto too_large = [](Piece piece) -> arrow::Result<int> {
    return TooLarge("{} things", piece.size);
  };
  EXPECT_THAT(pieces.Next(too_large), IsError(ErrorKind::kInvalidInput, "1 things"));
}

}  // namespace
}  // namespace glaive
