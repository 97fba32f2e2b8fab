#include "dataset/merge/key_sketch.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "query/bind/filter.h"
#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

template <typename Builder>
std::shared_ptr<arrow::Array> Numbers(int64_t first, int64_t count, int64_t step) {
  Builder builder;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<typename Builder::value_type>(first + i * step);
    EXPECT_TRUE((i % 10 == 9 ? builder.AppendNull() : builder.Append(value)).ok());
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> BatchOf(const std::shared_ptr<arrow::Array>& values) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("k", values->type())}),
                                  values->length(), {values});
}

template <typename Builder>
void LosesNoKnownValueAndMostOthers() {
  ASSERT_TRUE(query::InitCompute().ok());
  const auto known = Numbers<Builder>(-500, 1000, 3);
  auto sketch = KeySketch::Make(*known->type(), 1000);
  ASSERT_TRUE(sketch.has_value());
  sketch->Add(*known);
  // Sliced, so that offsets of values and of the bitmap count.
  const auto kept = sketch->Candidates(BatchOf(known->Slice(7)), 0).ValueOrDie();
  EXPECT_EQ(kept->num_rows(), known->length() - 7 - known->Slice(7)->null_count());
  EXPECT_EQ(kept->column(0)->null_count(), 0);
  const auto others = BatchOf(Numbers<Builder>(-499, 10'000, 3));
  EXPECT_LT(sketch->Candidates(others, 0).ValueOrDie()->num_rows(), 2'000);
}

TEST(KeySketchTest, LosesNoKnownValueAndMostOthers) {
  LosesNoKnownValueAndMostOthers<arrow::Int64Builder>();
  LosesNoKnownValueAndMostOthers<arrow::Int32Builder>();
}

TEST(KeySketchTest, OtherWidthsHaveNone) {
  for (const auto& type : {arrow::int8(), arrow::utf8(), arrow::decimal128(10, 2)}) {
    EXPECT_FALSE(KeySketch::Make(*type, 10).has_value()) << type->ToString();
  }
}

}  // namespace
}  // namespace glaive::dataset
