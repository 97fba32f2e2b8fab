#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/bitpacked.h"
#include "encoding/codec/byte_stream_split.h"
#include "encoding/codec/flat.h"
#include "encoding/codec/general.h"
#include "encoding/codec/rle.h"
#include "encoding/codec/rle_children.h"
#include "encoding/codec/sequence.h"
#include "encoding/structural/leaf/string_codec.h"
#include "encoding/structural/leaf/values.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Room that is kept from chunk to chunk, so that decoding one allocates nothing.
struct DecodeScratch {
  ScratchBytes decompressed;
  std::vector<std::byte> values;
  std::vector<uint32_t> indices;
  ScratchBytes run_values;
  ScratchBytes run_lengths;
};

// The value buffers of a mini-block chunk of num_values values.
struct ChunkValues {
  std::span<const Bytes> buffers;
  uint64_t num_values = 0;
  Location where;
};

// The value codec of a mini-block page, validated whole.
class ChunkDecoder {
 public:
  // For values of the leaf itself, or of its dictionary's indices.
  static arrow::Result<ChunkDecoder> Validate(const wire::CompressiveEncoding& encoding,
                                              const LeafShape& shape, FileVersion version,
                                              Location where);

  // About how many bytes of strings come of a stored one.
  uint64_t text_factor() const;

  // Value buffers of each chunk.
  size_t num_buffers() const { return num_buffers_; }

  // Appends the values of the ranges, which are ascending and within the chunk.
  arrow::Status Append(const ChunkValues& chunk, std::span<const ValueRange> ranges,
                       LeafValues& leaf, DecodeScratch& scratch) const;

  // All values of a chunk of whole numbers. REQUIRES: validated for a shape of 8, 16, 32 or 64 bits
  arrow::Result<std::span<const uint32_t>> DecodeIndices(const ChunkValues& chunk,
                                                         DecodeScratch& scratch) const;

 private:
  using FixedCodec = std::variant<FlatDescription, InlineBitpackingDescription, RleDescription,
                                  RleChildren, ByteStreamSplitDescription>;
  // Strings whose offsets, which count from their bytes, are a sequence: a buffer of its own, or
  // none where the description says them all.
  struct SequencedStrings {
    SequenceDescription offsets;
    std::optional<FsstTable> fsst;
  };
  // A bitmap buffer for each nesting level that has validity, then the values.
  struct ListCodec {
    std::vector<bool> has_validity;  // outermost first
    FlatDescription values;
    uint64_t slot_bits;
  };
  using Codec = std::variant<FixedCodec, StringCodec, SequencedStrings, ListCodec>;

  ChunkDecoder(std::optional<GeneralDescription> general, Codec codec, uint64_t value_bits,
               size_t num_buffers)
      : general_(general),
        codec_(std::move(codec)),
        value_bits_(value_bits),
        num_buffers_(num_buffers) {}

  static arrow::Result<FixedCodec> ValidateFixed(const wire::CompressiveEncoding& encoding,
                                                 uint64_t value_bits, FileVersion version,
                                                 Location where);
  static arrow::Result<std::optional<SequencedStrings>> ValidateSequenced(
      const wire::CompressiveEncoding& encoding, const LeafShape& shape, FileVersion version,
      Location where);
  static arrow::Result<ListCodec> ValidateLists(const wire::CompressiveEncoding& encoding,
                                                const LeafShape& shape, Location where);

  // The most bytes that the first buffer of a chunk of so many values has.
  uint64_t MostOfFirst(uint64_t num_values) const noexcept;
  // The chunk with its first buffer decompressed, if the page is.
  arrow::Result<Bytes> FirstBuffer(const ChunkValues& chunk, DecodeScratch& scratch) const;

  // Decodes all values into `room(num_values)`, which is asked for once they are known to be there.
  template <typename Room>
  arrow::Status DecodeFixed(const FixedCodec& codec, Bytes first, const ChunkValues& chunk,
                            DecodeScratch& scratch, Room&& room) const;

  arrow::Status AppendFixed(const FixedCodec& codec, Bytes first, const ChunkValues& chunk,
                            std::span<const ValueRange> ranges, LeafValues& leaf,
                            DecodeScratch& scratch) const;
  static arrow::Status AppendStrings(const StringCodec& codec, Bytes first,
                                     const ChunkValues& chunk, std::span<const ValueRange> ranges,
                                     LeafValues& leaf);
  static arrow::Status AppendSequenced(const SequencedStrings& codec, const ChunkValues& chunk,
                                       std::span<const ValueRange> ranges, LeafValues& leaf);
  static arrow::Status AppendLists(const ListCodec& codec, Bytes first, const ChunkValues& chunk,
                                   std::span<const ValueRange> ranges, LeafValues& leaf);

  std::optional<GeneralDescription> general_;
  Codec codec_;
  uint64_t value_bits_;
  size_t num_buffers_;
};

}  // namespace glaive::encoding
