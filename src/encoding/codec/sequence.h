#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Whole numbers of 8 to 64 bits that a file of 2.3 says beside its values: positions of slots,
// counts of items, offsets of strings, indices. How many there are is known from elsewhere.
//
//   constant, range   no payload: the description says them all
//   delta             the payload of the differences
//   rle               [u64 size of values][values][run lengths], each as its own description says
//   dictionary        [u64 size of indices][u64 size of items][indices][items]
//   flat, bit-packed, general   as in block.h
namespace glaive::encoding {

// Numbers that were decoded, as short as they will go: what a few bytes say costs what they take.
// Immutable.
class Sequence {
 public:
  Sequence() = default;

  uint64_t size() const { return size_; }
  uint64_t memory_bytes() const {
    return steps_.size() * sizeof(Step) + (values_.size() + sums_.size()) * sizeof(uint64_t);
  }

  // REQUIRES: i < size()
  uint64_t At(uint64_t i) const noexcept;
  // Numbers [begin, begin + out.size()). REQUIRES: they are there
  void Copy(uint64_t begin, std::span<uint64_t> out) const noexcept;

  // Whether each is more than the one before it, and the last below `end`.
  bool AscendsBelow(uint64_t end) const noexcept;
  // The first index whose number is at least `value`. REQUIRES: ascending
  uint64_t LowerBound(uint64_t value) const noexcept;
  // How many numbers from `i` on, up to index `end`, are each one more than the one before.
  uint64_t RunLength(uint64_t i, uint64_t end) const noexcept;

  // Makes SumBefore known; false if the sum overflows or a number is 0.
  bool SumUp();
  // Of the numbers [0, i). REQUIRES: SumUp, i <= size()
  uint64_t SumBefore(uint64_t i) const noexcept;

 private:
  friend class SequenceDescription;

  // Numbers begin, begin + 1 ... are start, start + step ...
  struct Step {
    uint64_t begin = 0;
    uint64_t start = 0;
    uint64_t step = 0;
    uint64_t sum = 0;  // of the numbers before
  };

  static Sequence OfStep(uint64_t size, uint64_t start, uint64_t step);
  void AddRun(uint64_t value, uint64_t length);
  const Step& StepOf(uint64_t i) const noexcept;
  uint64_t EndOf(const Step& step) const noexcept;

  uint64_t size_ = 0;
  std::vector<Step> steps_;       // or
  std::vector<uint64_t> values_;  // one by one
  std::vector<uint64_t> sums_;    // before each of them
};

class SequenceDescription {
 public:
  // Of numbers of so many bits.
  static arrow::Result<SequenceDescription> Validate(const wire::EncodingPtr& encoding,
                                                     uint64_t bits, FileVersion version,
                                                     Location where);

  // Whether there is a payload at all.
  bool has_payload() const { return has_payload_; }

  arrow::Result<Sequence> Decode(Bytes payload, uint64_t num_values, Location where) const;

 private:
  SequenceDescription(wire::EncodingPtr encoding, uint64_t bits, FileVersion version)
      : encoding_(std::move(encoding)), bits_(bits), version_(version) {}

  arrow::Result<Sequence> DecodeBlock(Bytes payload, uint64_t num_values, Location where) const;
  arrow::Result<Sequence> DecodeRange(const wire::RangeEncoding& range, uint64_t num_values,
                                      Location where) const;
  arrow::Result<Sequence> DecodeDelta(const wire::DeltaEncoding& delta, Bytes payload,
                                      uint64_t num_values, Location where) const;
  arrow::Result<Sequence> DecodeRuns(Bytes payload, uint64_t num_values, Location where) const;
  arrow::Result<Sequence> DecodeDictionary(uint64_t num_items, Bytes payload, uint64_t num_values,
                                           Location where) const;
  arrow::Result<std::optional<uint64_t>> NumRuns(Bytes payload, uint64_t most,
                                                 Location where) const;
  uint64_t max_value() const { return bits_ == 64 ? UINT64_MAX : (uint64_t{1} << bits_) - 1; }

  wire::EncodingPtr encoding_;
  uint64_t bits_;
  FileVersion version_;
  bool has_payload_ = true;
  // Deltas; values and run lengths; indices and items.
  std::vector<SequenceDescription> children_;
};

// Numbers as they are shortest of what this build writes: nothing, a constant, a range, differences
// of few bits, or few bits each.
struct EncodedSequence {
  wire::EncodingPtr encoding;
  std::optional<std::vector<std::byte>> payload;
};
EncodedSequence EncodeSequence(std::span<const uint64_t> values);

}  // namespace glaive::encoding
