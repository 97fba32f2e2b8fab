#include "encoding/codec/sequence.h"

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kPage = {"data/a.lance", 64};
using Numbers = std::vector<uint64_t>;

wire::EncodingPtr Flat(uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); }
wire::EncodingPtr Constant(uint64_t value, size_t bytes) {
  std::string scalar(bytes, '\0');
  std::memcpy(scalar.data(), &value, bytes);
  return wire::MakeEncoding(wire::ConstantEncoding{scalar});
}

template <typename Word>
std::vector<std::byte> Words(std::initializer_list<Word> words) {
  std::vector<std::byte> bytes(words.size() * sizeof(Word));
  std::memcpy(bytes.data(), std::data(words), bytes.size());
  return bytes;
}
std::vector<std::byte> operator+(std::vector<std::byte> left, const std::vector<std::byte>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

arrow::Result<Sequence> Decode(const wire::EncodingPtr& encoding, uint64_t bits, Bytes payload,
                               uint64_t num_values) {
  ARROW_ASSIGN_OR_RAISE(const auto description,
                        SequenceDescription::Validate(encoding, bits, FileVersion::k2_3, kPage));
  return description.Decode(payload, num_values, kPage);
}

Numbers All(const Sequence& sequence) {
  Numbers numbers(sequence.size());
  sequence.Copy(0, numbers);
  for (uint64_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(sequence.At(i), numbers[i]) << i;
  return numbers;
}

TEST(SequenceTest, WhatIsWrittenIsRead) {
  std::mt19937_64 random(17);
  for (const size_t size : {0, 1, 2, 3, 1023, 1024, 1025, 5000}) {
    Numbers even(size);
    std::iota(even.begin(), even.end(), 7);
    Numbers same(size, 3);
    Numbers wild(size);
    Numbers small(size);
    Numbers ascending(size);
    uint64_t last = 1 << 20;
    for (size_t i = 0; i < size; ++i) {
      wild[i] = random();
      small[i] = random() % 9 + 1;
      ascending[i] = last += random() % 30 + 1;
    }
    for (const Numbers& numbers : {even, same, wild, small, ascending}) {
      const EncodedSequence encoded = EncodeSequence(numbers);
      const Bytes payload = encoded.payload ? Bytes(*encoded.payload) : Bytes();
      auto read = Decode(encoded.encoding, 64, payload, size);
      ASSERT_THAT(read, IsOk());
      EXPECT_EQ(All(*read), numbers);
      if (size > 1) {
        EXPECT_LE(payload.size(), size * sizeof(uint64_t));
      }
    }
    // Positions of a thousand slots take little more than their gaps.
    if (size == 5000) {
      EXPECT_LE(EncodeSequence(ascending).payload->size(), 5000u * 5 / 8 + 200);
    }
    EXPECT_FALSE(EncodeSequence(even).payload);
    EXPECT_FALSE(EncodeSequence(same).payload);
  }
}

TEST(SequenceTest, SearchesAndSums) {
  std::mt19937_64 random(3);
  const auto range = wire::MakeEncoding(wire::RangeEncoding{64, 5, 3});
  const auto flat = Words<uint64_t>({1, 4, 5, 6, 100, 101});
  // 10 11 12 13 20 30 40: differences of runs.
  const auto runs = wire::MakeEncoding(
      wire::DeltaEncoding{64, 10, wire::MakeEncoding(wire::RleEncoding{Flat(64), Flat(8)})});
  const auto run_payload = Words<uint64_t>({24, 1, 7, 10}) + Words<uint8_t>({3, 1, 2});
  for (auto& read : {Decode(range, 64, {}, 50), Decode(Flat(64), 64, flat, 6),
                     Decode(runs, 64, run_payload, 7)}) {
    ASSERT_THAT(read, IsOk());
    Sequence sequence = *read;
    const Numbers numbers = All(sequence);
    EXPECT_TRUE(sequence.AscendsBelow(numbers.back() + 1));
    EXPECT_FALSE(sequence.AscendsBelow(numbers.back()));
    for (uint64_t value = 0; value < 200; ++value) {
      const auto expected = std::ranges::lower_bound(numbers, value) - numbers.begin();
      EXPECT_EQ(sequence.LowerBound(value), static_cast<uint64_t>(expected)) << value;
    }
    ASSERT_TRUE(sequence.SumUp());
    uint64_t sum = 0;
    for (uint64_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(sequence.SumBefore(i), sum) << i;
      sum += numbers[i];
      const uint64_t length = sequence.RunLength(i, numbers.size());
      ASSERT_GE(length, 1u);
      for (uint64_t j = 0; j < length; ++j) EXPECT_EQ(numbers[i + j], numbers[i] + j);
    }
    EXPECT_EQ(sequence.SumBefore(numbers.size()), sum);
  }
  EXPECT_EQ(All(*Decode(runs, 64, run_payload, 7)), (Numbers{10, 11, 12, 13, 20, 30, 40}));
}

TEST(SequenceTest, RunsAndDictionariesOfChildren) {
  // Two values for 4 and 4 numbers; lengths need no payload.
  const auto runs = wire::MakeEncoding(wire::RleEncoding{Flat(32), Constant(4, 1)});
  const auto payload = Words<uint64_t>({8}) + Words<uint32_t>({9, 7});
  EXPECT_EQ(All(*Decode(runs, 32, payload, 8)), (Numbers{9, 9, 9, 9, 7, 7, 7, 7}));
  EXPECT_THAT(Decode(runs, 32, payload, 9), IsError(ErrorKind::kCorrupt, "data/a.lance"));

  const auto dictionary = wire::MakeEncoding(wire::DictionaryEncoding{Flat(32), Flat(64), 2});
  const auto indexed =
      Words<uint64_t>({12, 16}) + Words<uint32_t>({1, 0, 1}) + Words<uint64_t>({50, 60});
  EXPECT_EQ(All(*Decode(dictionary, 64, indexed, 3)), (Numbers{60, 50, 60}));
  const auto beyond =
      Words<uint64_t>({12, 16}) + Words<uint32_t>({1, 2, 1}) + Words<uint64_t>({50, 60});
  EXPECT_THAT(Decode(dictionary, 64, beyond, 3), IsError(ErrorKind::kCorrupt, "an index"));
}

TEST(SequenceTest, WhatCannotBeIsCorrupt) {
  const auto corrupt = [](const wire::EncodingPtr& encoding, uint64_t bits, Bytes payload,
                          uint64_t num_values, const char* text) {
    const auto read = Decode(encoding, bits, payload, num_values);
    EXPECT_THAT(read, IsError(ErrorKind::kCorrupt, text));
    EXPECT_THAT(read, IsError(ErrorKind::kCorrupt, "data/a.lance"));
  };
  const auto range = [](uint64_t bits, uint64_t start, uint64_t step) {
    return wire::MakeEncoding(wire::RangeEncoding{bits, start, step});
  };
  corrupt(nullptr, 64, {}, 1, "without an encoding");
  corrupt(Flat(32), 64, {}, 0, "64 expected");
  corrupt(range(64, 5, UINT64_MAX), 64, {}, 3, "do not fit");
  corrupt(range(32, 1, 1), 32, {}, uint64_t{1} << 32, "do not fit");
  corrupt(wire::MakeEncoding(wire::ConstantEncoding{}), 64, {}, 1, "of no value");
  corrupt(wire::MakeEncoding(wire::DeltaEncoding{64, 0, Constant(1, 8)}), 64, {}, 0,
          "differences of no numbers");
  corrupt(wire::MakeEncoding(wire::DeltaEncoding{64, 1, Constant(UINT64_MAX, 8)}), 64, {}, 3,
          "do not fit");
  // A few bytes that claim as many numbers as there can be.
  corrupt(Flat(64), 64, Words<uint64_t>({1}), uint64_t{1} << 60, "data/a.lance");
  const auto runs = wire::MakeEncoding(wire::RleEncoding{Flat(64), Flat(32)});
  corrupt(runs, 64, Words<uint64_t>({99}), 5, "too few");
  // No memory is taken for what a range or a run says, however long it is.
  EXPECT_EQ(Decode(range(64, 0, 1), 64, {}, uint64_t{1} << 60)->memory_bytes(), 32u);
  const auto long_run = Words<uint64_t>({8, 7}) + Words<uint32_t>({UINT32_MAX});
  EXPECT_EQ(Decode(runs, 64, long_run, UINT32_MAX)->memory_bytes(), 32u);
}

}  // namespace
}  // namespace glaive::encoding
