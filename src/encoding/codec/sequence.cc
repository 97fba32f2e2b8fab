#include "encoding/codec/sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/byte_reader.h"
#include "encoding/codec/block.h"

namespace glaive::encoding {
namespace {

// Numbers that are spelled out although no payload bounds them: more are refused.
constexpr uint64_t kMostUnbounded = uint64_t{1} << 24;

struct Unsigned {
  bool fits = true;

  uint64_t Add(uint64_t a, uint64_t b) {
    fits &= a <= UINT64_MAX - b;
    return a + b;
  }
  uint64_t Multiply(uint64_t a, uint64_t b) {
    fits &= b == 0 || a <= UINT64_MAX / b;
    return a * b;
  }
};

// start + (start + step) + ... of `count` numbers.
uint64_t SumOf(uint64_t start, uint64_t step, uint64_t count, Unsigned& math) {
  if (count == 0) return 0;
  const uint64_t pairs =
      count % 2 == 0 ? math.Multiply(count / 2, count - 1) : math.Multiply(count, (count - 1) / 2);
  return math.Add(math.Multiply(start, count), math.Multiply(step, pairs));
}

}  // namespace

Sequence Sequence::OfStep(uint64_t size, uint64_t start, uint64_t step) {
  Sequence sequence;
  sequence.size_ = size;
  if (size > 0) sequence.steps_.push_back({.begin = 0, .start = start, .step = step});
  return sequence;
}

void Sequence::AddRun(uint64_t value, uint64_t length) {
  if (steps_.empty() || steps_.back().start != value) {
    steps_.push_back({.begin = size_, .start = value});
  }
  size_ += length;
}

const Sequence::Step& Sequence::StepOf(uint64_t i) const noexcept {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), i,
                       [](uint64_t wanted, const Step& step) { return wanted < step.begin; });
  return *(after - 1);
}

uint64_t Sequence::EndOf(const Step& step) const noexcept {
  const Step* const next = &step + 1;
  return next == steps_.data() + steps_.size() ? size_ : next->begin;
}

uint64_t Sequence::At(uint64_t i) const noexcept {
  if (!values_.empty()) return values_[i];
  const Step& step = StepOf(i);
  return step.start + (i - step.begin) * step.step;
}

void Sequence::Copy(uint64_t begin, std::span<uint64_t> out) const noexcept {
  if (out.empty()) return;
  if (!values_.empty()) {
    std::memcpy(out.data(), values_.data() + begin, out.size_bytes());
    return;
  }
  const Step* step = &StepOf(begin);
  uint64_t end = EndOf(*step);
  for (uint64_t i = 0; i < out.size(); ++i) {
    if (begin + i == end) end = EndOf(*++step);
    out[i] = step->start + (begin + i - step->begin) * step->step;
  }
}

bool Sequence::AscendsBelow(uint64_t end) const noexcept {
  if (size_ == 0) return true;
  for (size_t i = 1; i < values_.size(); ++i) {
    if (values_[i] <= values_[i - 1]) return false;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].step == 0 && EndOf(steps_[i]) - steps_[i].begin > 1) return false;
    if (i > 0 && steps_[i].start <= At(steps_[i].begin - 1)) return false;
  }
  return At(size_ - 1) < end;
}

uint64_t Sequence::LowerBound(uint64_t value) const noexcept {
  if (!values_.empty()) {
    return static_cast<uint64_t>(std::ranges::lower_bound(values_, value) - values_.begin());
  }
  const auto after = std::partition_point(steps_.begin(), steps_.end(),
                                          [&](const Step& step) { return step.start < value; });
  if (after == steps_.begin()) return 0;
  const Step& step = *(after - 1);  // starts below
  const uint64_t end = EndOf(step);
  if (step.step == 0) return end;
  const uint64_t more = (value - step.start + step.step - 1) / step.step;
  return more >= end - step.begin ? end : step.begin + more;
}

uint64_t Sequence::RunLength(uint64_t i, uint64_t end) const noexcept {
  if (i >= end) return 0;
  if (!values_.empty()) {
    uint64_t length = 1;
    while (i + length < end && values_[i + length] == values_[i] + length) ++length;
    return length;
  }
  const Step& step = StepOf(i);
  return step.step == 1 ? std::min(end, EndOf(step)) - i : 1;
}

bool Sequence::SumUp() {
  Unsigned math;
  if (!values_.empty()) {
    sums_.resize(values_.size() + 1);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == 0) return false;
      sums_[i + 1] = math.Add(sums_[i], values_[i]);
    }
    return math.fits;
  }
  uint64_t sum = 0;
  for (Step& step : steps_) {
    if (step.start == 0) return false;
    step.sum = sum;
    sum = math.Add(sum, SumOf(step.start, step.step, EndOf(step) - step.begin, math));
  }
  return math.fits;
}

uint64_t Sequence::SumBefore(uint64_t i) const noexcept {
  if (i == 0) return 0;
  if (!values_.empty()) return sums_[i];
  const Step& step = StepOf(i - 1);
  Unsigned math;
  return step.sum + SumOf(step.start, step.step, i - step.begin, math);
}

// --- Reading -------------------------------------------------------------------------------------

arrow::Result<SequenceDescription> SequenceDescription::Validate(const wire::EncodingPtr& encoding,
                                                                 uint64_t bits, FileVersion version,
                                                                 Location where) {
  if (encoding == nullptr) return Corrupt(where, "numbers of {} bits without an encoding", bits);
  SequenceDescription description(encoding, bits, version);
  const auto add = [&](const wire::EncodingPtr& child, uint64_t child_bits) {
    return Validate(child, child_bits, version, where).Map([&](SequenceDescription made) {
      description.children_.push_back(std::move(made));
      return true;
    });
  };
  const auto any_payload = [&] {
    return std::ranges::any_of(description.children_, &SequenceDescription::has_payload);
  };
  const auto expect = [&](uint64_t found) {
    if (found == bits) return arrow::Status::OK();
    return Corrupt(where, "{} numbers of {} bits; {} expected", NameOf(*encoding), found, bits);
  };
  if (const auto* constant = std::get_if<wire::ConstantEncoding>(&encoding->kind)) {
    if (constant->value) ARROW_RETURN_NOT_OK(expect(8 * constant->value->size()));
    description.has_payload_ = false;
  } else if (const auto* range = std::get_if<wire::RangeEncoding>(&encoding->kind)) {
    ARROW_RETURN_NOT_OK(expect(range->uncompressed_bits));
    description.has_payload_ = false;
  } else if (const auto* delta = std::get_if<wire::DeltaEncoding>(&encoding->kind)) {
    ARROW_RETURN_NOT_OK(expect(delta->uncompressed_bits));
    ARROW_RETURN_NOT_OK(add(delta->deltas, bits).status());
    description.has_payload_ = any_payload();
  } else if (const auto* rle = std::get_if<wire::RleEncoding>(&encoding->kind)) {
    ARROW_RETURN_NOT_OK(add(rle->values, bits).status());
    // The width of a run length is its own encoding's.
    arrow::Result<bool> lengths = false;
    for (const uint64_t length_bits : {8, 16, 32}) {
      lengths = add(rle->run_lengths, length_bits);
      if (lengths.ok()) break;
    }
    ARROW_RETURN_NOT_OK(lengths.status());
    description.has_payload_ = any_payload();
  } else if (const auto* dictionary = std::get_if<wire::DictionaryEncoding>(&encoding->kind)) {
    ARROW_RETURN_NOT_OK(add(dictionary->indices, 32).status());
    ARROW_RETURN_NOT_OK(add(dictionary->items, bits).status());
    description.has_payload_ = any_payload();
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto block,
                          FixedBlockDescription::Validate(*encoding, version, where));
    ARROW_RETURN_NOT_OK(expect(block.value_bits()));
  }
  return description;
}

arrow::Result<Sequence> SequenceDescription::Decode(Bytes payload, uint64_t num_values,
                                                    Location where) const {
  if (const auto* constant = std::get_if<wire::ConstantEncoding>(&encoding_->kind)) {
    if (!constant->value && num_values > 0) {
      return Corrupt(where, "{} numbers of no value", num_values);
    }
    uint64_t value = 0;
    if (constant->value) std::memcpy(&value, constant->value->data(), constant->value->size());
    return Sequence::OfStep(num_values, value, 0);
  }
  if (const auto* range = std::get_if<wire::RangeEncoding>(&encoding_->kind)) {
    return DecodeRange(*range, num_values, where);
  }
  if (const auto* delta = std::get_if<wire::DeltaEncoding>(&encoding_->kind)) {
    return DecodeDelta(*delta, payload, num_values, where);
  }
  if (const auto* dictionary = std::get_if<wire::DictionaryEncoding>(&encoding_->kind)) {
    return DecodeDictionary(dictionary->num_items, payload, num_values, where);
  }
  if (std::holds_alternative<wire::RleEncoding>(encoding_->kind)) {
    return DecodeRuns(payload, num_values, where);
  }
  return DecodeBlock(payload, num_values, where);
}

arrow::Result<Sequence> SequenceDescription::DecodeBlock(Bytes payload, uint64_t num_values,
                                                         Location where) const {
  ARROW_ASSIGN_OR_RAISE(const auto block,
                        FixedBlockDescription::Validate(*encoding_, version_, where));
  Sequence sequence;
  ARROW_ASSIGN_OR_RAISE(const bool runs, block.VisitRuns(payload, num_values, where,
                                                         [&](uint64_t value, uint64_t length) {
                                                           sequence.AddRun(value, length);
                                                         }));
  if (runs || num_values == 0) return sequence;
  // What is packed to no bits at all has a payload of none.
  if (payload.empty()) {
    if (num_values > kMostUnbounded) {
      return Corrupt(where, "{} numbers in a payload of no bytes", num_values);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::byte> words,
                        block.Decode(payload, num_values, where));
  sequence.size_ = num_values;
  sequence.values_.resize(num_values);
  WithWord(bits_, [&](auto word) {
    for (uint64_t i = 0; i < num_values; ++i) {
      sequence.values_[i] = LoadLittleEndian<decltype(word)>(words.data() + i * sizeof(word));
    }
  });
  return sequence;
}

arrow::Result<Sequence> SequenceDescription::DecodeRange(const wire::RangeEncoding& range,
                                                         uint64_t num_values,
                                                         Location where) const {
  Unsigned math;
  if (num_values > 0) {
    const uint64_t last = math.Add(range.start, math.Multiply(range.step, num_values - 1));
    if (!math.fits || last > max_value()) {
      return Corrupt(where, "{} numbers from {} in steps of {} do not fit {} bits", num_values,
                     range.start, range.step, bits_);
    }
  }
  return Sequence::OfStep(num_values, range.start, range.step);
}

arrow::Result<Sequence> SequenceDescription::DecodeDelta(const wire::DeltaEncoding& delta,
                                                         Bytes payload, uint64_t num_values,
                                                         Location where) const {
  if (num_values == 0) return Corrupt(where, "differences of no numbers");
  ARROW_ASSIGN_OR_RAISE(const Sequence deltas, children_[0].Decode(payload, num_values - 1, where));
  Unsigned math;
  uint64_t value = delta.base;
  Sequence sequence;
  const bool flat =
      std::ranges::all_of(deltas.steps_, [](const Sequence::Step& step) { return step.step == 0; });
  if (deltas.values_.empty() && flat) {
    sequence.size_ = num_values;
    for (const Sequence::Step& step : deltas.steps_) {
      sequence.steps_.push_back({.begin = step.begin, .start = value, .step = step.start});
      value = math.Add(value, math.Multiply(step.start, deltas.EndOf(step) - step.begin));
    }
    if (sequence.steps_.empty()) sequence.steps_.push_back({.start = value});
  } else {
    if (deltas.values_.empty() && num_values > kMostUnbounded) {
      return Unsupported(where, "{} numbers whose differences grow", num_values);
    }
    sequence.size_ = num_values;
    sequence.values_.resize(num_values);
    deltas.Copy(0, std::span(sequence.values_).subspan(1));
    sequence.values_[0] = value;
    for (uint64_t i = 1; i < num_values; ++i) {
      value = math.Add(value, sequence.values_[i]);
      sequence.values_[i] = value;
    }
  }
  if (!math.fits || value > max_value()) {
    return Corrupt(where, "{} numbers from {} on do not fit {} bits", num_values, delta.base,
                   bits_);
  }
  return sequence;
}

// How many values the payload of a child holds, if that tells.
arrow::Result<std::optional<uint64_t>> SequenceDescription::NumRuns(Bytes payload, uint64_t most,
                                                                    Location where) const {
  if (!children_.empty()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto block,
                        FixedBlockDescription::Validate(*encoding_, version_, where));
  return block.NumValues(payload, most, where);
}

arrow::Result<Sequence> SequenceDescription::DecodeRuns(Bytes payload, uint64_t num_values,
                                                        Location where) const {
  const SequenceDescription& values = children_[0];
  const SequenceDescription& lengths = children_[1];
  Bytes of_values;
  Bytes of_lengths;
  if (has_payload_) {
    if (payload.size() < sizeof(uint64_t) ||
        LoadLittleEndian<uint64_t>(payload.data()) > payload.size() - sizeof(uint64_t)) {
      return Corrupt(where, "runs in {} bytes, too few for their values", payload.size());
    }
    const auto size = LoadLittleEndian<uint64_t>(payload.data());
    of_values = payload.subspan(sizeof(uint64_t), size);
    of_lengths = payload.subspan(sizeof(uint64_t) + size);
  }
  std::optional<uint64_t> num_runs;
  if (values.has_payload()) {
    ARROW_ASSIGN_OR_RAISE(num_runs, values.NumRuns(of_values, num_values, where));
  }
  if (!num_runs && lengths.has_payload()) {
    ARROW_ASSIGN_OR_RAISE(num_runs, lengths.NumRuns(of_lengths, num_values, where));
  }
  if (!num_runs && !lengths.has_payload()) {
    // Lengths that the description says: as many as make up the values.
    const auto* range = std::get_if<wire::RangeEncoding>(&lengths.encoding_->kind);
    ARROW_ASSIGN_OR_RAISE(const Sequence first, lengths.Decode({}, num_values > 0 ? 1 : 0, where));
    uint64_t left = num_values;
    uint64_t length = num_values > 0 ? first.At(0) : 0;
    for (num_runs = 0; left > 0; ++*num_runs) {
      if (length == 0 || length > left || *num_runs == kMostUnbounded) {
        return Corrupt(where, "runs without a payload that are not {} values", num_values);
      }
      left -= length;
      if (range != nullptr) length += std::min(range->step, UINT64_MAX - length);
    }
  }
  if (!num_runs) return Unsupported(where, "runs whose number is not told");
  ARROW_ASSIGN_OR_RAISE(const Sequence run_values, values.Decode(of_values, *num_runs, where));
  ARROW_ASSIGN_OR_RAISE(const Sequence run_lengths, lengths.Decode(of_lengths, *num_runs, where));
  Sequence sequence;
  for (uint64_t i = 0; i < *num_runs; ++i) {
    const uint64_t length = run_lengths.At(i);
    if (length == 0 || length > num_values - sequence.size_) {
      return Corrupt(where, "run {} of {} values is {} long", i, num_values, length);
    }
    sequence.AddRun(run_values.At(i), length);
  }
  if (sequence.size_ != num_values) {
    return Corrupt(where, "runs of {} values; {} expected", sequence.size_, num_values);
  }
  return sequence;
}

arrow::Result<Sequence> SequenceDescription::DecodeDictionary(uint64_t num_items, Bytes payload,
                                                              uint64_t num_values,
                                                              Location where) const {
  constexpr uint64_t kHeader = 2 * sizeof(uint64_t);
  Bytes of_indices;
  Bytes of_items;
  if (has_payload_) {
    uint64_t left = payload.size();
    if (left < kHeader) return Corrupt(where, "a dictionary of numbers in {} bytes", left);
    left -= kHeader;
    const auto indices_size = LoadLittleEndian<uint64_t>(payload.data());
    const auto items_size = LoadLittleEndian<uint64_t>(payload.data() + sizeof(uint64_t));
    if (indices_size > left || items_size != left - indices_size) {
      return Corrupt(where, "indices of {} bytes and items of {} in {}", indices_size, items_size,
                     left);
    }
    of_indices = payload.subspan(kHeader, indices_size);
    of_items = payload.subspan(kHeader + indices_size);
  }
  ARROW_ASSIGN_OR_RAISE(Sequence indices, children_[0].Decode(of_indices, num_values, where));
  ARROW_ASSIGN_OR_RAISE(const Sequence items, children_[1].Decode(of_items, num_items, where));
  const auto item_of = [&](uint64_t index, bool* found) {
    *found = index < num_items;
    return *found ? items.At(index) : 0;
  };
  bool found = true;
  for (uint64_t& value : indices.values_) {
    value = item_of(value, &found);
    if (!found) break;
  }
  for (Sequence::Step& step : indices.steps_) {
    found = found && step.step == 0;
    if (found) step.start = item_of(step.start, &found);
  }
  if (!found) return Corrupt(where, "an index into a dictionary of {} numbers", num_items);
  return indices;
}

// --- Writing -------------------------------------------------------------------------------------

namespace {

// Numbers of `width` bits each, which is less than 64.
std::vector<std::byte> Pack(std::span<const uint64_t> values, unsigned width) {
  std::vector<std::byte> out(OutOfLineBitpackedBytes<uint64_t>(values.size(), width));
  EncodeOutOfLineBitpacked(values, width, out.data());
  return out;
}

EncodedSequence EncodeDirect(std::span<const uint64_t> values) {
  constexpr unsigned kBits = 64;
  const unsigned width = PackedWidth(values);
  if (width > 0 && width < kBits &&
      OutOfLineBitpackedBytes<uint64_t>(values.size(), width) < values.size_bytes()) {
    return {wire::MakeEncoding(wire::OutOfLineBitpackingEncoding{
                kBits, wire::MakeEncoding(wire::FlatEncoding{width})}),
            Pack(values, width)};
  }
  const auto bytes = std::as_bytes(values);
  return {wire::MakeEncoding(wire::FlatEncoding{kBits}),
          std::vector<std::byte>(bytes.begin(), bytes.end())};
}

}  // namespace

EncodedSequence EncodeSequence(std::span<const uint64_t> values) {
  constexpr uint64_t kBits = 64;
  if (values.empty()) return {wire::MakeEncoding(wire::ConstantEncoding{}), std::nullopt};
  bool ascends = true;
  bool even = true;
  const uint64_t step = values.size() > 1 ? values[1] - values[0] : 0;
  for (size_t i = 1; i < values.size(); ++i) {
    ascends &= values[i] >= values[i - 1];
    even &= values[i] - values[i - 1] == step;
  }
  if (ascends && even) {
    if (step > 0) {
      return {wire::MakeEncoding(wire::RangeEncoding{kBits, values[0], step}), std::nullopt};
    }
    std::string scalar(sizeof(uint64_t), '\0');
    std::memcpy(scalar.data(), values.data(), scalar.size());
    return {wire::MakeEncoding(wire::ConstantEncoding{std::move(scalar)}), std::nullopt};
  }
  EncodedSequence direct = EncodeDirect(values);
  if (!ascends) return direct;
  std::vector<uint64_t> deltas(values.size() - 1);
  for (size_t i = 0; i < deltas.size(); ++i) deltas[i] = values[i + 1] - values[i];
  EncodedSequence apart = EncodeDirect(deltas);
  if (apart.payload->size() >= direct.payload->size()) return direct;
  return {wire::MakeEncoding(wire::DeltaEncoding{kBits, values[0], std::move(apart.encoding)}),
          std::move(apart.payload)};
}

}  // namespace glaive::encoding
