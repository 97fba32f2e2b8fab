#include "encoding/codec/level_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "encoding/codec/bitpacking.h"

namespace glaive::encoding {
namespace {

constexpr size_t kMaxRun = 255;
constexpr size_t kRunBytes = sizeof(uint16_t) + 1;
constexpr size_t kMaxPayload = UINT16_MAX;

// The first position from `begin` on whose level is not that at `begin`.
size_t EndOfRun(std::span<const uint16_t> levels, size_t begin) {
  constexpr size_t kStride = 16;
  const uint16_t level = levels[begin];
  size_t at = begin + 1;
  for (; at + kStride <= levels.size(); at += kStride) {
    uint16_t differ = 0;
    for (size_t i = 0; i < kStride; ++i) {
      differ = static_cast<uint16_t>(differ | (levels[at + i] ^ level));
    }
    if (differ != 0) break;
  }
  while (at < levels.size() && levels[at] == level) ++at;
  return at;
}

}  // namespace

LevelCodec LevelCodec::Choose(const LevelStatistics& statistics, FileVersion version) {
  const uint64_t raw = 2 * statistics.num_levels;
  const auto width = static_cast<unsigned>(std::bit_width(statistics.max_level));
  const bool small = statistics.num_levels <= kBitpackBlock;
  const uint64_t packed =
      small ? InlineBitpackedBytes<uint16_t>(width)
            : OutOfLineBitpackedBytes<uint16_t>(static_cast<size_t>(statistics.num_levels), width);
  const uint64_t runs = sizeof(uint64_t) + kRunBytes * statistics.num_runs;
  if (version >= FileVersion::k2_2 && runs < raw && runs <= packed) return LevelCodec(Kind::kRuns);
  if (packed >= raw || width >= 16) return LevelCodec(Kind::kFlat);
  return LevelCodec(small ? Kind::kInline : Kind::kOutOfLine, width);
}

std::optional<LevelCodec> LevelCodec::Of(const wire::CompressiveEncoding& encoding) {
  const auto flat_bits = [](const wire::EncodingPtr& of) -> uint64_t {
    const auto* flat = std::get_if<wire::FlatEncoding>(&of->kind);
    return flat == nullptr ? 0 : flat->bits_per_value;
  };
  if (const auto* flat = std::get_if<wire::FlatEncoding>(&encoding.kind)) {
    if (flat->bits_per_value == 16) return LevelCodec(Kind::kFlat);
  } else if (const auto* packed = std::get_if<wire::OutOfLineBitpackingEncoding>(&encoding.kind)) {
    const uint64_t width = flat_bits(packed->values);
    if (packed->uncompressed_bits == 16 && width > 0 && width < 16) {
      return LevelCodec(Kind::kOutOfLine, static_cast<unsigned>(width));
    }
  } else if (const auto* runs = std::get_if<wire::RleEncoding>(&encoding.kind)) {
    if (flat_bits(runs->values) == 16 && flat_bits(runs->run_lengths) == 8) {
      return LevelCodec(Kind::kRuns);
    }
  }
  return std::nullopt;
}

void LevelCodec::Prepare(std::span<const uint16_t> levels) {
  levels_ = levels;
  switch (kind_) {
    case Kind::kFlat: size_bytes_ = levels.size_bytes(); return;
    case Kind::kInline:
      width_ = PackedWidth<uint16_t>(levels);
      size_bytes_ = InlineBitpackedBytes<uint16_t>(width_);
      return;
    case Kind::kOutOfLine:
      size_bytes_ = OutOfLineBitpackedBytes<uint16_t>(levels.size(), width_);
      return;
    case Kind::kRuns: break;
  }
  run_values_.clear();
  run_lengths_.clear();
  for (size_t begin = 0; begin < levels.size();) {
    const size_t end = EndOfRun(levels, begin);
    for (size_t left = end - begin; left > 0;) {
      const size_t length = std::min(left, kMaxRun);
      run_values_.push_back(levels[begin]);
      run_lengths_.push_back(static_cast<uint8_t>(length));
      left -= length;
    }
    begin = end;
  }
  size_bytes_ = sizeof(uint64_t) + kRunBytes * run_values_.size();
}

void LevelCodec::Write(std::byte* out) const {
  switch (kind_) {
    case Kind::kFlat:
      if (!levels_.empty()) std::memcpy(out, levels_.data(), levels_.size_bytes());
      return;
    case Kind::kInline: EncodeInlineBitpacked<uint16_t>(levels_, width_, out); return;
    case Kind::kOutOfLine: EncodeOutOfLineBitpacked<uint16_t>(levels_, width_, out); return;
    case Kind::kRuns: break;
  }
  const uint64_t value_bytes = run_values_.size() * sizeof(uint16_t);
  std::memcpy(out, &value_bytes, sizeof(value_bytes));
  if (run_values_.empty()) return;
  out += sizeof(value_bytes);
  std::memcpy(out, run_values_.data(), value_bytes);
  std::memcpy(out + value_bytes, run_lengths_.data(), run_lengths_.size());
}

wire::EncodingPtr LevelCodec::Describe() const {
  const auto flat = [](uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); };
  switch (kind_) {
    case Kind::kFlat: return flat(16);
    case Kind::kInline: return wire::MakeEncoding(wire::InlineBitpackingEncoding{16});
    case Kind::kOutOfLine:
      return wire::MakeEncoding(wire::OutOfLineBitpackingEncoding{16, flat(width_)});
    case Kind::kRuns: break;
  }
  return wire::MakeEncoding(wire::RleEncoding{flat(16), flat(8)});
}

size_t LevelCodec::MaxLevelsOfChunk(uint16_t max_level, FileVersion version) {
  if (version >= FileVersion::k2_2) return (kMaxPayload - sizeof(uint64_t)) / kRunBytes;
  // A quarter of the chunk for each stream, and nearly a quarter for the values.
  constexpr size_t kLevelBits = 64 * 1024;
  return kLevelBits / std::max<size_t>(std::bit_width(uint32_t{max_level}), 4);
}

}  // namespace glaive::encoding
