// What scans give of a fragment over which values were laid again and again, against a model.
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "glaive/scan.h"
#include "glaive/write.h"
#include "testing/column_writes.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns

constexpr uint32_t kRows = 60;

Values ValuesOf(const std::shared_ptr<arrow::Table>& table) {
  Values values;
  for (const auto& chunk : table->GetColumnByName("v")->chunks()) {
    const auto& array = static_cast<const arrow::Int32Array&>(*chunk);
    for (int64_t row = 0; row < array.length(); ++row) {
      values.push_back(array.IsNull(row) ? kNull : std::optional(array.Value(row)));
    }
  }
  return values;
}

class OverlaidReadsTest : public ::testing::Test {
 protected:
  // One fragment, v = its row.
  OverlaidReadsTest() {
    Values rows;
    for (uint32_t row = 0; row < kRows; ++row) rows.push_back(static_cast<int32_t>(row));
    model_ = rows;
    EXPECT_THAT(WriteDataset(ColumnStream({{"id", rows}, {"v", rows}}), ColumnTableUri()), IsOk());
  }

  void Lay(const std::vector<uint32_t>& rows) {
    Values values;
    for (const uint32_t row : rows) {
      const bool is_null = next_ % 7 == 3;
      values.push_back(is_null ? kNull : std::optional(next_));
      model_[row] = values.back();
      ++next_;
    }
    LayOver(NewestColumnTable(), "v", rows, values);
  }

  Values At(const std::vector<uint64_t>& rows) const {
    Values values;
    for (const uint64_t row : rows) values.push_back(model_[row]);
    return values;
  }

  static Values Taken(const std::vector<uint64_t>& rows) {
    return ValuesOf(Take(NewestColumnTable(), rows, {.columns = {{"v"}}}).ValueOrDie());
  }

  Values model_;
  int32_t next_ = 1000;
};

TEST_F(OverlaidReadsTest, OfSeveralTheNewestCounts) {
  Lay({2, 3, 4, 10});
  Lay({3, 11});
  Lay({0, 3, 59});
  EXPECT_EQ(ReadColumn("v"), model_);
}

TEST_F(OverlaidReadsTest, RowsAtTheBordersOfWhatIsCovered) {
  Lay({10, 11, 12, 20, 21, 40});
  const std::vector<std::vector<uint64_t>> cases = {
      {9, 10},          {12, 13},         {11, 12, 13, 14}, {9, 13, 19, 22, 39, 41}, {20}, {21, 40},
      {10, 12, 20, 21}, {12, 20, 21, 40}, {0, 40, 59},
  };
  for (const auto& rows : cases) EXPECT_EQ(Taken(rows), At(rows)) << "from " << rows.front();
}

TEST_F(OverlaidReadsTest, AsAModelSays) {
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    std::vector<uint32_t> covered;
    for (uint32_t row = 0; row < kRows; ++row) {
      if (random() % 3 == 0) covered.push_back(row);
    }
    Lay(covered);
    EXPECT_EQ(ReadColumn("v"), model_) << "round " << round;
    for (int picks = 0; picks < 20; ++picks) {
      std::vector<uint64_t> rows;
      for (uint64_t row = 0; row < kRows; ++row) {
        if (random() % 2 == 0) rows.push_back(row);
      }
      ASSERT_EQ(Taken(rows), At(rows)) << "round " << round << ", pick " << picks;
    }
  }
}

}  // namespace
}  // namespace glaive
