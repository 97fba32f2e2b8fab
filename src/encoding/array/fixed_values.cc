#include "encoding/array/fixed_values.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/byte_reader.h"
#include "core/error.h"
#include "encoding/codec/bitpacking.h"

namespace glaive::encoding {
namespace {

Bytes BytesOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

constexpr uint64_t Floor(uint64_t bits) { return bits / 8; }
constexpr uint64_t Ceil(uint64_t bits) { return bits / 8 + (bits % 8 != 0 ? 1 : 0); }

// A number of `width` bits from bit `at` on. REQUIRES: the bytes hold it, width <= 64
uint64_t LoadBits(Bytes bytes, uint64_t at, unsigned width) {
  uint64_t value = 0;
  const unsigned shift = static_cast<unsigned>(at % 8);
  const uint64_t first = at / 8;
  const uint64_t count = (shift + width + 7) / 8;
  for (uint64_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<uint64_t>(bytes[first + i]);
    const uint64_t position = i * 8;
    if (position < shift) {
      value |= byte >> (shift - position);
    } else if (position - shift < 64) {
      value |= byte << (position - shift);
    }
  }
  return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
}

arrow::Status CheckPackedWidths(uint64_t compressed, uint64_t uncompressed, uint64_t bits,
                                Location where) {
  if (uncompressed != bits || !IsWordWidth(bits) || compressed > uncompressed) {
    return Corrupt(where, "values of {} bits that are packed from {} to {}", bits, uncompressed,
                   compressed);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<FixedValues> FixedValues::Validate(const wire::ArrayEncoding& encoding, uint64_t bits,
                                                 uint64_t num_values, const ArraySource& source) {
  const Location where = source.where();
  const auto made = [&](Form form, ByteRange range) {
    return FixedValues(std::move(form), range, bits, num_values, where);
  };
  const auto expect = [&](uint64_t expected, const ByteRange& range) -> arrow::Status {
    if (range.size >= expected && expected != UINT64_MAX) return arrow::Status::OK();
    return Corrupt(where, "{} values of {} bits in a buffer of {} bytes, {} expected", num_values,
                   bits, range.size, expected);
  };
  if (const auto* no_nulls = std::get_if<wire::NoNullsArray>(&encoding.kind)) {
    return Validate(*no_nulls->values, bits, num_values, source);
  }
  if (const auto* flat = std::get_if<wire::FlatArray>(&encoding.kind)) {
    if (flat->bits_per_value != bits) {
      return Corrupt(where, "values of {} bits, {} expected", flat->bits_per_value, bits);
    }
    ARROW_ASSIGN_OR_RAISE(const ByteRange range, source.Resolve(flat->buffer));
    if (flat->scheme.empty() || flat->scheme == "none") {
      ARROW_RETURN_NOT_OK(expect(PackedBytes(num_values, bits), range));
      return made(Flat{}, range);
    }
    if (PackedBytes(num_values, bits) == UINT64_MAX) {
      return Corrupt(where, "{} values of {} bits", num_values, bits);
    }
    if (flat->scheme == "zstd") return made(Compressed{std::nullopt}, range);
    if (flat->scheme == "lz4") {
      ARROW_ASSIGN_OR_RAISE(const auto lz4,
                            GeneralDescription::Validate(wire::CompressionScheme::kLz4, where));
      return made(Compressed{lz4}, range);
    }
    return Unsupported(where, "compression scheme '{}'", flat->scheme);
  }
  if (const auto* packed = std::get_if<wire::BitpackedArray>(&encoding.kind)) {
    ARROW_RETURN_NOT_OK(
        CheckPackedWidths(packed->compressed_bits, packed->uncompressed_bits, bits, where));
    if (packed->compressed_bits == 0) return Corrupt(where, "values that are packed to 0 bits");
    ARROW_ASSIGN_OR_RAISE(const ByteRange range, source.Resolve(packed->buffer));
    ARROW_RETURN_NOT_OK(expect(PackedBytes(num_values, packed->compressed_bits), range));
    return made(Packed{static_cast<unsigned>(packed->compressed_bits), packed->is_signed}, range);
  }
  if (const auto* packed = std::get_if<wire::BitpackedForNonNegArray>(&encoding.kind)) {
    ARROW_RETURN_NOT_OK(
        CheckPackedWidths(packed->compressed_bits, packed->uncompressed_bits, bits, where));
    if (packed->compressed_bits == 0) return Corrupt(where, "values that are packed to 0 bits");
    const auto width = static_cast<unsigned>(packed->compressed_bits);
    ARROW_ASSIGN_OR_RAISE(const ByteRange range, source.Resolve(packed->buffer));
    const uint64_t blocks = num_values / kBitpackBlock + (num_values % kBitpackBlock != 0 ? 1 : 0);
    ARROW_RETURN_NOT_OK(expect(PackedBytes(blocks, PackedBlockBytes(width) * 8), range));
    return made(Blocks{width}, range);
  }
  if (const auto* constant = std::get_if<wire::ConstantArray>(&encoding.kind)) {
    if (constant->value.size() != Ceil(bits)) {
      return Corrupt(where, "a constant of {} bytes for values of {} bits", constant->value.size(),
                     bits);
    }
    const auto value = std::as_bytes(std::span(constant->value));
    return made(Constant{{value.begin(), value.end()}}, {});
  }
  return Unsupported(where, "values of {} bits in encoding {}", bits, encoding.kind.index());
}

FixedRead FixedValues::Read(std::span<const RowRange> values) const {
  return FixedRead(*this, values);
}

FixedRead::FixedRead(const FixedValues& values, std::span<const RowRange> ranges)
    : values_(values), ranges_(ranges.begin(), ranges.end()) {
  const uint64_t origin = values.range_.offset;
  const auto want_bits = [&](uint64_t width) {
    for (const RowRange& range : ranges_) {
      const uint64_t begin = Floor(range.begin * width);
      wanted_.push_back({origin + begin, Ceil(range.end * width) - begin});
    }
  };
  if (ranges_.empty()) return;
  if (std::holds_alternative<FixedValues::Flat>(values.form_)) {
    want_bits(values.bits_);
  } else if (const auto* packed = std::get_if<FixedValues::Packed>(&values.form_)) {
    want_bits(packed->width);
  } else if (const auto* blocks = std::get_if<FixedValues::Blocks>(&values.form_)) {
    const uint64_t bytes = PackedBlockBytes(blocks->width);
    for (const RowRange& range : ranges_) {
      const uint64_t begin = range.begin / kBitpackBlock;
      const uint64_t end = (range.end + kBitpackBlock - 1) / kBitpackBlock;
      wanted_.push_back({origin + begin * bytes, (end - begin) * bytes});
    }
  } else if (std::holds_alternative<FixedValues::Compressed>(values.form_)) {
    wanted_ = {values.range_};
  }
}

arrow::Status FixedRead::Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  if (buffers.size() != wanted_.size()) return Internal("values were not supplied as wanted");
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (static_cast<uint64_t>(buffers[i]->size()) != wanted_[i].size) {
      return Internal("values were not supplied as wanted");
    }
  }
  buffers_ = std::move(buffers);
  wanted_.clear();
  return arrow::Status::OK();
}

arrow::Status FixedRead::Decompress(const FixedValues::Compressed& form) {
  const Bytes bytes = BytesOf(*buffers_[0]);
  const uint64_t size = PackedBytes(values_.num_values_, values_.bits_);
  const Location where = values_.where();
  if (!form.general && IsBareZstdFrame(bytes)) {
    ARROW_RETURN_NOT_OK(CheckZstdBound(bytes, size, where));
    ARROW_ASSIGN_OR_RAISE(const auto out, Allocate(size));
    return DecompressZstdFrame(bytes, out, where);
  }
  const auto general = form.general
                           ? arrow::Result<GeneralDescription>(*form.general)
                           : GeneralDescription::Validate(wire::CompressionScheme::kZstd, where);
  ARROW_RETURN_NOT_OK(general.status());
  ARROW_ASSIGN_OR_RAISE(const uint64_t found, general->DecompressedSize(bytes, UINT64_MAX, where));
  if (found != size) {
    return Corrupt(where, "compressed data of {} bytes, {} expected", found, size);
  }
  ARROW_ASSIGN_OR_RAISE(const auto out, Allocate(size));
  return general->Decompress(bytes, out, where);
}

arrow::Result<std::span<std::byte>> FixedRead::Allocate(uint64_t size) {
  if (size > static_cast<uint64_t>(INT64_MAX)) return Internal("an array of {} bytes", size);
  ARROW_ASSIGN_OR_RAISE(decoded_, arrow::AllocateBuffer(static_cast<int64_t>(size)));
  return std::span(reinterpret_cast<std::byte*>(decoded_->mutable_data()),
                   static_cast<size_t>(size));
}

arrow::Status FixedRead::Unpack(const FixedValues::Packed& form) {
  const uint64_t width = values_.bits_ / 8;
  ARROW_ASSIGN_OR_RAISE(const auto decoded, Allocate(CountRows(ranges_) * width));
  std::byte* out = decoded.data();
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Bytes bytes = BytesOf(*buffers_[i]);
    const uint64_t skipped = Floor(ranges_[i].begin * form.width) * 8;
    for (uint64_t row = ranges_[i].begin; row < ranges_[i].end; ++row) {
      uint64_t value = LoadBits(bytes, row * form.width - skipped, form.width);
      if (form.is_signed && form.width < 64 && (value >> (form.width - 1) & 1) != 0) {
        value |= ~uint64_t{0} << form.width;
      }
      std::memcpy(out, &value, width);
      out += width;
    }
  }
  return arrow::Status::OK();
}

arrow::Status FixedRead::UnpackBlocks(const FixedValues::Blocks& form) {
  return WithWord(values_.bits_, [&]<typename T>(T) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto decoded, Allocate(CountRows(ranges_) * sizeof(T)));
    std::byte* out = decoded.data();
    std::vector<T> block(kBitpackBlock);
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const std::byte* packed = BytesOf(*buffers_[i]).data();
      uint64_t row = ranges_[i].begin;
      while (row < ranges_[i].end) {
        UnpackBlock<T>(packed, form.width, block.data());
        packed += PackedBlockBytes(form.width);
        const uint64_t at = row % kBitpackBlock;
        const uint64_t count = std::min<uint64_t>(kBitpackBlock - at, ranges_[i].end - row);
        std::memcpy(out, block.data() + at, count * sizeof(T));
        out += count * sizeof(T);
        row += count;
      }
    }
    return arrow::Status::OK();
  });
}

arrow::Status FixedRead::Repeat(const FixedValues::Constant& form) {
  const uint64_t num_values = CountRows(ranges_);
  const uint64_t size = PackedBytes(num_values, values_.bits_);
  ARROW_ASSIGN_OR_RAISE(const auto out, Allocate(size));
  if (values_.bits_ == 1) {
    const bool is_set = (form.value[0] & std::byte{1}) != std::byte{0};
    std::ranges::fill(out, is_set ? std::byte{0xff} : std::byte{0});
    return arrow::Status::OK();
  }
  for (uint64_t i = 0; i < num_values; ++i) {
    std::memcpy(out.data() + i * form.value.size(), form.value.data(), form.value.size());
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<FixedRun>> FixedRead::Runs() {
  std::vector<FixedRun> runs;
  if (ranges_.empty()) return runs;
  const uint64_t bits = values_.bits_;
  const auto run_at = [&](const std::byte* bytes, uint64_t bit, uint64_t num_values) {
    runs.push_back({bytes + bit / 8, bit % 8, num_values});
  };
  if (std::holds_alternative<FixedValues::Flat>(values_.form_)) {
    for (size_t i = 0; i < ranges_.size(); ++i) {
      run_at(BytesOf(*buffers_[i]).data(), ranges_[i].begin * bits % 8, ranges_[i].size());
    }
    return runs;
  }
  if (const auto* compressed = std::get_if<FixedValues::Compressed>(&values_.form_)) {
    ARROW_RETURN_NOT_OK(Decompress(*compressed));
    const std::byte* const all = BytesOf(*decoded_).data();
    for (const RowRange& range : ranges_) run_at(all, range.begin * bits, range.size());
    return runs;
  }
  if (const auto* packed = std::get_if<FixedValues::Packed>(&values_.form_)) {
    ARROW_RETURN_NOT_OK(Unpack(*packed));
  } else if (const auto* blocks = std::get_if<FixedValues::Blocks>(&values_.form_)) {
    ARROW_RETURN_NOT_OK(UnpackBlocks(*blocks));
  } else {
    ARROW_RETURN_NOT_OK(Repeat(std::get<FixedValues::Constant>(values_.form_)));
  }
  uint64_t done = 0;
  for (const RowRange& range : ranges_) {
    run_at(BytesOf(*decoded_).data(), done * bits, range.size());
    done += range.size();
  }
  return runs;
}

template <typename T>
arrow::Result<std::vector<T>> FixedRead::Words() {
  ARROW_ASSIGN_OR_RAISE(const auto runs, Runs());
  std::vector<T> words(CountRows(ranges_));
  T* out = words.data();
  for (const FixedRun& run : runs) {
    if (run.num_values > 0) std::memcpy(out, run.bytes, run.num_values * sizeof(T));
    out += run.num_values;
  }
  return words;
}

template arrow::Result<std::vector<uint8_t>> FixedRead::Words();
template arrow::Result<std::vector<uint16_t>> FixedRead::Words();
template arrow::Result<std::vector<uint32_t>> FixedRead::Words();
template arrow::Result<std::vector<uint64_t>> FixedRead::Words();

}  // namespace glaive::encoding
