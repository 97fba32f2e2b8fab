#include "encoding/structural/mini_block/chunk_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "encoding/codec/block.h"
#include "encoding/structural/leaf/decoded_bytes.h"

namespace glaive::encoding {
namespace {

// Validates a codec that has no parameters but its message.
template <typename Description, typename Message>
arrow::Result<Description> Described(const Message& message, uint64_t value_bits, Location where) {
  ARROW_ASSIGN_OR_RAISE(const auto description, Description::Validate(message, where));
  if (description.value_bits() == value_bits) return description;
  return Corrupt(where, "values of {} bits; {} expected", description.value_bits(), value_bits);
}

bool IsWhole(std::span<const ValueRange> ranges, uint64_t num_values) {
  return ranges.size() == 1 && ranges[0].begin == 0 && ranges[0].end == num_values;
}

arrow::Status AppendFsst(const FsstTable& table, const VariablePayload& strings, ValueRange range,
                         Location where, LeafValues& leaf) {
  const uint64_t num_codes = strings.offset(range.end) - strings.offset(range.begin);
  ARROW_RETURN_NOT_OK(leaf.CheckRoom(num_codes / 2));  // an escape is two codes of a byte
  ARROW_RETURN_NOT_OK(leaf.ReserveVariable(range.size(), num_codes * FsstTable::kMaxSymbolBytes));
  uint64_t begin = strings.offset(range.begin);
  for (uint64_t i = range.begin; i < range.end; ++i) {
    const uint64_t end = strings.offset(i + 1);
    const auto size = table.Decode({strings.origin + begin, end - begin}, leaf.variable_end());
    if (!size) return Corrupt(where, "string {} of a chunk is not fsst codes of its table", i);
    leaf.UnsafeEndValue(*size);
    begin = end;
  }
  return leaf.CheckRoom(0);
}

// Indices of another width; those beyond 32 bits are beyond any dictionary and stay so.
template <typename Word>
void Narrow(const std::byte* words, std::span<uint32_t> indices) noexcept {
  for (uint32_t& index : indices) {
    Word word;
    std::memcpy(&word, words, sizeof(Word));
    words += sizeof(Word);
    index = static_cast<uint32_t>(std::min<uint64_t>(word, std::numeric_limits<uint32_t>::max()));
  }
}

}  // namespace

arrow::Result<ChunkDecoder::FixedCodec> ChunkDecoder::ValidateFixed(
    const wire::CompressiveEncoding& encoding, uint64_t value_bits, FileVersion version,
    Location where) {
  if (const auto* flat = std::get_if<wire::FlatEncoding>(&encoding.kind)) {
    return Described<FlatDescription>(*flat, value_bits, where);
  }
  if (const auto* packed = std::get_if<wire::InlineBitpackingEncoding>(&encoding.kind)) {
    return Described<InlineBitpackingDescription>(*packed, value_bits, where);
  }
  if (const auto* split = std::get_if<wire::ByteStreamSplitEncoding>(&encoding.kind)) {
    return Described<ByteStreamSplitDescription>(*split, value_bits, where);
  }
  if (const auto* rle = std::get_if<wire::RleEncoding>(&encoding.kind)) {
    if (!std::holds_alternative<wire::FlatEncoding>(rle->values->kind) ||
        !std::holds_alternative<wire::FlatEncoding>(rle->run_lengths->kind)) {
      ARROW_ASSIGN_OR_RAISE(auto runs, RleChildren::Validate(*rle, version, where));
      if (runs.value_bits() == value_bits) return runs;
      return Corrupt(where, "rle values of {} bits; {} expected", runs.value_bits(), value_bits);
    }
    ARROW_ASSIGN_OR_RAISE(const auto description, ValidateRle(*rle, version, where));
    if (ValueBitsOf(*rle) == value_bits) return description;
    return Corrupt(where, "rle values of {} bits; {} expected", ValueBitsOf(*rle), value_bits);
  }
  return Unsupported(where, "{} chunks of {}-bit values", NameOf(encoding), value_bits);
}

// Nothing for strings whose offsets lie before their bytes.
arrow::Result<std::optional<ChunkDecoder::SequencedStrings>> ChunkDecoder::ValidateSequenced(
    const wire::CompressiveEncoding& encoding, const LeafShape& shape, FileVersion version,
    Location where) {
  const auto* fsst = std::get_if<wire::FsstEncoding>(&encoding.kind);
  const wire::CompressiveEncoding& inner = fsst != nullptr ? *fsst->values : encoding;
  const auto* variable = std::get_if<wire::VariableEncoding>(&inner.kind);
  if (version < FileVersion::k2_3 || variable == nullptr ||
      std::holds_alternative<wire::FlatEncoding>(variable->offsets->kind)) {
    return std::nullopt;
  }
  const uint64_t bits = shape.large_offsets ? 64 : 32;
  ARROW_ASSIGN_OR_RAISE(auto offsets,
                        SequenceDescription::Validate(variable->offsets, bits, version, where));
  SequencedStrings strings{std::move(offsets), std::nullopt};
  if (fsst != nullptr) {
    const auto bytes = std::as_bytes(std::span(fsst->symbol_table));
    ARROW_ASSIGN_OR_RAISE(const FsstTable table, FsstTable::Validate(bytes, where));
    if (table.compresses()) strings.fsst = table;
  }
  return strings;
}

arrow::Result<ChunkDecoder::ListCodec> ChunkDecoder::ValidateLists(
    const wire::CompressiveEncoding& encoding, const LeafShape& shape, Location where) {
  const wire::CompressiveEncoding* level = &encoding;
  std::vector<bool> has_validity;
  for (const uint64_t dimension : shape.dimensions) {
    const auto* list = std::get_if<wire::FixedSizeListEncoding>(&level->kind);
    if (list == nullptr || list->items_per_value != dimension) {
      return Corrupt(where, "a {} encoding; one of fixed-size lists of {} items expected",
                     NameOf(*level), dimension);
    }
    has_validity.push_back(list->has_validity);
    level = list->values.get();
  }
  const auto* flat = std::get_if<wire::FlatEncoding>(&level->kind);
  if (flat == nullptr) {
    return Unsupported(where, "{} chunks in fixed-size lists", NameOf(*level));
  }
  ARROW_ASSIGN_OR_RAISE(const auto values,
                        Described<FlatDescription>(*flat, shape.value_bits, where));
  return ListCodec{std::move(has_validity), values, shape.slot_bits()};
}

arrow::Result<ChunkDecoder> ChunkDecoder::Validate(const wire::CompressiveEncoding& encoding,
                                                   const LeafShape& shape, FileVersion version,
                                                   Location where) {
  ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(encoding, where));
  const wire::CompressiveEncoding& inner = *unwrapped.inner;
  if (shape.kind == ValueKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(auto sequenced, ValidateSequenced(inner, shape, version, where));
    if (sequenced && unwrapped.general) {
      return Unsupported(where, "compressed chunks of strings whose offsets are a sequence");
    }
    if (sequenced) {
      const size_t num_buffers = sequenced->offsets.has_payload() ? 2 : 1;
      return ChunkDecoder(std::nullopt, *std::move(sequenced), 0, num_buffers);
    }
    ARROW_ASSIGN_OR_RAISE(StringCodec strings, StringCodec::Validate(inner, where));
    return ChunkDecoder(unwrapped.general, std::move(strings), 0, 1);
  }
  if (shape.kind == ValueKind::kNull) {
    return Corrupt(where, "a mini-block page of a column that has no values");
  }
  if (std::holds_alternative<wire::FixedSizeListEncoding>(inner.kind)) {
    ARROW_ASSIGN_OR_RAISE(ListCodec lists, ValidateLists(inner, shape, where));
    const auto bitmaps = std::count(lists.has_validity.begin(), lists.has_validity.end(), true);
    return ChunkDecoder(unwrapped.general, std::move(lists), shape.value_bits,
                        static_cast<size_t>(bitmaps) + 1);
  }
  ARROW_ASSIGN_OR_RAISE(FixedCodec fixed, ValidateFixed(inner, shape.slot_bits(), version, where));
  const bool runs =
      std::holds_alternative<RleDescription>(fixed) || std::holds_alternative<RleChildren>(fixed);
  const size_t num_buffers = runs ? 2 : 1;
  return ChunkDecoder(unwrapped.general, std::move(fixed), shape.slot_bits(), num_buffers);
}

uint64_t ChunkDecoder::text_factor() const {
  const auto* strings = std::get_if<StringCodec>(&codec_);
  const auto* sequenced = std::get_if<SequencedStrings>(&codec_);
  const bool has_table = (strings != nullptr && strings->fsst.has_value()) ||
                         (sequenced != nullptr && sequenced->fsst.has_value());
  const uint64_t fsst = has_table ? kFsstFactor : 1;
  return fsst * (general_ ? kGeneralFactor : 1);
}

uint64_t ChunkDecoder::MostOfFirst(uint64_t num_values) const noexcept {
  if (const auto* strings = std::get_if<StringCodec>(&codec_)) {
    return strings->layout.MostBytes(num_values);
  }
  // The values, or the validity of their items; runs with the surplus that old writers left; packed
  // blocks, filled up, with their width in front.
  constexpr uint64_t kBlock = 1024;
  constexpr uint64_t kHeader = 8;
  const auto* lists = std::get_if<ListCodec>(&codec_);
  const uint64_t bits = std::max<uint64_t>(lists != nullptr ? lists->slot_bits : value_bits_, 8);
  const uint64_t values = std::min(num_values, UINT32_MAX * uint64_t{2}) * 2 + kBlock;
  return std::min(PackedBytes(values, bits), UINT64_MAX - kHeader) + kHeader;
}

arrow::Result<Bytes> ChunkDecoder::FirstBuffer(const ChunkValues& chunk,
                                               DecodeScratch& scratch) const {
  if (!general_) return chunk.buffers[0];
  return general_->Decompress(chunk.buffers[0], MostOfFirst(chunk.num_values), scratch.decompressed,
                              chunk.where);
}

template <typename Room>
arrow::Status ChunkDecoder::DecodeFixed(const FixedCodec& codec, Bytes first,
                                        const ChunkValues& chunk, DecodeScratch& scratch,
                                        Room&& room) const {
  const uint64_t n = chunk.num_values;
  if (const auto* flat = std::get_if<FlatDescription>(&codec)) {
    ARROW_RETURN_NOT_OK(flat->Check(first, n, chunk.where));
    ARROW_ASSIGN_OR_RAISE(std::byte* const out, room(n));
    if (n > 0) std::memcpy(out, first.data(), PackedBytes(n, value_bits_));
    return arrow::Status::OK();
  }
  if (const auto* split = std::get_if<ByteStreamSplitDescription>(&codec)) {
    ARROW_RETURN_NOT_OK(split->Check(first, n, chunk.where));
    ARROW_ASSIGN_OR_RAISE(std::byte* const out, room(n));
    split->Decode(first, n, out);
    return arrow::Status::OK();
  }
  if (const auto* rle = std::get_if<RleDescription>(&codec)) {
    ARROW_ASSIGN_OR_RAISE(const RlePayload runs,
                          rle->OpenMiniBlock(first, chunk.buffers[1], n, chunk.where));
    ARROW_ASSIGN_OR_RAISE(std::byte* const out, room(n));
    WithWord(value_bits_,
             [&](auto word) { runs.Decode(std::span(reinterpret_cast<decltype(word)*>(out), n)); });
    return arrow::Status::OK();
  }
  if (const auto* rle = std::get_if<RleChildren>(&codec)) {
    ARROW_ASSIGN_OR_RAISE(const RlePayload runs,
                          rle->OpenMiniBlock(first, chunk.buffers[1], n, scratch.run_values,
                                             scratch.run_lengths, chunk.where));
    ARROW_ASSIGN_OR_RAISE(std::byte* const out, room(n));
    WithWord(value_bits_,
             [&](auto word) { runs.Decode(std::span(reinterpret_cast<decltype(word)*>(out), n)); });
    return arrow::Status::OK();
  }
  const auto& packed = std::get<InlineBitpackingDescription>(codec);
  ARROW_ASSIGN_OR_RAISE(const BitpackedPayload block, packed.Open(first, n, chunk.where));
  ARROW_ASSIGN_OR_RAISE(std::byte* const out, room(n));
  WithWord(value_bits_, [&](auto word) { block.Decode(reinterpret_cast<decltype(word)*>(out)); });
  return arrow::Status::OK();
}

arrow::Status ChunkDecoder::AppendFixed(const FixedCodec& codec, Bytes first,
                                        const ChunkValues& chunk,
                                        std::span<const ValueRange> ranges, LeafValues& leaf,
                                        DecodeScratch& scratch) const {
  const auto* flat = std::get_if<FlatDescription>(&codec);
  if (flat != nullptr) {
    ARROW_RETURN_NOT_OK(flat->Check(first, chunk.num_values, chunk.where));
  } else if (IsWhole(ranges, chunk.num_values)) {
    ARROW_RETURN_NOT_OK(
        DecodeFixed(codec, first, chunk, scratch, [&](uint64_t n) -> arrow::Result<std::byte*> {
          ARROW_ASSIGN_OR_RAISE(uint8_t* const room, leaf.ExtendFixed(n));
          return reinterpret_cast<std::byte*>(room);
        }));
    ranges = {};
  } else {
    ARROW_RETURN_NOT_OK(
        DecodeFixed(codec, first, chunk, scratch, [&](uint64_t n) -> arrow::Result<std::byte*> {
          const uint64_t bytes = PackedBytes(n, value_bits_);
          if (scratch.values.size() < bytes) scratch.values.resize(bytes);
          return scratch.values.data();
        }));
    first = scratch.values;
  }
  for (const ValueRange& range : ranges) {
    if (value_bits_ == 1) {
      ARROW_RETURN_NOT_OK(leaf.AppendBits(first.data(), range.begin, range.size()));
    } else {
      const std::byte* const from = first.data() + range.begin * (value_bits_ / 8);
      ARROW_RETURN_NOT_OK(leaf.AppendFixed(from, range.size()));
    }
  }
  return arrow::Status::OK();
}

arrow::Status ChunkDecoder::AppendStrings(const StringCodec& codec, Bytes first,
                                          const ChunkValues& chunk,
                                          std::span<const ValueRange> ranges, LeafValues& leaf) {
  ARROW_ASSIGN_OR_RAISE(const VariablePayload strings,
                        codec.layout.OpenMiniBlock(first, chunk.num_values, chunk.where));
  for (const ValueRange& range : ranges) {
    if (codec.fsst) {
      ARROW_RETURN_NOT_OK(AppendFsst(*codec.fsst, strings, range, chunk.where, leaf));
    } else {
      ARROW_RETURN_NOT_OK(leaf.AppendStrings(strings, range));
    }
  }
  return arrow::Status::OK();
}

arrow::Status ChunkDecoder::AppendSequenced(const SequencedStrings& codec, const ChunkValues& chunk,
                                            std::span<const ValueRange> ranges, LeafValues& leaf) {
  const Bytes bytes = chunk.buffers.back();
  const bool has_payload = codec.offsets.has_payload();
  if (chunk.num_values == UINT64_MAX) return Corrupt(chunk.where, "more strings than there are");
  ARROW_ASSIGN_OR_RAISE(const Sequence all,
                        codec.offsets.Decode(has_payload ? chunk.buffers[0] : Bytes(),
                                             chunk.num_values + 1, chunk.where));
  std::vector<uint64_t> offsets;
  for (const ValueRange& range : ranges) {
    if (range.size() == 0) continue;
    offsets.resize(range.size() + 1);
    all.Copy(range.begin, offsets);
    if (!std::ranges::is_sorted(offsets) || offsets.back() > bytes.size()) {
      return Corrupt(chunk.where, "offsets of {} strings do not ascend to at most {}", range.size(),
                     bytes.size());
    }
    const VariablePayload strings{.offsets = reinterpret_cast<const std::byte*>(offsets.data()),
                                  .origin = bytes.data(),
                                  .num_values = range.size(),
                                  .wide = true};
    const ValueRange whole{0, range.size()};
    ARROW_RETURN_NOT_OK(codec.fsst ? AppendFsst(*codec.fsst, strings, whole, chunk.where, leaf)
                                   : leaf.AppendStrings(strings, whole));
  }
  return arrow::Status::OK();
}

arrow::Status ChunkDecoder::AppendLists(const ListCodec& codec, Bytes first,
                                        const ChunkValues& chunk,
                                        std::span<const ValueRange> ranges, LeafValues& leaf) {
  const LeafShape& shape = leaf.shape();
  std::vector<Bytes> buffers(chunk.buffers.begin(), chunk.buffers.end());
  buffers[0] = first;
  const Bytes values = buffers.back();
  if (chunk.num_values > values.size() * 8 / shape.slot_bits()) {
    return Corrupt(chunk.where, "{} fixed-size lists of {} bits in {} bytes", chunk.num_values,
                   shape.slot_bits(), values.size());
  }
  uint64_t items = 1;  // of a slot, at this level
  for (size_t level = 0, buffer = 0; level < shape.dimensions.size(); ++level) {
    items *= shape.dimensions[level];
    const Bytes bitmap = codec.has_validity[level] ? buffers[buffer++] : Bytes();
    if (codec.has_validity[level] && bitmap.size() < PackedBytes(chunk.num_values * items, 1)) {
      return Corrupt(chunk.where, "validity of {} items in {} bytes", chunk.num_values * items,
                     bitmap.size());
    }
    for (const ValueRange& range : ranges) {
      ARROW_RETURN_NOT_OK(
          codec.has_validity[level]
              ? leaf.items(level).AppendBits(reinterpret_cast<const uint8_t*>(bitmap.data()),
                                             static_cast<int64_t>(range.begin * items),
                                             static_cast<int64_t>(range.size() * items))
              : leaf.AppendItemsValid(level, range.size()));
    }
  }
  for (const ValueRange& range : ranges) {
    if (shape.kind == ValueKind::kBit) {
      ARROW_RETURN_NOT_OK(
          leaf.AppendBits(values.data(), range.begin * shape.values_per_slot, range.size()));
    } else {
      const std::byte* const from = values.data() + range.begin * (shape.slot_bits() / 8);
      ARROW_RETURN_NOT_OK(leaf.AppendFixed(from, range.size()));
    }
  }
  return arrow::Status::OK();
}

arrow::Status ChunkDecoder::Append(const ChunkValues& chunk, std::span<const ValueRange> ranges,
                                   LeafValues& leaf, DecodeScratch& scratch) const {
  if (const auto* strings = std::get_if<SequencedStrings>(&codec_)) {
    return AppendSequenced(*strings, chunk, ranges, leaf);
  }
  ARROW_ASSIGN_OR_RAISE(const Bytes first, FirstBuffer(chunk, scratch));
  if (const auto* strings = std::get_if<StringCodec>(&codec_)) {
    return AppendStrings(*strings, first, chunk, ranges, leaf);
  }
  if (const auto* lists = std::get_if<ListCodec>(&codec_)) {
    return AppendLists(*lists, first, chunk, ranges, leaf);
  }
  ARROW_RETURN_NOT_OK(
      AppendFixed(std::get<FixedCodec>(codec_), first, chunk, ranges, leaf, scratch));
  for (size_t level = 0; level < leaf.shape().dimensions.size(); ++level) {
    for (const ValueRange& range : ranges) {
      ARROW_RETURN_NOT_OK(leaf.AppendItemsValid(level, range.size()));
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::span<const uint32_t>> ChunkDecoder::DecodeIndices(const ChunkValues& chunk,
                                                                     DecodeScratch& scratch) const {
  ARROW_ASSIGN_OR_RAISE(const Bytes first, FirstBuffer(chunk, scratch));
  const auto& codec = std::get<FixedCodec>(codec_);
  const auto room_for_indices = [&](uint64_t n) -> arrow::Result<std::byte*> {
    if (scratch.indices.size() < n) scratch.indices.resize(n);
    return reinterpret_cast<std::byte*>(scratch.indices.data());
  };
  if (value_bits_ == 32) {
    ARROW_RETURN_NOT_OK(DecodeFixed(codec, first, chunk, scratch, room_for_indices));
    return std::span<const uint32_t>(scratch.indices.data(), chunk.num_values);
  }
  const auto room_for_words = [&](uint64_t n) -> arrow::Result<std::byte*> {
    ARROW_RETURN_NOT_OK(room_for_indices(n).status());
    const uint64_t size = n * (value_bits_ / 8);
    if (scratch.values.size() < size) scratch.values.resize(size);
    return scratch.values.data();
  };
  ARROW_RETURN_NOT_OK(DecodeFixed(codec, first, chunk, scratch, room_for_words));
  const std::span<uint32_t> indices(scratch.indices.data(), chunk.num_values);
  WithWord(value_bits_, [&](auto word) { Narrow<decltype(word)>(scratch.values.data(), indices); });
  return indices;
}

}  // namespace glaive::encoding
