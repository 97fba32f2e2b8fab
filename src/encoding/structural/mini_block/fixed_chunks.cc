#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <arrow/util/bitmap_ops.h>

#include "encoding/codec/bitpacking.h"
#include "encoding/codec/rle.h"
#include "encoding/structural/mini_block/value_chunks.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kMaxChunkValues = 4096;
constexpr uint64_t kMaxChunkBytes = 8186;

wire::EncodingPtr Flat(uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); }

// Chunks that all hold the same number of values but for the last.
class EvenChunks : public ValueChunks {
 public:
  uint64_t NextCount() override { return std::min(chunk_values_, remaining_); }

 protected:
  EvenChunks(uint64_t num_values, uint64_t chunk_values)
      : ValueChunks(num_values), chunk_values_(chunk_values) {}

  uint64_t chunk_values_;
  uint64_t count_ = 0;  // prepared
};

class FlatChunks final : public EvenChunks {
 public:
  FlatChunks(std::span<const FixedRange> ranges, uint64_t num_values, size_t value_bytes,
             wire::EncodingPtr description)
      : EvenChunks(num_values, FlatChunkValues(8 * value_bytes)),
        stream_(ranges, value_bytes),
        value_bytes_(value_bytes),
        description_(std::move(description)) {}

  const std::vector<size_t>& Prepare(uint64_t count) override {
    count_ = count;
    sizes_.assign(1, count * value_bytes_);
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    stream_.Read(count_, buffers[0]);
    remaining_ -= count_;
  }

  wire::EncodingPtr Describe() const override { return description_; }
  uint64_t counted_last_chunk() const override { return chunk_values_; }

 private:
  FixedStream stream_;
  size_t value_bytes_;
  wire::EncodingPtr description_;
};

class BooleanChunks final : public EvenChunks {
 public:
  explicit BooleanChunks(const LevelSurvey& survey)
      : EvenChunks(survey.num_visible, FlatChunkValues(1)), ranges_(survey.ranges) {}

  const std::vector<size_t>& Prepare(uint64_t count) override {
    count_ = count;
    sizes_.assign(1, (count + 7) / 8);
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    auto* out = reinterpret_cast<uint8_t*>(buffers[0]);
    out[(count_ - 1) / 8] = 0;  // the bits behind the last value
    int64_t written = 0;
    const auto count = static_cast<int64_t>(count_);
    while (written < count) {
      if (in_range_ == ranges_[range_].length) {
        ++range_;
        in_range_ = 0;
      }
      const LeafRange& range = ranges_[range_];
      const int64_t step = std::min(count - written, range.length - in_range_);
      const arrow::ArrayData& leaf = *range.nest->leaf;
      arrow::internal::CopyBitmap(leaf.buffers[1]->data(),
                                  range.begin + range.nest->leaf_shift + in_range_, step, out,
                                  written);
      if (range.has_nulls) {
        VisitNulls(range, in_range_, step,
                   [&](int64_t at) { arrow::bit_util::ClearBit(out, written + at); });
      }
      written += step;
      in_range_ += step;
    }
    remaining_ -= count_;
  }

  wire::EncodingPtr Describe() const override { return Flat(1); }
  uint64_t counted_last_chunk() const override { return chunk_values_; }

 private:
  std::span<const LeafRange> ranges_;
  size_t range_ = 0;
  int64_t in_range_ = 0;
};

template <typename T>
class BitpackedChunks final : public EvenChunks {
 public:
  BitpackedChunks(std::span<const FixedRange> ranges, uint64_t num_values,
                  std::vector<uint8_t> widths)
      : EvenChunks(num_values, kBitpackBlock),
        stream_(ranges, sizeof(T)),
        num_values_(num_values),
        widths_(std::move(widths)) {}

  const std::vector<size_t>& Prepare(uint64_t count) override {
    values_ = {reinterpret_cast<const T*>(stream_.Peek(count)), count};
    // Where levels made a chunk end early, those behind it are other blocks.
    const uint64_t begin = num_values_ - remaining_;
    const bool is_known = !widths_.empty() && begin % kBitpackBlock == 0 && count == NextCount();
    width_ = is_known ? widths_[begin / kBitpackBlock] : PackedWidth<T>(values_);
    sizes_.assign(1, InlineBitpackedBytes<T>(width_));
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    EncodeInlineBitpacked<T>(values_, width_, buffers[0]);
    stream_.Skip(values_.size());
    remaining_ -= values_.size();
  }

  wire::EncodingPtr Describe() const override {
    return wire::MakeEncoding(wire::InlineBitpackingEncoding{8 * sizeof(T)});
  }

 private:
  FixedStream stream_;
  uint64_t num_values_;
  std::vector<uint8_t> widths_;  // of the blocks that all values make
  std::span<const T> values_;
  unsigned width_ = 0;
};

template <typename T>
class RunChunks final : public ValueChunks {
 public:
  RunChunks(std::span<const FixedRange> ranges, uint64_t num_values)
      : ValueChunks(num_values), stream_(ranges, sizeof(T)) {}

  uint64_t NextCount() override {
    uint64_t count = std::min(remaining_, kMaxChunkValues);
    const auto* values = reinterpret_cast<const T*>(stream_.Peek(count));
    while (count > 2 && EncodedBytes(values, count) > kMaxChunkBytes) {
      count = std::bit_floor(count - 1);
    }
    return count;
  }

  const std::vector<size_t>& Prepare(uint64_t count) override {
    count_ = count;
    const auto* values = reinterpret_cast<const T*>(stream_.Peek(count));
    runs_ = EncodeRle<T>(std::span<const T>(values, count));
    sizes_ = {runs_.values.size(), runs_.run_lengths.size()};
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    std::memcpy(buffers[0], runs_.values.data(), runs_.values.size());
    std::memcpy(buffers[1], runs_.run_lengths.data(), runs_.run_lengths.size());
    stream_.Skip(count_);
    remaining_ -= count_;
  }

  wire::EncodingPtr Describe() const override {
    return wire::MakeEncoding(wire::RleEncoding{Flat(8 * sizeof(T)), Flat(8)});
  }
  size_t num_buffers() const override { return 2; }

 private:
  static uint64_t EncodedBytes(const T* values, uint64_t count) {
    return (CountRuns<T>(std::span(values, count)) + count / 255) * (sizeof(T) + 1);
  }

  FixedStream stream_;
  RleBuffers runs_;
  uint64_t count_ = 0;
};

template <template <typename> typename Chunks, typename... Args>
std::unique_ptr<ValueChunks> MakeOfWidth(size_t value_bytes, Args&&... args) {
  switch (value_bytes) {
    case 1: return std::make_unique<Chunks<uint8_t>>(std::forward<Args>(args)...);
    case 2: return std::make_unique<Chunks<uint16_t>>(std::forward<Args>(args)...);
    case 4: return std::make_unique<Chunks<uint32_t>>(std::forward<Args>(args)...);
    default: return std::make_unique<Chunks<uint64_t>>(std::forward<Args>(args)...);
  }
}

}  // namespace

uint64_t FlatChunkValues(uint64_t bits) {
  uint64_t values = kMaxChunkValues;
  while (values > 2 && (values * bits + 7) / 8 >= kMaxChunkBytes) values /= 2;
  return values;
}

std::unique_ptr<ValueChunks> MakeFlatChunks(std::span<const FixedRange> ranges, uint64_t num_values,
                                            size_t value_bytes, wire::EncodingPtr description) {
  return std::make_unique<FlatChunks>(ranges, num_values, value_bytes, std::move(description));
}

std::unique_ptr<ValueChunks> MakeBooleanChunks(const LevelSurvey& survey) {
  return std::make_unique<BooleanChunks>(survey);
}

std::unique_ptr<ValueChunks> MakeBitpackedChunks(std::span<const FixedRange> ranges,
                                                 uint64_t num_values, size_t value_bytes,
                                                 std::vector<uint8_t> widths) {
  return MakeOfWidth<BitpackedChunks>(value_bytes, ranges, num_values, std::move(widths));
}

std::unique_ptr<ValueChunks> MakeRunChunks(std::span<const FixedRange> ranges, uint64_t num_values,
                                           size_t value_bytes) {
  return MakeOfWidth<RunChunks>(value_bytes, ranges, num_values);
}

}  // namespace glaive::encoding
