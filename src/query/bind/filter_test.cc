#include "query/bind/filter.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/values/checked_array.h"
#include "testing/matchers.h"

namespace glaive::query {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAreArray;

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type,
                                       std::string_view json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> Floats(T second) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  Builder builder;
  EXPECT_THAT(builder.AppendValues({kNan, second, kInfinity, -kInfinity, T{0}, -T{0}}), IsOk());
  EXPECT_THAT(builder.AppendNull(), IsOk());
  EXPECT_THAT(builder.AppendValues({T{1.5}, T{-1.5}, T{2.25}}), IsOk());
  return builder.Finish().ValueOrDie();
}

// Ten rows of every kind of value, with nulls and what is special of each.
std::shared_ptr<arrow::RecordBatch> TenRows() {
  const auto st =
      arrow::struct_({arrow::field("x", arrow::int64()), arrow::field("y", arrow::utf8())});
  const auto ids = FromJson(arrow::int64(), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
  const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns = {
      {"id", ids},
      {"i", FromJson(arrow::int32(), "[7, -7, 0, null, 2147483647, -2147483648, 3, -3, 1, 100]")},
      {"i8", FromJson(arrow::int8(), "[7, -7, 0, null, 127, -128, 3, -3, 1, 100]")},
      {"u", FromJson(arrow::uint64(),
                     "[0, 1, 9223372036854775808, null, 18446744073709551615, 5, 6, 7, 8, 9]")},
      {"u8", FromJson(arrow::uint8(), "[0, 1, 255, null, 200, 5, 6, 7, 8, 9]")},
      {"f", Floats<arrow::DoubleBuilder>(-std::numeric_limits<double>::quiet_NaN())},
      {"f32", Floats<arrow::FloatBuilder>(0.1F)},
      {"b", FromJson(arrow::boolean(),
                     "[true, false, null, true, false, null, true, false, null, true]")},
      {"s",
       FromJson(arrow::utf8(), R"(["a", "B", null, "", "it's", "a_b", "axb", "10", "7", "A"])")},
      {"bin",
       FromJson(arrow::binary(), R"(["a", "b", null, "", "\u0001", "x", "y", "z", "q", "r"])")},
      {"st", FromJson(st, R"([null, {"x": 1, "y": "q"}, {"x": 2, "y": "q"}, null,
                              {"x": 4, "y": "q"}, {"x": 5, "y": "q"}, null, {"x": 7, "y": "q"},
                              {"x": 8, "y": "q"}, null])")},
      {"Mixed", ids},
      {"l",
       FromJson(arrow::list(arrow::int64()), "[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1]]")},
  };
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), 10, arrays);
}

// What a scan reads for a filter: its columns, those below structs under their dotted paths.
std::shared_ptr<arrow::RecordBatch> ColumnsFor(const Filter& filter,
                                               const std::shared_ptr<arrow::RecordBatch>& batch) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const std::string& column : filter.columns()) {
    const size_t dot = column.find('.');
    auto array = batch->GetColumnByName(column.substr(0, dot));
    if (dot != std::string::npos) {
      const auto& parent = ArrayAs<arrow::StructArray>(*array);
      array = parent.GetFlattenedField(parent.struct_type()->GetFieldIndex(column.substr(dot + 1)))
                  .ValueOrDie();
    }
    fields.push_back(arrow::field(column, array->type()));
    arrays.push_back(array);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), batch->num_rows(), arrays);
}

class FilterTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(InitCompute(), IsOk()); }

  arrow::Result<std::vector<uint32_t>> Select(std::string_view sql) {
    ARROW_ASSIGN_OR_RAISE(const auto filter, Filter::FromSql(sql, *batch_->schema()));
    return filter->Select(*ColumnsFor(*filter, batch_));
  }

  std::shared_ptr<arrow::RecordBatch> batch_ = TenRows();
};

struct Outcome {
  const char* sql;
  std::vector<uint32_t> rows;
};

// What pylance returns for the same rows.
const std::vector<Outcome> kOutcomes = {
    {"f = 0.0", {4, 5}},
    {"f = -0.0", {4, 5}},
    {"f < 0", {1, 3, 8}},
    {"f <= 0", {1, 3, 4, 5, 8}},
    {"f > 1", {0, 2, 7, 9}},
    {"f >= 1e300", {0, 2}},
    {"f != f", {}},
    {"f = f", {0, 1, 2, 3, 4, 5, 7, 8, 9}},
    {"f32 = 0.1", {1}},
    {"f32 > 0.1", {0, 2, 7, 9}},
    {"i8 = i", {0, 1, 2, 6, 7, 8, 9}},
    {"i / 2 = 3", {0}},
    {"i / 2 = -3", {1}},
    {"i % 2 = -1", {1, 7}},
    {"i % 2 = 1", {0, 4, 6, 8}},
    {"-7 % 2 = -1", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"f / 0 > 1", {0, 2, 7, 9}},
    {"i + 1 > 0", {0, 2, 4, 6, 8, 9}},
    {"i + 1 < -2147483000", {5}},
    {"i8 + 100 > 127", {4, 9}},
    {"i8 * i8 > 1000", {}},
    {"-i > 0", {1, 7}},
    {"i8 + i > 0", {0, 5, 6, 8, 9}},
    {"u > 5", {2, 4, 6, 7, 8, 9}},
    {"u = 18446744073709551615", {4}},
    {"u > 9223372036854775807", {2, 4}},
    {"u8 - 1 > 0", {2, 4, 5, 6, 7, 8, 9}},
    {"u8 + u8 > 256", {}},
    {"u - 1 > 5", {2, 4, 7, 8, 9}},
    {"u + id > 5", {2, 4, 5, 6, 7, 8, 9}},
    {"u > id", {2, 4}},
    {"u8 < i8", {0, 9}},
    {"s = '7' ", {8}},
    {"s = 'a' OR s IS NULL", {0, 2}},
    {"NOT (s = 'a')", {1, 3, 4, 5, 6, 7, 8, 9}},
    {"s IN ('a', NULL)", {0}},
    {"s NOT IN ('a', NULL)", {}},
    {"s NOT IN ('a')", {1, 3, 4, 5, 6, 7, 8, 9}},
    {"i NOT IN (7, 1000)", {1, 2, 4, 5, 6, 7, 8, 9}},
    {"i IN (i8, 3)", {0, 1, 2, 6, 7, 8, 9}},
    {"s LIKE 'a_b'", {5, 6}},
    {"s LIKE 'a\\_b'", {5}},
    {"s LIKE 'A%'", {9}},
    {"s ILIKE 'A%'", {0, 5, 6, 9}},
    {"s NOT ILIKE 'A%'", {1, 3, 4, 7, 8}},
    {"s LIKE NULL", {}},
    {"b", {0, 3, 6, 9}},
    {"NOT b", {1, 4, 7}},
    {"b > false", {0, 3, 6, 9}},
    {"b IS TRUE", {0, 3, 6, 9}},
    {"b IS NOT TRUE", {1, 2, 4, 5, 7, 8}},
    {"i IS NOT NULL AND b", {0, 6, 9}},
    {"NULL AND b", {}},
    {"i = NULL", {}},
    {"true AND b", {0, 3, 6, 9}},
    {"1 = 1", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"i BETWEEN 1 AND 7", {0, 6, 8}},
    {"i NOT BETWEEN 1 AND 7", {1, 2, 4, 5, 7, 9}},
    {"i BETWEEN NULL AND 7", {}},
    {"mixed = 3", {3}},
    {"Mixed = 3", {3}},
    {"`Mixed` = 3", {3}},
    {"ID = 3", {3}},
    {"st.x > 5", {7, 8}},
    {"ST.x > 5", {7, 8}},
    {"st IS NULL", {0, 3, 6, 9}},
    {"st.x IS NULL", {0, 3, 6, 9}},
    {"l IS NULL", {}},
    {"i == 3", {6}},
    {"i <> 3", {0, 1, 2, 4, 5, 7, 8, 9}},
    {"i != -3", {0, 1, 2, 4, 5, 6, 8, 9}},
    {"i = - 3", {7}},
    {"s = \"a\"", {0}},
    {"s = 'it''s'", {4}},
    {"bin = X'61'", {0}},
    {"bin LIKE 'a'", {0}},
    {"id /* c */ = 3", {3}},
    {"NOT NOT b", {0, 3, 6, 9}},
    {"NOT i = 3 AND b", {0, 9}},
    {"i = 7 = b", {0, 1, 4, 7}},
    {"i < 5 < b", {0, 9}},
    {"- i = 7", {1}},
    {"i + f > 1", {0, 2, 4, 9}},
    {"1 / 2 = 0", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"1.0 / 2 = 0.5", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"7 / 2 * 2 = 6", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"s IS DISTINCT FROM 'a'", {1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"i IS NOT DISTINCT FROM NULL", {3}},
    {"f IN (0.0)", {4, 5}},
    {"f BETWEEN 0 AND 2", {4, 5, 7}},
    {"f BETWEEN -0.0 AND 0.0", {4, 5}},
    {"f32 IN (0.1)", {1}},
    {"f32 BETWEEN 0.1 AND 0.1", {1}},
    {"id > 2 AND (s > 'a' OR f > 1)", {4, 5, 6, 7, 9}},
    {"'a' = s", {0}},
    {"3 < i", {0, 4, 9}},
    {"i8 = 7 + 0", {0}},
    {"\"s\" = 's'", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"\"s\" = 'a'", {}},
    {"`st`.`x` > 5", {7, 8}},
    {"u > i", {1, 2, 4, 5, 6, 7, 8}},
    {"i + 1 = 1.5", {}},
    {"i + 1 = 8.0", {0}},
    {"id = i + 0", {}},
    {"f32 > f", {1}},
    {"f32 > i", {0, 1, 2, 5, 7}},
    {"i8 / 2 = 3", {0}},
    {"i8 + i8 > 127", {}},
    {"u8 + i8 > 200", {2, 4}},
    {"f % 1 = 0.5", {7}},
    {"f % 0 > 1", {0}},
    {"i / 2.0 = 3.5", {0}},
    {"NOT NULL", {}},
    {"NULL = NULL", {}},
    {"NULL IS NULL", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"i IN (NULL)", {}},
    {"i NOT IN (NULL)", {}},
    {"i = i", {0, 1, 2, 4, 5, 6, 7, 8, 9}},
    {"b = (i > 0)", {0, 1, 6, 7, 9}},
    {"b IN (true)", {0, 3, 6, 9}},
    {"b < true", {1, 4, 7}},
    {"s BETWEEN 'a' AND 'b'", {0, 5, 6}},
    {"s NOT BETWEEN 'a' AND NULL", {1, 3, 7, 8, 9}},
    {"(i) = (3)", {6}},
    {"((i = 3) OR (i = 7)) AND NOT (id = 0)", {6}},
    {"i > 0 AND NOT b", {4}},
    {"i > 0 = true", {0, 4, 6, 8, 9}},
    {"NOT i IN (3)", {0, 1, 2, 4, 5, 7, 8, 9}},
    {"i IS NULL = true", {3}},
    {"i NOT NULL", {0, 1, 2, 4, 5, 6, 7, 8, 9}},
    {"i + 1 BETWEEN 2 AND 8", {0, 6, 8}},
    {"i * -1 = 3", {7}},
    {"TRUE", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"i8 = -128", {5}},
    {"-128 = i8", {5}},
    {"s = ''", {3}},
    {"s > ''", {0, 1, 4, 5, 6, 7, 8, 9}},
    {"bin IN (X'61')", {0}},
    {"f > 9223372036854775807", {0, 2}},
    {"f = 1", {}},
    {"s LIKE '%\\\\%'", {}},
    {"s LIKE 'a'", {0}},
    {"s LIKE '_'", {0, 1, 8, 9}},
    {"st.y LIKE 'q%' AND st.x > 6", {7, 8}},
    {"3 IN (i, 2)", {6}},
    {"i IN (3) IS TRUE", {6}},
};

TEST_F(FilterTest, SelectsTheRowsThatPylanceSelects) {
  for (const Outcome& outcome : kOutcomes) {
    const auto selected = Select(outcome.sql);
    ASSERT_THAT(selected, IsOk()) << outcome.sql;
    EXPECT_THAT(*selected, ElementsAreArray(outcome.rows)) << outcome.sql;
  }
}

struct Refusal {
  const char* sql;
  const char* text;
};

TEST_F(FilterTest, RefusesWhatPylanceRefuses) {
  const std::vector<Refusal> refusals = {
      {"f < 'NaN'", "Utf8(\"NaN\") and could not convert to literal of type 'Float64'"},
      {"i = 1.0", "Float64(1) and could not convert to literal of type 'Int32'"},
      {"i > 2147483648", "Int64(2147483648) and could not convert to literal of type 'Int32'"},
      {"i8 < 1000", "Int64(1000)"},
      {"u > -1", "Int64(-1) and could not convert to literal of type 'UInt64'"},
      {"id = 'x'", "Utf8(\"x\") and could not convert to literal of type 'Int64'"},
      {"s = 7", "of type 'Utf8'"},
      {"b = 1", "of type 'Boolean'"},
      {"bin = 'a'", "of type 'Binary'"},
      {"i IN (1, 'x')", "Utf8(\"x\")"},
      {"i BETWEEN 1.5 AND 7", "Float64(1.5)"},
      {"i / 0 = 1", "divide by zero"},
      {"(id - id - 9223372036854775807 - 1) / -1 = 0", "overflow"},
      {"i % 0 = 1", "Divide by zero"},
      {"NULL", "does not return a boolean"},
      {"i", "does not return a boolean, but Int32"},
      {"i AND b", "AND needs a boolean, not Int32"},
      {"true = i > 0", "comparison operation Boolean = Int32"},
      {"-u8 < 0", "signed numbers, not UInt8"},
      {"i & 3 = 3", "& is not supported outside of a function's arguments; coalesce(a & b) is"},
      {"coalesce(f & f32) = 3", "common type for bitwise operation Float64 and Float32"},
      {"i LIKE '7'", "LIKE expression"},
      {"nope = 1", "No field named nope"},
      {"id < 5 OR nope = 1", "nope"},
      {"`mixed` = 3", "No field named mixed"},
      {"st.nope = 1", "Field nope not found in struct 'st'"},
      {"st.X > 5", "Field X not found"},
      {"st = 1", "could not convert"},
      {"\"id\" = 3", "Cannot cast value 'id' to value of Int64 type"},
      {"", "found its end"},
      {"a >> >", "cannot read the filter: a >> > (expected an expression, found '>'"},
      {"i = = 3", "found '=' at byte 4"},
      {"i = ", "expected an expression, found its end"},
      {"(i = 3", "expected ), found its end"},
      {"i = 3)", "expected the end, found ')'"},
      {"i IN ()", "expected an expression, found ')'"},
      {"i ! = 3", "unexpected '!'"},
      {"i = +3", "expected an expression, found '+'"},
      {"id = 1_000", "'1_000' is not a number"},
      {"i = 12ab", "'12ab' is not a number"},
      {"s = 'a", "a string is not closed in the filter: s = 'a"},
      {"i = 3 /* x", "a comment is not closed"},
  };
  for (const Refusal& refusal : refusals) {
    const auto selected = Select(refusal.sql);
    ASSERT_FALSE(selected.ok()) << refusal.sql;
    EXPECT_EQ(KindOf(selected.status()), ErrorKind::kInvalidInput) << selected.status().ToString();
    EXPECT_THAT(selected.status().message(), ::testing::HasSubstr(refusal.text)) << refusal.sql;
  }
}

TEST_F(FilterTest, PartsOfSqlThatAreNotBuiltAreNamed) {
  for (const char* name : {"md5", "array_sort", "regexp_instr"}) {
    EXPECT_THAT(Select(std::string(name) + "(s) = 'a'"),
                IsError(ErrorKind::kUnsupported, "'" + std::string(name) + "' is not built"));
  }
}

TEST_F(FilterTest, LongChainsAreFineAndDeepNestingIsRefused) {
  std::string chain = "id = 0";
  for (int i = 1; i < 20'000; ++i) chain += " OR id = " + std::to_string(2 * i);
  EXPECT_THAT(*Select(chain), ElementsAreArray({0, 2, 4, 6, 8}));
  const std::string deep = std::string(100'000, '(') + "b" + std::string(100'000, ')');
  EXPECT_THAT(Select(deep), IsError(ErrorKind::kInvalidInput, "levels deep"));
  std::string sum = "id";
  for (int i = 0; i < 100'000; ++i) sum += " + 1";
  EXPECT_THAT(Select(sum + " > 3"), IsError(ErrorKind::kInvalidInput, "levels deep"));
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "NOT ";
  EXPECT_THAT(Select(nots + "b"), IsError(ErrorKind::kInvalidInput, "levels deep"));
}

TEST_F(FilterTest, NamesTheColumnsThatItReads) {
  const auto filter =
      Filter::FromSql("st.x > 5 AND ID < 9 OR st.x IS NULL", *batch_->schema()).ValueOrDie();
  EXPECT_THAT(filter->columns(), ::testing::ElementsAre("st.x", "id"));
  EXPECT_EQ(filter->ToString(), "st.x > 5 AND ID < 9 OR st.x IS NULL");
}

TEST_F(FilterTest, ComparesEveryTypeAtEveryLength) {
  for (const auto& type : {arrow::int8(), arrow::uint16(), arrow::int32(), arrow::uint64(),
                           arrow::float32(), arrow::float64()}) {
    for (const int length : {0, 1, 63, 64, 65, 200}) {
      std::string json = "[";
      std::vector<uint32_t> expected;
      for (int i = 0; i < length; ++i) {
        const int value = i * 7 % 100;
        const bool is_null = i % 5 == 0;
        json += (i > 0 ? "," : "") + (is_null ? std::string("null") : std::to_string(value));
        if (!is_null && value >= 40) expected.push_back(static_cast<uint32_t>(i));
      }
      const auto array = FromJson(type, json + "]");
      const auto schema = arrow::schema({arrow::field("v", type)});
      const auto filter = Filter::FromSql("v >= 40", *schema).ValueOrDie();
      const auto batch = arrow::RecordBatch::Make(schema, length, {array});
      EXPECT_THAT(*filter->Select(*batch), ElementsAreArray(expected)) << type->ToString();
      if (length < 10) continue;
      std::vector<uint32_t> in_slice;
      for (const uint32_t row : expected) {
        if (row >= 3) in_slice.push_back(row - 3);
      }
      EXPECT_THAT(*filter->Select(*batch->Slice(3)), ElementsAreArray(in_slice));
    }
  }
}

}  // namespace
}  // namespace glaive::query
