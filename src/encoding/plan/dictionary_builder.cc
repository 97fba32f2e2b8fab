#include "encoding/plan/dictionary_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace glaive::encoding {
namespace {

// The limits are pylance's; what is made of a sample is not.
constexpr uint64_t kMinValues = 100;
constexpr uint64_t kMaxItems = 100'000;
constexpr uint64_t kDivisor = 2;  // at least so many values an item
constexpr double kMaxSizeRatio = 0.8;
constexpr uint64_t kMaxItemBytes = 8 * 1024 * 1024;
constexpr uint64_t kMaxSamples = 4096;
constexpr uint64_t kMinSamples = 1024;
constexpr double kMaxUniqueRatio = 0.98;

__extension__ using Uint128 = unsigned __int128;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

template <typename Word>
uint64_t Load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

uint64_t Hash(std::string_view bytes) {
  constexpr uint64_t kSeed = 0x9e3779b97f4a7c15;
  constexpr uint64_t kFactor = 0xd6e8feb86659fd93;
  const char* begin = bytes.data();
  const size_t size = bytes.size();
  const char* end = begin + size;
  uint64_t hash = kSeed ^ size;
  if (size >= 8) {  // the last word may cover bytes of the one before it
    for (; end - begin > 8; begin += 8) hash = Mix(hash ^ Load<uint64_t>(begin), kFactor);
    return Mix(hash ^ Load<uint64_t>(end - 8), kFactor);
  }
  if (size >= 4) {
    return Mix(hash ^ (Load<uint32_t>(begin) << 32 | Load<uint32_t>(end - 4)), kFactor);
  }
  if (size > 0) {
    const auto at = [&](size_t i) { return uint64_t{static_cast<uint8_t>(begin[i])}; };
    hash ^= at(0) << 16 | at(size / 2) << 8 | at(size - 1);
  }
  return Mix(hash, kFactor);
}

// Most values are too short to be worth a call.
bool Equal(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size < 8 || size > 64) return size == 0 || std::memcmp(a.data(), b.data(), size) == 0;
  for (size_t at = 0; at + 8 < size; at += 8) {
    if (Load<uint64_t>(a.data() + at) != Load<uint64_t>(b.data() + at)) return false;
  }
  return Load<uint64_t>(a.data() + size - 8) == Load<uint64_t>(b.data() + size - 8);
}

// Distinct values, numbered in order of appearance: a hash table with open addressing.
class Numbering {
 public:
  // The number of a value, and whether it is a new one.
  std::pair<uint32_t, bool> Find(std::string_view value) {
    const uint64_t hash = Hash(value);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.number == kFree) {
        const auto number = static_cast<uint32_t>(items_.size());
        slot = {tag, number};
        items_.push_back(value);
        if (2 * items_.size() > slots_.size()) Grow();
        return {number, true};
      }
      if (slot.tag == tag && Equal(items_[slot.number], value)) return {slot.number, false};
    }
  }

  std::vector<std::string_view>& items() { return items_; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t tag = 0;
    uint32_t number = kFree;
  };

  void Grow() {
    slots_.assign(2 * slots_.size(), Slot{});
    mask_ = slots_.size() - 1;
    for (uint32_t number = 0; number < items_.size(); ++number) {
      const uint64_t hash = Hash(items_[number]);
      size_t at = hash & mask_;
      while (slots_[at].number != kFree) at = (at + 1) & mask_;
      slots_[at] = {static_cast<uint32_t>(hash >> 32), number};
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  size_t mask_ = 1023;
  std::vector<std::string_view> items_;
};

// How the two kinds of ranges give their values to what follows.
struct FixedAccess {
  std::span<const FixedRange> ranges;
  size_t value_bytes;

  static constexpr uint64_t kOffsetBytes = 0;
  std::string_view At(const FixedRange& range, int64_t i) const {
    return {reinterpret_cast<const char*>(range.values) + i * static_cast<int64_t>(value_bytes),
            value_bytes};
  }
  uint64_t TotalBytes() const {
    uint64_t total = 0;
    for (const FixedRange& range : ranges) total += static_cast<uint64_t>(range.length);
    return total * value_bytes;
  }
};

template <typename Offset>
struct VariableAccess {
  std::span<const VariableRange<Offset>> ranges;

  static constexpr uint64_t kOffsetBytes = sizeof(Offset);
  std::string_view At(const VariableRange<Offset>& range, int64_t i) const {
    const Offset begin = range.offsets[i];
    return {reinterpret_cast<const char*>(range.bytes) + begin,
            static_cast<size_t>(range.offsets[i + 1] - begin)};
  }
  uint64_t TotalBytes() const {
    uint64_t total = 0;
    for (const auto& range : ranges) {
      total += static_cast<uint64_t>(range.offsets[range.length] - range.offsets[0]);
    }
    return total;
  }
};

// Evenly spaced ones of all values.
template <typename Access, typename Visit>
void VisitSamples(const Access& access, uint64_t num_values, uint64_t num_samples,
                  const Visit& visit) {
  uint64_t begin_of_range = 0;
  uint64_t sample = 0;
  for (const auto& range : access.ranges) {
    const uint64_t end_of_range = begin_of_range + static_cast<uint64_t>(range.length);
    for (; sample < num_samples; ++sample) {
      const uint64_t i = sample * num_values / num_samples;
      if (i >= end_of_range) break;
      const auto at = static_cast<int64_t>(i - begin_of_range);
      const bool null = range.nulls != nullptr && IsNull(*range.nulls, at);
      visit(null ? std::string_view() : access.At(range, at));
    }
    begin_of_range = end_of_range;
  }
}

// How many distinct values there are, to the next whole number above, by how many of some samples
// are. Where they were drawn at random, x values of d distinct ones show d * (1 - e^(-x / d)).
double DistinctBy(uint64_t num_samples, uint64_t num_distinct) {
  const auto samples = static_cast<double>(num_samples);
  const auto distinct = static_cast<double>(num_distinct);
  if (distinct >= kMaxUniqueRatio * samples) return std::numeric_limits<double>::infinity();
  double low = distinct;
  double high = samples / (2 * (1 - kMaxUniqueRatio));  // shows kMaxUniqueRatio of distinct ones
  while (high - low > 1) {
    const double middle = (low + high) / 2;
    (middle * -std::expm1(-samples / middle) < distinct ? low : high) = middle;
  }
  return high;
}

// Not more distinct values than there are: each has one bit, which others may have too.
class DistinctBits {
 public:
  void Add(std::string_view value) {
    const uint64_t hash = Hash(value);
    uint64_t& word = words_[hash / 64 % kNumWords];
    const uint64_t bit = hash % 64;
    count_ += ~(word >> bit) & 1;
    word |= uint64_t{1} << bit;
  }
  uint64_t count() const { return count_; }

 private:
  static constexpr size_t kNumWords = kMaxSamples;
  std::array<uint64_t, kNumWords> words_ = {};
  uint64_t count_ = 0;
};

// Whether samples tell of more than `max_items` distinct values; false if they are too few to tell.
// Most often bits do, which take less time than to number the samples.
template <typename Access>
bool HasMoreDistinct(const Access& access, uint64_t num_values, uint64_t max_items) {
  const uint64_t num_samples = std::min(num_values, kMaxSamples);
  if (num_samples < kMinSamples) return false;
  DistinctBits bits;
  VisitSamples(access, num_values, num_samples, [&](std::string_view value) { bits.Add(value); });
  if (DistinctBy(num_samples, bits.count()) - 1 > static_cast<double>(max_items)) return true;
  Numbering seen;
  VisitSamples(access, num_values, num_samples, [&](std::string_view value) { seen.Find(value); });
  return DistinctBy(num_samples, seen.items().size()) > static_cast<double>(max_items);
}

template <typename Access>
std::optional<DictionaryValues> Build(const Access& access, uint64_t num_values) {
  const uint64_t max_items = std::min(num_values / kDivisor, kMaxItems);
  if (num_values < kMinValues || max_items == 0 || num_values > UINT32_MAX) return std::nullopt;
  if (HasMoreDistinct(access, num_values, max_items)) return std::nullopt;
  const uint64_t plain_bytes = access.TotalBytes() + num_values * access.kOffsetBytes;
  const uint64_t index_bytes = num_values * sizeof(uint32_t);
  const auto max_bytes = static_cast<uint64_t>(kMaxSizeRatio * static_cast<double>(plain_bytes));

  Numbering numbering;
  DictionaryValues result;
  result.indices.resize(num_values);
  uint32_t* index = result.indices.data();
  uint64_t item_bytes = 0;
  for (const auto& range : access.ranges) {
    for (int64_t i = 0; i < range.length; ++i, ++index) {
      if (range.nulls != nullptr && IsNull(*range.nulls, i)) continue;
      const std::string_view value = access.At(range, i);
      const auto [number, is_new] = numbering.Find(value);
      *index = number;
      if (!is_new) continue;
      item_bytes += value.size();
      const uint64_t num_items = numbering.items().size();
      if (num_items > max_items || item_bytes > kMaxItemBytes ||
          item_bytes + num_items * access.kOffsetBytes + index_bytes > max_bytes) {
        return std::nullopt;
      }
    }
  }
  if (numbering.items().empty()) return std::nullopt;
  result.items = std::move(numbering.items());
  return result;
}

}  // namespace

std::optional<DictionaryValues> BuildDictionary(std::span<const FixedRange> ranges,
                                                uint64_t num_values, size_t value_bytes) {
  return Build(FixedAccess{ranges, value_bytes}, num_values);
}

template <typename Offset>
std::optional<DictionaryValues> BuildDictionary(std::span<const VariableRange<Offset>> ranges,
                                                uint64_t num_values) {
  return Build(VariableAccess<Offset>{ranges}, num_values);
}

template std::optional<DictionaryValues> BuildDictionary(std::span<const VariableRange<int32_t>>,
                                                         uint64_t);
template std::optional<DictionaryValues> BuildDictionary(std::span<const VariableRange<int64_t>>,
                                                         uint64_t);

}  // namespace glaive::encoding
