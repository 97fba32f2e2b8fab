// Sums and comparisons of halves, times and decimals: types and values are pylance's.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "query/bind/computed_value.h"
#include "query/bind/filter.h"
#include "testing/matchers.h"

namespace glaive::query {
namespace {

using testing::IsError;
using testing::IsOk;

struct Expected {
  std::string expression;
  std::shared_ptr<arrow::DataType> type;
  std::string json;
};

class ArithmeticTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(InitCompute(), IsOk()); }

  void Add(const std::string& name, const std::shared_ptr<arrow::DataType>& type,
           const std::string& json) {
    fields_.push_back(arrow::field(name, type));
    columns_.push_back(arrow::json::ArrayFromJSONString(type, json).ValueOrDie());
  }
  // Ticks, for types that JSON writes as texts.
  void AddTicks(const std::string& name, const std::shared_ptr<arrow::DataType>& type,
                const std::string& json) {
    const auto counted = type->byte_width() == 4 ? arrow::int32() : arrow::int64();
    fields_.push_back(arrow::field(name, type));
    columns_.push_back(
        arrow::json::ArrayFromJSONString(counted, json).ValueOrDie()->View(type).ValueOrDie());
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(const std::string& text) const {
    const auto schema = arrow::schema(fields_);
    ARROW_ASSIGN_OR_RAISE(const auto value, ComputedValue::FromSql(text, *schema));
    return value->Evaluate(*arrow::RecordBatch::Make(schema, columns_.front()->length(), columns_));
  }

  void Check(const std::vector<Expected>& all) const {
    for (const Expected& one : all) {
      SCOPED_TRACE(one.expression);
      const auto actual = Evaluate(one.expression);
      ASSERT_THAT(actual, IsOk());
      ASSERT_TRUE((*actual)->type()->Equals(*one.type)) << (*actual)->type()->ToString();
      const auto id = one.type->id();
      auto compared = *actual;
      auto type = one.type;
      if (id == arrow::Type::TIMESTAMP || id == arrow::Type::DATE64 ||
          id == arrow::Type::DURATION || id == arrow::Type::DATE32) {
        type = one.type->byte_width() == 4 ? arrow::int32() : arrow::int64();
        compared = compared->View(type).ValueOrDie();
      }
      const auto expected = arrow::json::ArrayFromJSONString(type, one.json).ValueOrDie();
      const auto options = arrow::EqualOptions::Defaults().nans_equal(true);
      EXPECT_TRUE(compared->Equals(*expected, options)) << compared->ToString();
    }
  }

  arrow::FieldVector fields_;
  arrow::ArrayVector columns_;
};

TEST_F(ArithmeticTest, HalvesAreNumbersLikeOthers) {
  const auto half = arrow::float16();
  const auto boolean = arrow::boolean();
  Add("h", half, "[1.5, -2.0, NaN, 65504, null, 0.1]");
  Add("g", half, "[2, 3, 4, 7, 1, 0.3]");
  Add("i", arrow::int32(), "[0, 1, 2, 3, 4, 5]");
  Add("l", arrow::int64(), "[1, -2, 2049, 65519, 0, 1]");
  Check({
      {"h + 1", half, "[2.5, -1, NaN, 65504, null, 1.0996]"},
      {"h * g", half, "[3, -6, NaN, Inf, null, 0.03]"},
      {"h / 2", half, "[0.75, -1, NaN, 32752, null, 0.049988]"},
      {"h - i", half, "[1.5, -3, NaN, 65501, null, -4.8984]"},
      {"-h", half, "[-1.5, 2, NaN, -65504, null, -0.1]"},
      {"abs(h)", half, "[1.5, 2, NaN, 65504, null, 0.1]"},
      {"h IN (1.5, 0.1)", boolean, "[true, false, false, false, null, true]"},
      {"h NOT IN (1.5)", boolean, "[false, true, true, true, null, true]"},
      {"h > 1", boolean, "[true, false, true, true, null, false]"},
      {"h + 1 > 2", boolean, "[true, false, true, true, null, false]"},
      // In halves, of which none is between 2048 and 2050.
      {"h = l", boolean, "[false, true, false, true, null, false]"},
      {"coalesce(h, g)", half, "[1.5, -2, NaN, 65504, 1, 0.1]"},
      {"nullif(h, g)", half, "[1.5, -2, NaN, 65504, null, 0.1]"},
      {"greatest(h, g)", half, "[2, 3, NaN, 65504, 1, 0.3]"},
      {"try_cast(h as int)", arrow::int32(), "[1, -2, null, 65504, null, 0]"},
  });
}

// 2024-03-10 02:00 to 03:00 is a gap of New York's clocks, 2024-11-03 01:00 to 02:00 comes twice.
TEST_F(ArithmeticTest, DaysAndMonthsGoByTheClockOfTheZone) {
  const auto zoned = arrow::timestamp(arrow::TimeUnit::MICRO, "America/New_York");
  const auto seconds = arrow::timestamp(arrow::TimeUnit::SECOND);
  AddTicks("z", zoned, "[500000, 1710055800500000, 1730615400500000, 1709164800500000, null]");
  AddTicks("s", seconds, "[0, -1, 86399, 253402300799, null]");
  Check({
      {"coalesce(z + interval '1 month')", zoned,
       "[2678400500000, 1712734200500000, 1733207400500000, 1711666800500000, null]"},
      {"coalesce(z - interval '1 day')", zoned,
       "[-86399500000, 1709973000500000, 1730525400500000, 1709078400500000, null]"},
      {"coalesce(z - interval '1 month 2 days 3 hours')", zoned,
       "[-2861999500000, 1707370200500000, 1727749800500000, 1706302800500000, null]"},
      {"coalesce(z - interval '1 nanosecond')", zoned,
       "[499999, 1710055800499999, 1730615400499999, 1709164800499999, null]"},
      {"coalesce(s - interval '1 millisecond')", seconds, "[-1, -2, 86398, 253402300798, null]"},
  });
  // 2024-03-09 02:30 and 2024-11-02 01:30, in New York.
  AddTicks("gap", zoned, "[1709969400000000, null, null, null, null]");
  AddTicks("twice", zoned, "[1730525400000000, null, null, null, null]");
  for (const std::string name : {"gap", "twice"}) {
    EXPECT_THAT(Evaluate("coalesce(" + name + " + interval '1 day')"),
                IsError(ErrorKind::kInvalidInput, "does not show, or shows twice"));
    EXPECT_THAT(Evaluate("coalesce(" + name + " + interval '24 hours')"), IsOk());
  }
}

TEST_F(ArithmeticTest, DatesAreWholeDays) {
  AddTicks("d", arrow::date64(), "[0, -86400000, 86399999, null]");
  AddTicks("e", arrow::date32(), "[0, -1, 19787, null]");
  Add("i", arrow::int32(), "[1, -1, 31, 1]");
  Check({
      {"coalesce(d + interval '1 millisecond')", arrow::date64(), "[0, -86400000, 0, null]"},
      {"coalesce(d - interval '25 hours')", arrow::date64(),
       "[-86400000, -172800000, -86400000, null]"},
      {"coalesce(e + interval '1 month')", arrow::date32(), "[31, 30, 19818, null]"},
      {"d + i", arrow::date64(), "[86400000, -172800000, 2678400000, null]"},
      {"e - i", arrow::date32(), "[-1, 0, 19756, null]"},
      {"i + e", arrow::date32(), "[1, -2, 19818, null]"},
  });
}

TEST_F(ArithmeticTest, WhatATimeCannotHoldIsAnError) {
  const auto micros = arrow::timestamp(arrow::TimeUnit::MICRO);
  AddTicks("t", micros, "[9223372036854775807, 0]");
  AddTicks("o", micros, "[-9223372036854775808, 0]");
  AddTicks("d", arrow::duration(arrow::TimeUnit::MICRO), "[1, 1]");
  AddTicks("s", arrow::duration(arrow::TimeUnit::SECOND), "[9223372036854775807, 1]");
  AddTicks("e", arrow::date32(), "[2147483647, 0]");
  for (const std::string sum :
       {"t + d", "o - d", "t - o", "d + d + d + t", "s + s", "coalesce(e + interval '1 day')",
        "coalesce(t + interval '1 day')", "arrow_cast(t, 'Timestamp(ns)')",
        "arrow_cast(e, 'Timestamp(ns)')", "arrow_cast(t, 'Date32')", "cast(e as string)"}) {
    EXPECT_THAT(Evaluate(sum), ::testing::Not(IsOk())) << sum;
  }
}

TEST_F(ArithmeticTest, WholeDaysLieBetweenDatesOf64Bits) {
  AddTicks("d", arrow::date64(), "[-1, 86400001, -86400001, 90000000, null]");
  AddTicks("e", arrow::date32(), "[0, 1, -3, 1, 0]");
  AddTicks("f", arrow::date64(), "[86400000, 1, 0, 0, 0]");
  Check({
      {"d - e", arrow::int64(), "[0, 0, 1, 0, null]"},
      {"e - d", arrow::int64(), "[0, 0, -1, 0, null]"},
      {"d - f", arrow::int64(), "[-1, 1, -1, 1, null]"},
  });
  AddTicks("o", arrow::date64(), "[-9223372036854775808, 0, 0, 0, 0]");
  EXPECT_THAT(Evaluate("o - f"), IsError(ErrorKind::kInvalidInput, "overflow"));
}

TEST_F(ArithmeticTest, TimesAreCutToADayBeyondTheCalendar) {
  const auto millis = arrow::timestamp(arrow::TimeUnit::MILLI);
  AddTicks("t", millis, "[9223372036854775807, 8210266876800001, -1, null]");
  Check({
      {"date_trunc('day', t)", millis, "[9223372036828800000, 8210266876800000, -86400000, null]"},
      {"date_trunc('hour', t)", millis, "[9223372036854000000, 8210266876800000, -3600000, null]"},
  });
  AddTicks("z", arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"), "[9223372036854775807, 0, 0, 0]");
  for (const std::string cut : {"date_trunc('week', t)", "date_trunc('day', z)"}) {
    EXPECT_THAT(Evaluate(cut), IsError(ErrorKind::kInvalidInput, "out of range")) << cut;
  }
}

TEST_F(ArithmeticTest, TimesThatCannotBeCutDoNotWrapAround) {
  AddTicks("n", arrow::timestamp(arrow::TimeUnit::NANO), "[-9223372036854775808, 0]");
  AddTicks("s", arrow::timestamp(arrow::TimeUnit::SECOND), "[-9223372036854775807, 0]");
  for (const std::string unit :
       {"microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}) {
    EXPECT_THAT(Evaluate("date_trunc('" + unit + "', n)"),
                IsError(ErrorKind::kInvalidInput, "out of range"))
        << unit;
  }
  EXPECT_THAT(Evaluate("date_trunc('minute', s)"),
              IsError(ErrorKind::kInvalidInput, "out of range"));
  Check({{"date_trunc('second', s)", arrow::timestamp(arrow::TimeUnit::SECOND),
          "[-9223372036854775807, 0]"}});
}

TEST_F(ArithmeticTest, AtanIsAsWideAsItsLiteral) {
  Add("f", arrow::float32(), "[1.5, null]");
  Check({
      {"atan2(f, 1e10)", arrow::float64(), "[1.5e-10, null]"},
      {"atan2(f, 1)", arrow::float32(), "[0.98279375, null]"},
      {"atan2(f, f)", arrow::float32(), "[0.78539816, null]"},
  });
}

// Rows beyond 2262, which nanoseconds cannot hold, are in no one's way.
TEST_F(ArithmeticTest, InstantsAreComparedInTheUnitOfTheColumn) {
  const auto boolean = arrow::boolean();
  AddTicks("t", arrow::timestamp(arrow::TimeUnit::MICRO), "[253402300799500000, 0, -500000, null]");
  AddTicks("z", arrow::timestamp(arrow::TimeUnit::MICRO, "America/New_York"),
           "[253402300799500000, 0, -500000, null]");
  Check({
      {"t > date '2024-01-01'", boolean, "[true, false, false, null]"},
      {"t >= date '9999-12-31'", boolean, "[true, false, false, null]"},
      {"t > date '0001-01-01'", boolean, "[true, true, true, null]"},
      {"t IN (date '1970-01-01', date '9999-12-31')", boolean, "[false, true, false, null]"},
      {"z >= date '1970-01-01'", boolean, "[true, true, false, null]"},
      {"coalesce(z >= '1970-01-01T00:00:00Z')", boolean, "[true, true, false, null]"},
      {"coalesce(z = '1970-01-01T01:00:00+01:00')", boolean, "[false, true, false, null]"},
      {"coalesce(z = '1969-12-31T19:00:00')", boolean, "[false, true, false, null]"},
      // 1970-01-01 00:00 in New York is 05:00 by UTC, and t is local to that zone.
      {"t = arrow_cast('1970-01-01', 'Timestamp(s, \"America/New_York\")')", boolean,
       "[false, true, false, null]"},
      // Beside a time, which is by the clock of New York, a date begins there at 05:00 by UTC.
      {"z BETWEEN date '1970-01-01' AND timestamp '2024-03-10 03:30:00'", boolean,
       "[false, false, false, null]"},
      {"z BETWEEN date '1970-01-01' AND date '2024-03-10'", boolean, "[false, true, false, null]"},
      // Not cut off to whole seconds, in which they would be equal.
      {"z = arrow_cast(0, 'Timestamp(s, \"UTC\")')", boolean, "[false, true, false, null]"},
  });
}

TEST_F(ArithmeticTest, ADictionaryThatIsCastIsAColumnOfItsValues) {
  fields_.push_back(arrow::field("d", arrow::dictionary(arrow::int32(), arrow::utf8())));
  columns_.push_back(arrow::json::DictArrayFromJSONString(fields_.back()->type(), "[0, 1, null, 0]",
                                                          R"(["12", "x"])")
                         .ValueOrDie());
  Check({
      {"cast(d as string)", arrow::utf8(), R"(["12", "x", null, "12"])"},
      {"try_cast(d as int)", arrow::int32(), "[12, null, null, 12]"},
      {"arrow_cast(d, 'LargeUtf8')", arrow::large_utf8(), R"(["12", "x", null, "12"])"},
  });
  // Scans take a column as it is stored.
  const auto value = ComputedValue::FromSql("cast(d as string)", *arrow::schema(fields_));
  EXPECT_FALSE((*value)->is_column());
}

TEST_F(ArithmeticTest, DurationsOfTwoUnitsAreAnInterval) {
  AddTicks("s", arrow::duration(arrow::TimeUnit::SECOND), "[1, null]");
  AddTicks("u", arrow::duration(arrow::TimeUnit::MICRO), "[1, 1]");
  AddTicks("c", arrow::time32(arrow::TimeUnit::SECOND), "[3600, 1]");
  const auto interval = arrow::month_day_nano_interval();
  Check({
      {"s + s", arrow::duration(arrow::TimeUnit::SECOND), "[2, null]"},
      {"s - u", interval, "[[0, 0, 999999000], null]"},
      {"c - c", interval, "[[0, 0, 0], [0, 0, 0]]"},
      {"coalesce(c + interval '1 month')", interval, "[[1, 0, 3600000000000], [1, 0, 1000000000]]"},
  });
}

}  // namespace
}  // namespace glaive::query
