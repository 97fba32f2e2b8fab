// Every cast of every corner value against what pylance makes of it (tests/casts/golden.arrow, by
// tests/casts/make_golden.py), as a table that is printed.

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include "query/bind/filter.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"
#include "query/values/checked_array.h"
#include "testing/matchers.h"

namespace glaive::query {
namespace {

using testing::IsOk;
using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

// As make_golden.py has them.
constexpr int kCastFails = 1;
constexpr int kTryFails = 2;
constexpr int kRefused = 4;
constexpr int kTryDiffers = 8;
constexpr int kTryRefused = 16;

// Types that the table must have, as source and as target, for all of their kind.
constexpr std::array<std::string_view, 38> kTypes = {
    "Boolean",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float16",
    "Float32",
    "Float64",
    "Decimal128(5, 2)",
    "Decimal128(38, 10)",
    "Decimal256(50, 10)",
    "Utf8",
    "LargeUtf8",
    "Binary",
    "LargeBinary",
    "FixedSizeBinary(3)",
    "Date32",
    "Date64",
    "Time32(s)",
    "Time32(ms)",
    "Time64(\u00b5s)",
    "Time64(ns)",
    "Timestamp(s)",
    "Timestamp(ms)",
    "Timestamp(\u00b5s)",
    "Timestamp(ns)",
    "Timestamp(\u00b5s, \"UTC\")",
    "Timestamp(\u00b5s, \"America/New_York\")",
    "Timestamp(s, \"+05:30\")",
    "Duration(s)",
    "Duration(ms)",
    "Duration(\u00b5s)",
    "Duration(ns)",
    "Interval(MonthDayNano)",
};

std::string PathOf(std::string_view name) {
  return std::string(GLAIVE_SOURCE_DIR) + "/" + std::string(name);
}

ArrayPtr DecodeDictionary(const ArrayPtr& array) {
  if (array->type_id() != arrow::Type::DICTIONARY) return array;
  const auto& type = static_cast<const arrow::DictionaryType&>(*array->type());
  return arrow::compute::Cast(arrow::Datum(array), type.value_type())->make_array();
}

bool Same(const arrow::Array& left, const arrow::Array& right) {
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  return left.Equals(right, options);
}

std::string Show(const arrow::Array& one) {
  const auto scalar = one.GetScalar(0);
  if (!scalar.ok()) return scalar.status().ToString();
  return (*scalar)->is_valid ? (*scalar)->ToString() : "null";
}

struct Cell {
  std::string source;
  std::string target;
  ArrayPtr values;
  ArrayPtr outcome;
  ArrayPtr tried;
  std::vector<int> status;
};

class CastTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(InitCompute(), IsOk());
    const auto file = arrow::io::ReadableFile::Open(PathOf("tests/casts/golden.arrow"));
    ASSERT_TRUE(file.ok()) << file.status();
    const auto reader = arrow::ipc::RecordBatchFileReader::Open(*file);
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_EQ((*reader)->num_record_batches(), 1);
    golden_ = (*reader)->ReadRecordBatch(0).ValueOrDie();
    names_ = DecodeDictionary(golden_->GetColumnByName("source"));
  }

  const arrow::StructArray& Column(const std::string& name) const {
    return ArrayAs<arrow::StructArray>(*golden_->GetColumnByName(name));
  }

  std::vector<Cell> Cells() const {
    std::vector<Cell> cells;
    const auto& names = ArrayAs<arrow::StringArray>(*names_);
    for (int64_t begin = 0, end = 0; begin < names.length(); begin = end) {
      while (end < names.length() && names.GetView(end) == names.GetView(begin)) ++end;
      const std::string source = names.GetString(begin);
      ArrayPtr values = Column("values").GetFieldByName(source)->Slice(begin, end - begin);
      if (source.starts_with("Dictionary")) {
        values = arrow::compute::DictionaryEncode(arrow::Datum(values))->make_array();
      }
      for (const auto& field : Column("outcome").type()->fields()) {
        const std::string& target = field->name();
        const auto part = [&](const char* column) {
          return Column(column).GetFieldByName(target)->Slice(begin, end - begin);
        };
        Cell cell{source, target, values, part("outcome"), part("tried"), {}};
        const ArrayPtr status = part("status");
        for (int64_t i = 0; i < status->length(); ++i) {
          cell.status.push_back(ArrayAs<arrow::UInt8Array>(*status).Value(i));
        }
        cells.push_back(std::move(cell));
      }
    }
    return cells;
  }

  std::shared_ptr<arrow::RecordBatch> golden_;
  ArrayPtr names_;
};

// Where they part on purpose: one row of docs/differences.md each, found there by its text.
struct Difference {
  std::string_view sources;  // what the type's name begins with
  std::string_view targets;
  std::string_view row;
  std::string_view problems = "";  // what is told has this in it
};
constexpr std::string_view kWrap = "integers of decimals beyond 64 bits";
constexpr std::string_view kOfNulls = "lists made of nulls of dictionary columns";
constexpr std::string_view kFar = "zoned times after the year 2099";
constexpr std::array<Difference, 15> kDifferences = {{
    {"Decimal256(76, 0)", "Decimal256(76, 76)", "casts between decimals of many digits"},
    {"Decimal256", "Int", kWrap},
    {"Decimal256", "Timestamp", kWrap},
    {"Decimal256", "Duration", kWrap},
    {"Decimal256", "List(Int", kWrap},
    {"Decimal256", "List(List(Int", kWrap},
    {"Decimal256", "FixedSizeList(1 x Int", kWrap},
    {"Decimal256", "Dictionary(Int8, Int64)", kWrap},
    {"Date64", "Date32", "dates of 64 bits beyond those of 32"},
    {"Dictionary", "List", kOfNulls},
    {"Dictionary", "LargeList", kOfNulls},
    {"Dictionary", "FixedSizeList", kOfNulls},
    {"Utf8", "Timestamp", kFar, " 2262-04-1"},
    {"Date32", "Timestamp", kFar, " 2262-04-1"},
    {"Timestamp", "Timestamp", kFar, " 2262-04-1"},
}};

const Difference* NamedDifference(const Cell& cell, std::string_view problem) {
  const auto* found = std::ranges::find_if(kDifferences, [&](const Difference& difference) {
    return cell.source.starts_with(difference.sources) &&
           cell.target.starts_with(difference.targets) &&
           problem.find(difference.problems) != problem.npos;
  });
  return found == kDifferences.end() ? nullptr : found;
}

// What is wrong with one cell, value by value.
std::vector<std::string> Compare(const Cell& cell) {
  std::vector<std::string> problems;
  const auto type = TypeNamed(cell.target);
  if (!type.ok()) return {type.status().ToString()};
  const bool refused = (cell.status[0] & kRefused) != 0;
  if (CanCast(*cell.values->type(), **type) == refused) {
    return {refused ? "pylance refuses these types" : "pylance casts these types"};
  }
  if (refused) return {};
  const auto whole = CastValue(arrow::Datum(cell.values), *type, /*is_try=*/true);
  if (!whole.ok()) return {"TRY_CAST: " + whole.status().ToString()};
  const ArrayPtr tried = DecodeDictionary(whole->make_array());
  // Arrow takes times of day and dates to lie within their day; pylance does not look.
  const bool is_time = (*type)->ToString().find("time") != std::string::npos ||
                       (*type)->ToString().find("date") != std::string::npos;
  const auto valid = is_time ? tried->Validate() : tried->ValidateFull();
  if (!valid.ok()) return {valid.ToString()};
  for (int64_t i = 0; i < cell.values->length(); ++i) {
    const int status = cell.status[static_cast<size_t>(i)];
    const std::string value = Show(*DecodeDictionary(cell.values)->Slice(i, 1));
    const auto expected = cell.outcome->Slice(i, 1);
    const auto one = CastValue(arrow::Datum(cell.values->Slice(i, 1)), *type, /*is_try=*/false);
    const bool fails = (status & kCastFails) != 0;
    if (one.ok()) {
      // Some errors of pylance are of the types, and so of nulls, too.
      if (fails && cell.values->IsNull(i)) continue;
      const ArrayPtr actual = DecodeDictionary(one->make_array());
      if (fails) {
        problems.push_back(value + " is " + Show(*actual) + ", pylance: an error");
      } else if (!Same(*actual, *expected)) {
        problems.push_back(value + " is " + Show(*actual) + ", pylance: " + Show(*expected));
      }
    } else if (!fails) {
      problems.push_back(value + " fails, pylance: " + Show(*expected) + "; " +
                         one.status().message());
    }
    if ((status & kTryRefused) != 0) continue;
    // Where pylance's TRY_CAST fails, ours is null, or has a null inside.
    if ((status & kTryFails) != 0 && arrow::is_nested((*type)->id())) continue;
    const auto attempt = (status & kTryDiffers) != 0 ? cell.tried->Slice(i, 1) : expected;
    if (!Same(*tried->Slice(i, 1), *attempt)) {
      problems.push_back("TRY_CAST: " + value + " is " + Show(*tried->Slice(i, 1)) +
                         ", pylance: " + Show(*attempt));
    }
  }
  return problems;
}

TEST_F(CastTableTest, HasEveryPairOfTypes) {
  for (const std::string_view type : kTypes) {
    EXPECT_NE(Column("values").GetFieldByName(std::string(type)), nullptr) << type;
    EXPECT_NE(Column("outcome").GetFieldByName(std::string(type)), nullptr) << type;
  }
}

TEST_F(CastTableTest, EveryDifferenceIsARowOfTheDocument) {
  std::ifstream file(PathOf("docs/differences.md"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const Difference& difference : kDifferences) {
    EXPECT_NE(text.find("expressions, " + std::string(difference.row)), text.npos)
        << difference.row;
  }
}

TEST_F(CastTableTest, EveryCastIsPylances) {
  std::string line_of;
  size_t num_same = 0;
  size_t num_refused = 0;
  size_t num_named = 0;
  std::set<const Difference*> seen;
  for (const Cell& cell : Cells()) {
    if (line_of != cell.source) {
      std::cout << (line_of.empty() ? "" : "\n") << cell.source << ":";
      line_of = cell.source;
    }
    const auto problems = Compare(cell);
    const bool refused = (cell.status[0] & kRefused) != 0;
    bool is_named = false;
    for (const std::string& problem : problems) {
      const Difference* difference = NamedDifference(cell, problem);
      if (difference != nullptr) {
        seen.insert(difference);
        is_named = true;
      } else {
        ADD_FAILURE() << cell.source << " -> " << cell.target << ": " << problem;
      }
    }
    if (!refused) std::cout << "  " << cell.target << (is_named ? " (differs)" : "");
    ++(refused ? num_refused : is_named ? num_named : num_same);
  }
  std::cout << "\n"
            << num_same << " pairs of types are cast as pylance does, " << num_named
            << " differ on purpose, " << num_refused << " are refused by both\n";
  EXPECT_EQ(seen.size(), kDifferences.size()) << "a difference that is named is gone";
}

}  // namespace
}  // namespace glaive::query
