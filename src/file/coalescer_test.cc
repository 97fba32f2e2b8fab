#include "file/coalescer.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "testing/random_table.h"

namespace glaive::file {
namespace {

using glaive::testing::CutAtRandom;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomBatch;
using glaive::testing::RandomRows;
using glaive::testing::RandomSchema;

struct PageShape {
  size_t column;
  uint64_t first_row;
  uint64_t num_rows;
  PageEnd end;

  bool operator==(const PageShape&) const = default;
};
void PrintTo(const PageShape& page, std::ostream* out) {
  *out << "{column " << page.column << ", rows " << page.first_row << "+" << page.num_rows
       << ", ended by " << static_cast<int>(page.end) << "}";
}

struct Outcome {
  std::vector<PageShape> pages;
  std::vector<std::vector<std::shared_ptr<arrow::Array>>> rows;  // of each column, page by page
  uint64_t num_rows = 0;
  uint64_t num_taken = 0;  // times
};

std::shared_ptr<arrow::Array> Joined(const std::vector<std::shared_ptr<arrow::ArrayData>>& pieces) {
  arrow::ArrayVector arrays;
  for (const auto& piece : pieces) arrays.push_back(arrow::MakeArray(piece));
  return arrow::Concatenate(arrays).ValueOrDie();
}

using Offer = Coalescer::Offer;
// Of so many rows, which go on with those that were taken or do not.
using Policy = std::function<Offer(int64_t num_rows, bool goes_on)>;

Outcome Coalesce(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                 const CoalescerLimits& limits, bool keep_slices, const Policy& policy = nullptr) {
  auto matcher = InputMatcher::Make(batches.at(0)->schema()).ValueOrDie();
  Outcome outcome;
  outcome.rows.resize(matcher.columns().size());
  std::optional<size_t> growing;
  Coalescer::Pieces taken;
  const auto take = [&](ClosedPage page) -> arrow::Result<uint64_t> {
    outcome.pages.push_back({page.column, page.first_row, page.num_rows, page.end});
    if (growing == page.column) {
      page.pieces.insert(page.pieces.begin(), taken.begin(), taken.end());
      growing.reset();
      taken.clear();
    }
    outcome.rows[page.column].push_back(Joined(page.pieces));
    EXPECT_EQ(static_cast<uint64_t>(outcome.rows[page.column].back()->length()), page.num_rows);
    return UINT64_MAX;  // as long as nobody asks how many
  };
  const auto size = [&]() -> arrow::Result<uint64_t> {
    uint64_t written = 0;
    for (const PageShape& closed : outcome.pages) written += closed.num_rows;
    return written;  // as if each row took a byte of the file
  };
  const auto offer = [&](size_t column, Coalescer::Pieces& pieces) -> arrow::Result<Offer> {
    if (growing && growing != column) return Offer::kLater;
    int64_t num_rows = 0;
    for (const auto& piece : pieces) num_rows += piece->length;
    const Offer answer = policy(num_rows, growing.has_value());
    if (answer == Offer::kTaken) {
      growing = column;
      for (auto& piece : pieces) taken.push_back(std::exchange(piece, nullptr));
      ++outcome.num_taken;
    }
    return answer;
  };
  Coalescer coalescer(matcher.columns(), limits, keep_slices, take, size,
                      policy ? Coalescer::Take(offer) : nullptr);
  for (const auto& batch : batches) {
    const auto rows = matcher.Match(*batch).ValueOrDie();
    const int64_t num_added = coalescer.Add(rows, 0).ValueOrDie();
    if (coalescer.full()) break;
    EXPECT_EQ(num_added, batch->num_rows());
  }
  for (ClosedPage& page : coalescer.Finish().ValueOrDie())
    ARROW_CHECK_OK(take(std::move(page)).status());
  outcome.num_rows = coalescer.num_rows();
  return outcome;
}

// --- the rule once more, row by row
// ---------------------------------------------------------------

void CountBits(const arrow::Field& field, const arrow::Array& array, int64_t begin, int64_t end,
               const std::vector<int>& path, size_t depth, bool visible, uint64_t& bits) {
  const auto slots = static_cast<uint64_t>(end - begin);
  if (field.nullable()) bits += slots;
  switch (field.type()->id()) {
    case arrow::Type::STRUCT: {
      const int child = path.at(depth);
      const auto& slots_of = static_cast<const arrow::StructArray&>(array);
      for (int64_t i = begin; i < end; ++i) {
        CountBits(*field.type()->field(child), *slots_of.field(child), i, i + 1, path, depth + 1,
                  visible && slots_of.IsValid(i), bits);
      }
      return;
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST: {
      const bool large = field.type()->id() == arrow::Type::LARGE_LIST;
      bits += slots * (large ? 64 : 32);
      for (int64_t i = begin; i < end; ++i) {
        if (!visible || array.IsNull(i)) continue;
        const auto& small_list = static_cast<const arrow::ListArray&>(array);
        const auto& large_list = static_cast<const arrow::LargeListArray&>(array);
        const int64_t first = large ? large_list.value_offset(i) : small_list.value_offset(i);
        const int64_t length = large ? large_list.value_length(i) : small_list.value_length(i);
        CountBits(*field.type()->field(0), large ? *large_list.values() : *small_list.values(),
                  first, first + length, path, depth, true, bits);
      }
      return;
    }
    case arrow::Type::STRING:
    case arrow::Type::LARGE_BINARY:
      for (int64_t i = begin; i < end; ++i) {
        bits += field.type()->id() == arrow::Type::STRING ? 32 : 64;
        if (!visible || array.IsNull(i)) continue;
        const auto value = array.type_id() == arrow::Type::STRING
                               ? static_cast<const arrow::StringArray&>(array).GetView(i)
                               : static_cast<const arrow::LargeBinaryArray&>(array).GetView(i);
        bits += 8 * value.size();
      }
      return;
    case arrow::Type::FIXED_SIZE_LIST: bits += slots * 3 * 32; return;
    default: bits += slots * static_cast<uint64_t>(field.type()->bit_width());
  }
}

// Of each leaf column and row, in the order of the columns.
std::vector<std::vector<uint64_t>> BitsOfRows(const arrow::RecordBatch& batch) {
  struct Leaf {
    int field;
    std::vector<int> path;
  };
  std::vector<Leaf> leaves;
  for (int i = 0; i < 9; ++i) leaves.push_back({i, {}});
  for (const int child : {0, 1}) leaves.push_back({9, {child}});
  leaves.push_back({10, {}});
  leaves.push_back({11, {0}});
  leaves.push_back({11, {1}});
  leaves.push_back({11, {2, 0}});
  leaves.push_back({11, {2, 1}});
  std::vector<std::vector<uint64_t>> bits;
  for (const Leaf& leaf : leaves) {
    auto& of_rows = bits.emplace_back(static_cast<size_t>(batch.num_rows()));
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      CountBits(*batch.schema()->field(leaf.field), *batch.column(leaf.field), row, row + 1,
                leaf.path, 0, true, of_rows[static_cast<size_t>(row)]);
    }
  }
  return bits;
}

class NaiveModel {
 public:
  NaiveModel(std::vector<std::vector<uint64_t>> bits, const CoalescerLimits& limits)
      : bits_(std::move(bits)), limits_(limits), open_(bits_.size()) {}

  Outcome Run() {
    const size_t num_rows = bits_[0].size();
    for (size_t row = 0; row < num_rows; ++row) {
      for (size_t c = 0; c < open_.size(); ++c) {
        if (open_[c].rows == 0) continue;
        if (open_[c].bits + bits_[c][row] > 8 * limits_.max_page_bytes) {
          Close(c, PageEnd::kPageBytes);
        } else if (limits_.max_rows_per_group && open_[c].rows >= *limits_.max_rows_per_group &&
                   open_[c].bits >= uint64_t{8} * (8 << 20)) {
          Close(c, PageEnd::kRowLimit);
        }
      }
      while (Total() + NextRow(row) > 8 * limits_.data_cache_bytes) {
        size_t most = 0;
        for (size_t c = 1; c < open_.size(); ++c) {
          if (Held(c) > Held(most)) most = c;
        }
        if (open_[most].rows == 0) break;
        Close(most, PageEnd::kCacheBytes);
      }
      for (size_t c = 0; c < open_.size(); ++c) {
        open_[c].bits += bits_[c][row];
        ++open_[c].rows;
      }
      ++outcome_.num_rows;
      if (outcome_.num_rows == limits_.max_rows) break;
      if (limits_.max_bytes != UINT64_MAX && 8 * written_ + Total() >= 8 * limits_.max_bytes) break;
    }
    for (size_t c = 0; c < open_.size(); ++c) {
      if (open_[c].rows > 0) Close(c, PageEnd::kFileEnd);
    }
    return outcome_;
  }

 private:
  struct Open {
    uint64_t bits = 0;
    uint64_t rows = 0;
    uint64_t first_row = 0;
  };
  uint64_t Held(size_t c) const { return open_[c].rows == 0 ? 0 : open_[c].bits + 1; }
  uint64_t Total() const {
    uint64_t total = 0;
    for (const Open& page : open_) total += page.bits;
    return total;
  }
  uint64_t NextRow(size_t row) const {
    uint64_t total = 0;
    for (const auto& column : bits_) total += column[row];
    return total;
  }
  void Close(size_t c, PageEnd end) {
    outcome_.pages.push_back({c, open_[c].first_row, open_[c].rows, end});
    written_ += open_[c].rows;
    open_[c] = {.first_row = open_[c].first_row + open_[c].rows};
  }

  std::vector<std::vector<uint64_t>> bits_;
  CoalescerLimits limits_;
  std::vector<Open> open_;
  uint64_t written_ = 0;
  Outcome outcome_;
};

void ExpectSameRows(const Outcome& outcome, const arrow::RecordBatch& batch) {
  auto matcher = InputMatcher::Make(batch.schema()).ValueOrDie();
  const auto all = matcher.Match(batch).ValueOrDie();
  for (size_t c = 0; c < outcome.rows.size(); ++c) {
    const auto expected =
        arrow::MakeArray(all->columns[c])->Slice(0, static_cast<int64_t>(outcome.num_rows));
    const auto actual = arrow::Concatenate(outcome.rows[c]).ValueOrDie();
    ASSERT_THAT(actual->ValidateFull(), IsOk());
    ASSERT_TRUE(actual->Equals(*expected)) << "column " << matcher.columns()[c].name() << "\n"
                                           << actual->ToString() << "\ninstead of\n"
                                           << expected->ToString();
  }
}

TEST(CoalescerTest, AnyCuttingGivesThePagesOfTheRowByRowRule) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 150; ++round) {
    const auto pick = [&](uint64_t low, uint64_t high) {
      return std::uniform_int_distribution<uint64_t>(low, high)(random);
    };
    RandomRows shape = {.num_rows = static_cast<int64_t>(pick(1, 300)),
                        .nulls = round % 3 == 0 ? 0.0 : 0.2,
                        .max_length = static_cast<int64_t>(pick(0, 12)),
                        .hidden_values = round % 5 == 4};
    const auto batch = RandomBatch(shape, random);
    CoalescerLimits limits;
    if (pick(0, 2) > 0) limits.max_page_bytes = pick(1, 3000);
    if (pick(0, 2) > 0) limits.data_cache_bytes = pick(1, 20'000);
    if (pick(0, 3) == 0) limits.max_rows = pick(1, 400);
    if (pick(0, 3) == 0) limits.max_bytes = pick(1, 30'000);
    SCOPED_TRACE("round " + std::to_string(round));

    const Outcome expected = NaiveModel(BitsOfRows(*batch), limits).Run();
    for (int cutting = 0; cutting < 3; ++cutting) {
      const auto batches = cutting == 0 ? std::vector{batch} : CutAtRandom(batch, random);
      const Outcome outcome = Coalesce(batches, limits, cutting == 2);
      ASSERT_EQ(outcome.num_rows, expected.num_rows);
      ASSERT_EQ(outcome.pages, expected.pages);
      ASSERT_NO_FATAL_FAILURE(ExpectSameRows(outcome, *batch));
    }
  }
}

CoalescerLimits LimitsWithOffers(std::mt19937_64& random) {
  const auto pick = [&](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  };
  return {.max_page_bytes = pick(1000, 5000),
          .max_rows = pick(0, 3) == 0 ? pick(1, 400) : UINT64_MAX,
          .max_bytes = pick(0, 3) == 0 ? pick(1000, 30'000) : UINT64_MAX,
          .first_offer_bytes = pick(0, 2000),
          .offer_bytes = pick(1, 400)};
}

TEST(CoalescerTest, RowsThatAreTakenEarlyLeaveThePagesAsTheyAre) {
  std::mt19937_64 random(7);
  uint64_t num_taken = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto batch = RandomBatch({.num_rows = 300, .nulls = round % 3 == 0 ? 0.0 : 0.2}, random);
    const CoalescerLimits limits = LimitsWithOffers(random);
    const Outcome expected = NaiveModel(BitsOfRows(*batch), limits).Run();
    for (const bool keep_slices : {false, true}) {
      const Outcome outcome = Coalesce(CutAtRandom(batch, random), limits, keep_slices,
                                       [](int64_t, bool) { return Offer::kTaken; });
      ASSERT_EQ(outcome.pages.size(), expected.pages.size());
      for (const PageShape& page :
           expected.pages) {  // the one that is taken comes first at the end
        ASSERT_EQ(std::ranges::count(outcome.pages, page), 1);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSameRows(outcome, *batch));
      num_taken += outcome.num_taken;
    }
  }
  EXPECT_GT(num_taken, 500u);
}

TEST(CoalescerTest, RowsThatAreNotTakenMakeTheSamePagesInAnyCutting) {
  const auto moody = [](int64_t num_rows, bool goes_on) {
    if (num_rows % 7 == 3) return goes_on ? Offer::kEndPage : Offer::kNever;
    return !goes_on && num_rows % 7 == 5 ? Offer::kLater : Offer::kTaken;
  };
  std::mt19937_64 random(8);
  uint64_t num_ended = 0;
  uint64_t num_pushed_out = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto batch = RandomBatch({.num_rows = 300, .nulls = round % 3 == 0 ? 0.0 : 0.2}, random);
    CoalescerLimits limits = LimitsWithOffers(random);
    if (round % 2 == 0) limits.data_cache_bytes = 4000;
    if (round % 4 == 0) limits.max_page_bytes = 300;
    const Outcome whole = Coalesce({batch}, limits, false, moody);
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(whole, *batch));
    for (const bool keep_slices : {false, true}) {
      const Outcome cut = Coalesce(CutAtRandom(batch, random), limits, keep_slices, moody);
      ASSERT_EQ(cut.pages, whole.pages);
      ASSERT_EQ(cut.num_rows, whole.num_rows);
      ASSERT_NO_FATAL_FAILURE(ExpectSameRows(cut, *batch));
    }
    for (const PageShape& page : whole.pages) {
      num_ended += page.end == PageEnd::kFormatLimit ? 1u : 0u;
      num_pushed_out += page.end == PageEnd::kCacheBytes ? 1u : 0u;
    }
  }
  EXPECT_GT(num_ended, 50u);
  EXPECT_GT(num_pushed_out, 50u);
}

std::shared_ptr<arrow::RecordBatch> Numbers(int64_t num_rows) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < num_rows; ++i) ARROW_CHECK_OK(builder.Append(i));
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64(), false)}),
                                  num_rows, {builder.Finish().ValueOrDie()});
}

TEST(CoalescerTest, ARowLimitEndsOnlyPagesThatHold8MiB) {
  const int64_t num_rows = 3 << 20;  // 24 MiB
  const std::vector<PageShape> expected = {{0, 0, 1 << 20, PageEnd::kRowLimit},
                                           {0, 1 << 20, 1 << 20, PageEnd::kRowLimit},
                                           {0, 2 << 20, 1 << 20, PageEnd::kFileEnd}};
  const auto batch = Numbers(num_rows);
  std::vector<std::shared_ptr<arrow::RecordBatch>> cut;
  for (int64_t begin = 0; begin < num_rows; begin += 100'000) {
    cut.push_back(batch->Slice(begin, 100'000));
  }
  EXPECT_EQ(Coalesce({batch}, {.max_rows_per_group = 1000}, false).pages, expected);
  EXPECT_EQ(Coalesce(cut, {.max_rows_per_group = 1000}, false).pages, expected);
  EXPECT_EQ(Coalesce(cut, {.max_rows_per_group = 2 << 20}, true).pages[0].num_rows, 2 << 20);
}

TEST(CoalescerTest, ManyTinyBatchesAreGatheredIntoFewPieces) {
  auto matcher = InputMatcher::Make(Numbers(1)->schema()).ValueOrDie();
  size_t num_pieces = 0;
  Coalescer coalescer(
      matcher.columns(), {}, false, [](ClosedPage) { return uint64_t{0}; },
      []() { return uint64_t{0}; });
  const auto batch = Numbers(100);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_THAT(coalescer.Add(matcher.Match(*batch).ValueOrDie(), 0), IsOk());
  }
  for (const ClosedPage& page : coalescer.Finish().ValueOrDie()) num_pieces += page.pieces.size();
  EXPECT_LE(num_pieces, 20'000u * 800 / (1 << 20) + 2);
}

// --- what is let in
// --------------------------------------------------------------------------------

TEST(InputMatcherTest, ColumnsAndFieldsOfStructsComeInAnyOrder) {
  using namespace arrow;
  const auto schema_of = [](bool turned) {
    auto inner = turned ? struct_({field("y", utf8()), field("x", int8())})
                        : struct_({field("x", int8()), field("y", utf8())});
    return turned ? schema({field("s", inner), field("a", int32())})
                  : schema({field("a", int32()), field("s", inner)});
  };
  const auto json = [](const std::shared_ptr<Schema>& schema, bool turned) {
    Int32Builder a;
    ARROW_CHECK_OK(a.Append(7));
    Int8Builder x;
    ARROW_CHECK_OK(x.Append(3));
    StringBuilder y;
    ARROW_CHECK_OK(y.Append("why"));
    const auto a_array = a.Finish().ValueOrDie();
    const auto x_array = x.Finish().ValueOrDie();
    const auto y_array = y.Finish().ValueOrDie();
    const auto s = std::make_shared<StructArray>(
        schema->GetFieldByName("s")->type(), 1,
        turned ? ArrayVector{y_array, x_array} : ArrayVector{x_array, y_array});
    return RecordBatch::Make(schema, 1, turned ? ArrayVector{s, a_array} : ArrayVector{a_array, s});
  };
  auto matcher = InputMatcher::Make(schema_of(false)).ValueOrDie();
  const auto straight = matcher.Match(*json(schema_of(false), false)).ValueOrDie();
  const auto turned = matcher.Match(*json(schema_of(true), true)).ValueOrDie();
  ASSERT_EQ(straight->columns.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(MakeArray(straight->columns[i])->Equals(MakeArray(turned->columns[i])));
  }
}

TEST(InputMatcherTest, WhatDoesNotFitIsRefusedByName) {
  using namespace arrow;
  const auto column = [](const std::string& name, std::shared_ptr<DataType> type, bool null) {
    auto builder = MakeBuilder(type).ValueOrDie();
    ARROW_CHECK_OK(null ? builder->AppendNull() : builder->AppendEmptyValue());
    return RecordBatch::Make(schema({field(name, type)}), 1, {builder->Finish().ValueOrDie()});
  };
  const auto match = [](std::shared_ptr<Field> field, const std::shared_ptr<RecordBatch>& batch) {
    auto matcher = InputMatcher::Make(schema({std::move(field)})).ValueOrDie();
    return matcher.Match(*batch).status();
  };
  const auto kInvalid = ErrorKind::kInvalidInput;
  EXPECT_THAT(match(field("a", int64()), column("b", int64(), false)), IsError(kInvalid, "`a`"));
  EXPECT_THAT(match(field("a", int64()), column("a", utf8(), false)),
              IsError(kInvalid, "`a` should have type int64, but its values are of type string"));
  EXPECT_THAT(match(field("a", int64(), false), column("a", int64(), true)),
              IsError(kInvalid, "column `a` holds a null in row 0"));
  EXPECT_THAT(match(field("a", int64()), column("a", int64(), true)), IsOk());

  const auto strict = struct_({field("x", int8(), false)});
  EXPECT_THAT(match(field("s", strict), column("s", struct_({field("x", int8())}), true)), IsOk());
  const auto valid = std::make_shared<StructArray>(
      struct_({field("x", int8())}), 1, ArrayVector{MakeArrayOfNull(int8(), 1).ValueOrDie()});
  EXPECT_THAT(
      match(field("s", strict), RecordBatch::Make(schema({field("s", valid->type())}), 1, {valid})),
      IsError(kInvalid, "column `s.x` holds a null"));
  EXPECT_THAT(InputMatcher::Make(schema({field("d", dictionary(int8(), utf8()))})),
              IsError(ErrorKind::kUnsupported, "`d`"));
}

TEST(InputMatcherTest, OffsetsThatLeadAstrayAreRefused) {
  using namespace arrow;
  const auto match = [](std::vector<int32_t> offsets) {
    const auto num_rows = static_cast<int64_t>(offsets.size()) - 1;
    auto data = ArrayData::Make(
        utf8(), num_rows,
        {nullptr, Buffer::FromVector(std::move(offsets)), Buffer::FromString("abcdef")});
    auto matcher = InputMatcher::Make(schema({field("s", utf8())})).ValueOrDie();
    return matcher.Match(*RecordBatch::Make(schema({field("s", utf8())}), data->length, {data}))
        .status();
  };
  EXPECT_THAT(match({0, 2, 6}), IsOk());
  EXPECT_THAT(match({0, 5, 3, 6}), IsError(ErrorKind::kInvalidInput, "`s`"));
  EXPECT_THAT(match({0, 2, 7}), IsError(ErrorKind::kInvalidInput, "`s`"));
  EXPECT_THAT(match({0, 200, 6}), IsError(ErrorKind::kInvalidInput, "`s`"));
  EXPECT_THAT(match({-1, 2, 6}), IsError(ErrorKind::kInvalidInput, "`s`"));
}

}  // namespace
}  // namespace glaive::file
