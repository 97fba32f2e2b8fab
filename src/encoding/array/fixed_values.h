#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/ranges.h"
#include "encoding/array/buffer_read.h"
#include "encoding/array/source.h"
#include "encoding/codec/general.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_0.h"

// Values of one width in a page of a 2.0 file, in one of these forms:
//
//   flat                    back to back, bits of one bit from the lowest of each byte
//   flat, compressed        [u64 size][zstd frame], a bare zstd frame, or [u32 size][lz4 block]
//   bitpacked               back to back in fewer bits; perhaps the highest is a sign
//   bitpacked_for_non_neg   FastLanes blocks of 1024 values, 128 * width bytes each
//   constant                one value, which the description holds
namespace glaive::encoding {

class FixedRead;

class FixedValues {
 public:
  // Looks through nullable.no_nulls. Corrupt unless the buffer holds `num_values` of `bits` each.
  static arrow::Result<FixedValues> Validate(const wire::ArrayEncoding& encoding, uint64_t bits,
                                             uint64_t num_values, const ArraySource& source);

  uint64_t bits() const { return bits_; }
  uint64_t num_values() const { return num_values_; }
  bool is_constant() const { return std::holds_alternative<Constant>(form_); }
  // What reading some of them takes; all of it where they are compressed.
  uint64_t stored_bytes() const { return range_.size; }

  // `values` ascend and lie within the page; they may touch. Borrows this.
  FixedRead Read(std::span<const RowRange> values) const;

 private:
  friend class FixedRead;

  struct Flat {};
  struct Compressed {
    std::optional<GeneralDescription> general;  // nothing: zstd
  };
  struct Packed {
    unsigned width;
    bool is_signed;
  };
  struct Blocks {
    unsigned width;
  };
  struct Constant {
    std::vector<std::byte> value;
  };
  using Form = std::variant<Flat, Compressed, Packed, Blocks, Constant>;

  FixedValues(Form form, ByteRange range, uint64_t bits, uint64_t num_values, Location where)
      : form_(std::move(form)),
        range_(range),
        bits_(bits),
        num_values_(num_values),
        path_(where.path) {}

  Location where() const { return {path_, range_.offset}; }

  Form form_;
  ByteRange range_;
  uint64_t bits_;
  uint64_t num_values_;
  std::string path_;
};

// Values that lie back to back: those of single bits from bit `first_bit` on.
struct FixedRun {
  const std::byte* bytes = nullptr;
  uint64_t first_bit = 0;
  uint64_t num_values = 0;
};

class FixedRead final : public BufferRead {
 public:
  FixedRead(const FixedValues& values, std::span<const RowRange> ranges);

  const std::vector<ByteRange>& wanted() const override { return wanted_; }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override;

  // One run for each of the ranges. They hold as long as this. REQUIRES: wanted().empty()
  arrow::Result<std::vector<FixedRun>> Runs();
  // All values, as words. REQUIRES: T has the width of the values
  template <typename T>
  arrow::Result<std::vector<T>> Words();

 private:
  arrow::Status Decompress(const FixedValues::Compressed& form);
  arrow::Status Unpack(const FixedValues::Packed& form);
  arrow::Status UnpackBlocks(const FixedValues::Blocks& form);
  arrow::Status Repeat(const FixedValues::Constant& form);
  arrow::Result<std::span<std::byte>> Allocate(uint64_t size);

  const FixedValues& values_;
  std::vector<RowRange> ranges_;
  std::vector<ByteRange> wanted_;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers_;
  // Of all ranges together, or of the whole page where it is compressed.
  std::shared_ptr<arrow::Buffer> decoded_;
};

}  // namespace glaive::encoding
