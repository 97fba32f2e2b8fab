#include "encoding/levels/dictionary_array.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array/array_dict.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using testing::IsError;

template <typename Builder, typename Value>
std::shared_ptr<arrow::Array> ArrayOf(std::vector<std::optional<Value>> values) {
  Builder builder;
  for (const auto& value : values) {
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Encode(const arrow::Array& values,
                                     const std::shared_ptr<arrow::DataType>& type) {
  auto data = ToDictionary(*values.data(), type, "column");
  EXPECT_TRUE(data.ok()) << data.status();
  auto array = arrow::MakeArray(*data);
  EXPECT_TRUE(array->ValidateFull().ok()) << array->ValidateFull();
  return array;
}

// What the keys of a dictionary array stand for is what it was made of.
void ExpectSame(const arrow::Array& encoded, const arrow::Array& values) {
  const auto& array = static_cast<const arrow::DictionaryArray&>(encoded);
  ASSERT_EQ(array.length(), values.length());
  for (int64_t i = 0; i < values.length(); ++i) {
    ASSERT_EQ(array.IsNull(i), values.IsNull(i)) << i;
    if (values.IsNull(i)) continue;
    EXPECT_TRUE(array.dictionary()
                    ->GetScalar(array.GetValueIndex(i))
                    .ValueOrDie()
                    ->Equals(*values.GetScalar(i).ValueOrDie()))
        << i;
  }
}

TEST(DictionaryArray, EachValueOnceInOrderOfAppearance) {
  const auto values = ArrayOf<arrow::StringBuilder, std::string>(
      {"b", std::nullopt, "a", "b", "", "a", std::nullopt});
  for (const auto& keys : {arrow::int8(), arrow::uint16(), arrow::int32(), arrow::uint64()}) {
    const auto encoded = Encode(*values, arrow::dictionary(keys, arrow::utf8()));
    ExpectSame(*encoded, *values);
    const auto& dictionary = *static_cast<const arrow::DictionaryArray&>(*encoded).dictionary();
    EXPECT_EQ(dictionary.length(), 3);
    EXPECT_EQ(dictionary.GetScalar(0).ValueOrDie()->ToString(), "b");
  }
}

TEST(DictionaryArray, ValuesOfEveryLayout) {
  const auto wide = ArrayOf<arrow::LargeBinaryBuilder, std::string>({"x", "y", "x"});
  ExpectSame(*Encode(*wide, arrow::dictionary(arrow::int8(), arrow::large_binary())), *wide);
  const auto numbers = ArrayOf<arrow::Int64Builder, int64_t>({7, std::nullopt, -7, 7});
  ExpectSame(*Encode(*numbers, arrow::dictionary(arrow::uint8(), arrow::int64())), *numbers);
  const auto nothing = ArrayOf<arrow::Int32Builder, int32_t>({});
  ExpectSame(*Encode(*nothing, arrow::dictionary(arrow::int8(), arrow::int32())), *nothing);
  const auto nulls = ArrayOf<arrow::StringBuilder, std::string>({std::nullopt, std::nullopt});
  ExpectSame(*Encode(*nulls, arrow::dictionary(arrow::int8(), arrow::utf8())), *nulls);
}

TEST(DictionaryArray, KeysMustReach) {
  arrow::Int32Builder builder;
  for (int32_t i = 0; i < 128; ++i) ASSERT_TRUE(builder.Append(i).ok());
  const auto fits = builder.Finish().ValueOrDie();
  const auto type = arrow::dictionary(arrow::int8(), arrow::int32());
  ExpectSame(*Encode(*fits, type), *fits);
  for (int32_t i = 0; i < 129; ++i) ASSERT_TRUE(builder.Append(i).ok());
  const auto too_many = builder.Finish().ValueOrDie();
  EXPECT_THAT(ToDictionary(*too_many->data(), type, "column"),
              IsError(ErrorKind::kCorrupt, "129 distinct values"));
  ExpectSame(*Encode(*too_many, arrow::dictionary(arrow::uint8(), arrow::int32())), *too_many);
}

}  // namespace
}  // namespace glaive::encoding
