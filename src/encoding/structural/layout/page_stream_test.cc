#include "encoding/structural/layout/page_stream.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsOk;
using glaive::testing::RandomValues;
using Type = std::shared_ptr<arrow::DataType>;
using Rows = std::shared_ptr<arrow::ArrayData>;

const PageEncodeOptions kOptions = {.version = FileVersion::k2_2, .column_name = "c"};

LeafPath PathOf(const Type& type) {
  return LeavesOf(*arrow::field("c", type)).ValueOrDie().front();
}

std::string Joined(const PageStream::Parts& parts) {
  std::string bytes;
  for (const auto& part : parts) bytes += part->ToString();
  return bytes;
}

struct WholePage {
  std::string layout;
  std::vector<std::string> buffers;
  uint64_t num_rows = 0;
  bool operator==(const WholePage&) const = default;
};

WholePage Whole(const EncodedPage& page) {
  WholePage whole = {.layout = page.layout, .buffers = {}, .num_rows = page.num_rows};
  for (const auto& parts : page.buffers) whole.buffers.push_back(Joined(parts));
  return whole;
}

WholePage AtOnce(const Rows& rows, const LeafPath& path) {
  const auto pages = EncodePages(std::vector<Rows>{rows}, path, kOptions).ValueOrDie();
  EXPECT_EQ(pages.size(), 1u);
  return Whole(pages.front());
}

// The rows piece by piece; nothing where they cannot be a page that way.
std::optional<WholePage> Streamed(const Rows& rows, const LeafPath& path,
                                  const std::vector<int64_t>& cuts) {
  std::unique_ptr<PageStream> stream;
  std::string grown;
  int64_t begin = 0;
  for (const int64_t end : cuts) {
    if (stream == nullptr) {
      stream = PageStream::Begin({rows->Slice(begin, end - begin)}, path, kOptions).ValueOrDie();
      if (stream == nullptr) return std::nullopt;
    }
    const int64_t half = (end - begin) / 2;
    const auto added =
        stream->Add({rows->Slice(begin, half), rows->Slice(begin + half, end - begin - half)})
            .ValueOrDie();
    if (added == nullptr) return std::nullopt;
    grown += Joined(stream->Encode(added).ValueOrDie());
    begin = end;
  }
  WholePage page = Whole(stream->Finish().ValueOrDie());
  std::string& buffer = page.buffers.at(stream->buffer());
  buffer = grown + buffer;
  return page;
}

std::vector<int64_t> Cuts(int64_t first, int64_t end, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> cuts = {first};
  while (cuts.back() < end) {
    const int64_t step = std::uniform_int_distribution<int64_t>(1, end / 4)(random);
    cuts.push_back(std::min(end, cuts.back() + step));
  }
  return cuts;
}

const std::vector<Type>& Types() {
  using namespace arrow;
  static const std::vector<Type> types = {int16(),
                                          int32(),
                                          int64(),
                                          float64(),
                                          decimal128(12, 3),
                                          fixed_size_binary(300),
                                          utf8(),
                                          large_binary(),
                                          fixed_size_list(float32(), 4),
                                          fixed_size_list(int64(), 40),
                                          list(int16()),
                                          large_list(utf8()),
                                          list(list(int32())),
                                          list(fixed_size_list(float32(), 3)),
                                          struct_({field("a", list(int32()))}),
                                          list(struct_({field("a", large_list(uint8()))}))};
  return types;
}

void ExpectTheSame(const Type& type, testing::RandomValueOptions options, int64_t num_rows) {
  const auto rows = RandomValues(options, 11).Make(type, num_rows);
  const LeafPath path = PathOf(type);
  for (const uint64_t seed : {1, 2}) {
    const auto page = Streamed(rows, path, Cuts(num_rows / 3 * 2, num_rows, seed));
    ASSERT_TRUE(page) << type->ToString();
    EXPECT_TRUE(*page == AtOnce(rows, path)) << type->ToString() << " nulls " << options.nulls;
  }
}

TEST(PageStreamTest, PiecesMakeThePageThatAllRowsMake) {
  for (const Type& type : Types()) {
    ExpectTheSame(type, {.nulls = 0}, 60'000);
    // Nulls inside of fixed-size lists are told with the values.
    const Type& values = PathOf(type).type;
    if (values->id() != arrow::Type::FIXED_SIZE_LIST) ExpectTheSame(type, {.nulls = 0.1}, 60'000);
  }
  for (const Type& type : {arrow::utf8(), arrow::large_binary(), arrow::list(arrow::binary())}) {
    ExpectTheSame(type, {.nulls = 0, .max_length = 2000}, 3000);
    ExpectTheSame(type, {.nulls = 0.1, .max_length = 2000}, 3000);
    ExpectTheSame(type, {.nulls = 0, .max_length = 2000, .distinct = 3}, 3000);
  }
}

TEST(PageStreamTest, WhatHasToBeAtHandAsAWholeIsNotStreamed) {
  const auto begins = [](const Rows& rows) {
    return PageStream::Begin({rows}, PathOf(rows->type), kOptions).ValueOrDie() != nullptr;
  };
  EXPECT_TRUE(begins(RandomValues({.nulls = 0}, 1).Make(arrow::int64(), 5000)));
  EXPECT_FALSE(begins(RandomValues({.nulls = 1}, 1).Make(arrow::int64(), 5000)));
  EXPECT_FALSE(begins(RandomValues({.nulls = 0, .distinct = 1}, 1).Make(arrow::int64(), 5000)));
  const arrow::ArrayVector words(
      500,
      arrow::MakeArray(RandomValues({.nulls = 0, .max_length = 40}, 1).Make(arrow::utf8(), 9)));
  EXPECT_FALSE(begins(arrow::Concatenate(words).ValueOrDie()->data()));
  EXPECT_FALSE(begins(RandomValues({.nulls = 0}, 1).Make(arrow::boolean(), 5000)));
  EXPECT_FALSE(begins(
      RandomValues({.nulls = 0.2}, 1).Make(arrow::fixed_size_list(arrow::int32(), 4), 5000)));
}

// Rows that the first ones said nothing of, and rows that another codec is for.
TEST(PageStreamTest, OtherRowsEndThePage) {
  const auto takes = [](const Rows& first, const Rows& next) {
    const LeafPath path = PathOf(first->type);
    auto stream = PageStream::Begin({first}, path, kOptions).ValueOrDie();
    EXPECT_THAT(stream->Encode(stream->Add({first}).ValueOrDie()), IsOk());
    const auto added = stream->Add({next}).ValueOrDie();
    const bool taken = added != nullptr;
    if (taken) {
      EXPECT_THAT(stream->Encode(added), IsOk());
    }
    // The page is as if it had not been tried.
    if (!taken) {
      EXPECT_EQ(Whole(stream->Finish().ValueOrDie()).num_rows,
                static_cast<uint64_t>(first->length));
    }
    return taken;
  };
  const auto make = [](const Type& type, testing::RandomValueOptions options) {
    return RandomValues(options, 3).Make(type, 20'000);
  };
  const auto ints = arrow::int32();
  EXPECT_TRUE(takes(make(ints, {.nulls = 0}), make(ints, {.nulls = 0})));
  EXPECT_TRUE(takes(make(ints, {.nulls = 0.2}), make(ints, {.nulls = 0})));
  EXPECT_FALSE(takes(make(ints, {.nulls = 0}), make(ints, {.nulls = 0.2})));
  std::vector<int32_t> runs(20'000);
  for (size_t i = 0; i < runs.size(); ++i) runs[i] = static_cast<int32_t>(i / 100 * 7'654'321);
  const auto equal =
      arrow::ArrayData::Make(ints, 20'000, {nullptr, arrow::Buffer::FromVector(std::move(runs))});
  EXPECT_TRUE(takes(equal, equal));
  EXPECT_FALSE(takes(equal, make(ints, {.nulls = 0})));
  EXPECT_FALSE(takes(make(ints, {.nulls = 0}), equal));
  EXPECT_FALSE(takes(make(arrow::utf8(), {.nulls = 0}),
                     make(arrow::utf8(), {.nulls = 0, .max_length = 600})));
  EXPECT_TRUE(takes(make(arrow::utf8(), {.nulls = 0, .max_length = 600}),
                    make(arrow::utf8(), {.nulls = 0})));
}

}  // namespace
}  // namespace glaive::encoding
