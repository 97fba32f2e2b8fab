#include <algorithm>
#include <cstring>
#include <type_traits>

#include "encoding/codec/bitpacking.h"
#include "encoding/structural/mini_block/value_chunks.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kMaxChunkValues = 4096;
constexpr uint64_t kWantedChunkBytes = 4096;
constexpr std::byte kPad{0x48};

// Chunks of offsets and bytes. They start small and double while they stay below a size, so that
// their number of values depends on how long these are.
template <typename Offset>
class VariableChunks final : public ValueChunks {
 public:
  VariableChunks(std::span<const VariableRange<Offset>> ranges, uint64_t num_values,
                 StringOffsets offsets)
      : ValueChunks(num_values), ranges_(ranges), said_(offsets) {}

  uint64_t NextCount() override {
    Look();
    if (remaining_ <= kMaxChunkValues && Fits(remaining_)) return remaining_;
    uint64_t count = std::min<uint64_t>(2, remaining_);
    while (2 * count <= kMaxChunkValues && 2 * count < remaining_ && Fits(2 * count)) count *= 2;
    return count;
  }

  const std::vector<size_t>& Prepare(uint64_t count) override {
    Look();
    count_ = count;
    if (said_ != StringOffsets{}) {
      const auto num_bytes = static_cast<size_t>(offsets_[count] - offsets_[0]);
      sizes_.assign(1, num_bytes);
      if (by_lengths()) sizes_.insert(sizes_.begin(), TableBytes(count));
      return sizes_;
    }
    const uint64_t size = BytesOf(count);
    sizes_.assign(1, (size + sizeof(Offset) - 1) / sizeof(Offset) * sizeof(Offset));
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    if (said_ != StringOffsets{}) {
      if (by_lengths()) WriteLengths(buffers[0]);
      if (sizes_.back() > 0) std::memcpy(buffers.back(), bytes_ + offsets_[0], sizes_.back());
      return Skip();
    }
    std::byte* out = buffers[0];
    const auto table_bytes = static_cast<Offset>((count_ + 1) * sizeof(Offset));
    const Offset shift = table_bytes - offsets_[0];
    for (uint64_t i = 0; i <= count_; ++i) {
      const Offset offset = offsets_[i] + shift;
      std::memcpy(out + i * sizeof(Offset), &offset, sizeof(Offset));
    }
    out += table_bytes;
    const auto num_bytes = static_cast<size_t>(offsets_[count_] - offsets_[0]);
    if (num_bytes > 0) std::memcpy(out, bytes_ + offsets_[0], num_bytes);
    std::fill(out + num_bytes, buffers[0] + sizes_[0], kPad);
    Skip();
  }

  size_t num_buffers() const override { return by_lengths() ? 2 : 1; }

  wire::EncodingPtr Describe() const override {
    constexpr uint64_t kBits = 8 * sizeof(Offset);
    if (by_lengths()) {
      auto lengths = wire::MakeEncoding(wire::OutOfLineBitpackingEncoding{
          kBits, wire::MakeEncoding(wire::FlatEncoding{said_.length_bits})});
      return wire::MakeEncoding(wire::VariableEncoding{
          wire::MakeEncoding(wire::DeltaEncoding{kBits, 0, std::move(lengths)})});
    }
    if (said_.equal_length > 0) {
      return wire::MakeEncoding(wire::VariableEncoding{
          wire::MakeEncoding(wire::RangeEncoding{kBits, 0, said_.equal_length})});
    }
    return wire::MakeEncoding(
        wire::VariableEncoding{wire::MakeEncoding(wire::FlatEncoding{8 * sizeof(Offset)})});
  }

 private:
  using Length = std::make_unsigned_t<Offset>;

  bool by_lengths() const { return said_.length_bits > 0; }

  // What says where the strings begin.
  size_t TableBytes(uint64_t count) const {
    if (said_.equal_length > 0) return 0;
    if (by_lengths()) return OutOfLineBitpackedBytes<Length>(count, said_.length_bits);
    return (count + 1) * sizeof(Offset);
  }

  void WriteLengths(std::byte* out) {
    lengths_.resize(count_);
    for (uint64_t i = 0; i < count_; ++i) {
      lengths_[i] = static_cast<Length>(offsets_[i + 1] - offsets_[i]);
    }
    EncodeOutOfLineBitpacked<Length>(lengths_, said_.length_bits, out);
  }

  uint64_t BytesOf(uint64_t count) const {
    return TableBytes(count) + static_cast<uint64_t>(offsets_[count] - offsets_[0]);
  }

  bool Fits(uint64_t count) const { return count <= seen_ && BytesOf(count) <= kWantedChunkBytes; }

  // Brings the next values in view, as many as a chunk could hold: where they lie if these are in
  // one array and hide nothing, else gathered.
  void Look() {
    if (looked_) return;
    looked_ = true;
    while (in_range_ == ranges_[range_].length) {
      ++range_;
      in_range_ = 0;
    }
    const VariableRange<Offset>& range = ranges_[range_];
    if (!range.hidden_bytes) {
      offsets_ = range.offsets + in_range_;
      bytes_ = range.bytes;
      seen_ = static_cast<uint64_t>(range.length - in_range_);
      if (seen_ >= std::min(remaining_, kMaxChunkValues) ||
          (seen_ >= 4 && BytesOf(seen_) > kWantedChunkBytes)) {
        return;
      }
    }
    Gather();
  }

  void Gather() {
    gathered_offsets_.assign(1, 0);
    gathered_bytes_.clear();
    size_t range = range_;
    int64_t in_range = in_range_;
    const uint64_t wanted = std::min(remaining_, kMaxChunkValues);
    for (uint64_t count = 0; count < wanted; ++count) {
      while (in_range == ranges_[range].length) {
        ++range;
        in_range = 0;
      }
      const VariableRange<Offset>& from = ranges_[range];
      if (from.nulls == nullptr || !IsNull(*from.nulls, in_range)) {
        const std::byte* begin = from.bytes + from.offsets[in_range];
        gathered_bytes_.insert(gathered_bytes_.end(), begin,
                               from.bytes + from.offsets[in_range + 1]);
      }
      gathered_offsets_.push_back(static_cast<Offset>(gathered_bytes_.size()));
      ++in_range;
      if (count >= 4 && gathered_bytes_.size() > kWantedChunkBytes) break;
    }
    offsets_ = gathered_offsets_.data();
    bytes_ = gathered_bytes_.data();
    seen_ = gathered_offsets_.size() - 1;
  }

  void Skip() {
    remaining_ -= count_;
    looked_ = false;
    auto left = static_cast<int64_t>(count_);
    while (left > 0) {
      const int64_t step = std::min(left, ranges_[range_].length - in_range_);
      in_range_ += step;
      left -= step;
      if (left > 0) {
        ++range_;
        in_range_ = 0;
      }
    }
  }

  std::span<const VariableRange<Offset>> ranges_;
  const StringOffsets said_;
  std::vector<Length> lengths_;
  size_t range_ = 0;
  int64_t in_range_ = 0;
  uint64_t count_ = 0;  // prepared
  bool looked_ = false;
  const Offset* offsets_ = nullptr;
  const std::byte* bytes_ = nullptr;
  uint64_t seen_ = 0;
  std::vector<Offset> gathered_offsets_;
  std::vector<std::byte> gathered_bytes_;
};

}  // namespace

template <typename Offset>
std::unique_ptr<ValueChunks> MakeVariableChunks(std::span<const VariableRange<Offset>> ranges,
                                                uint64_t num_values, StringOffsets offsets) {
  return std::make_unique<VariableChunks<Offset>>(ranges, num_values, offsets);
}

template std::unique_ptr<ValueChunks> MakeVariableChunks(std::span<const VariableRange<int32_t>>,
                                                         uint64_t, StringOffsets);
template std::unique_ptr<ValueChunks> MakeVariableChunks(std::span<const VariableRange<int64_t>>,
                                                         uint64_t, StringOffsets);

}  // namespace glaive::encoding
