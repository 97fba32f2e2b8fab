#include "encoding/structural/mini_block/join.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "encoding/codec/bitpacking.h"
#include "encoding/codec/words.h"
#include "encoding/structural/leaf/shape.h"
#include "encoding/structural/mini_block/chunk.h"
#include "encoding/structural/mini_block/chunk_cursor.h"
#include "encoding/structural/mini_block/value_chunks.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kMaxSmallChunkBytes = 32 << 10;  // what a word of 16 bits can say

// Bits of a slot of plain values, fixed-size lists of them included; 0 for anything else.
uint64_t PlainSlotBits(const wire::CompressiveEncoding& encoding) {
  if (const auto* flat = std::get_if<wire::FlatEncoding>(&encoding.kind)) {
    return flat->bits_per_value;
  }
  const auto* list = std::get_if<wire::FixedSizeListEncoding>(&encoding.kind);
  if (list == nullptr || list->has_validity) return 0;
  return list->items_per_value * PlainSlotBits(*list->values);
}

}  // namespace

void JoinedChunks::Clear() {
  bytes.clear();
  words.clear();
  repetition_index.clear();
}

arrow::Result<std::optional<MiniBlockJoin>> MiniBlockJoin::Make(const wire::MiniBlockLayout& layout,
                                                                const LeafPath& path,
                                                                FileVersion version,
                                                                Location where) {
  ARROW_ASSIGN_OR_RAISE(const LeafShape shape, ShapeOf(*path.type));
  if (layout.dictionary != nullptr || shape.kind != ValueKind::kFixed) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(PageLevels levels, PageLevels::Validate(layout.layers, path, where));
  std::optional<ValueCodec> values;
  const auto& kind = layout.value_compression->kind;
  if (const auto* packed = std::get_if<wire::InlineBitpackingEncoding>(&kind)) {
    ARROW_ASSIGN_OR_RAISE(values, InlineBitpackingDescription::Validate(*packed, where));
  } else if (PlainSlotBits(*layout.value_compression) == shape.slot_bits()) {
    ARROW_ASSIGN_OR_RAISE(values,
                          FlatDescription::Validate(wire::FlatEncoding{shape.slot_bits()}, where));
  } else {
    return std::nullopt;
  }
  MiniBlockJoin join(layout, std::move(levels), *values);
  join.value_bytes_ = shape.slot_bits() / 8;
  join.max_chunk_values_ = std::holds_alternative<FlatDescription>(*values)
                               ? FlatChunkValues(shape.slot_bits())
                               : kBitpackBlock;
  join.max_levels_ = UINT16_MAX;
  join.large_chunks_ = layout.has_large_chunk;
  for (auto& [encoding, description, codec, max_level] :
       {std::tuple(&layout.rep_compression, &join.repetition_, &join.rep_codec_,
                   join.levels_.max_repetition()),
        std::tuple(&layout.def_compression, &join.definition_, &join.def_codec_,
                   join.levels_.max_definition())}) {
    if (*encoding == nullptr) continue;
    *codec = LevelCodec::Of(**encoding);
    if (!*codec) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(*description,
                          FixedBlockDescription::Validate(**encoding, version, where));
    join.max_levels_ =
        std::min<uint64_t>(join.max_levels_, LevelCodec::MaxLevelsOfChunk(max_level, version));
  }
  return join;
}

std::string MiniBlockJoin::Layout(uint64_t num_items) const {
  wire::MiniBlockLayout layout = layout_;
  layout.num_items = num_items;
  return wire::Serialize(wire::PageLayout(std::move(layout)));
}

bool MiniBlockJoin::Takes(const wire::MiniBlockLayout& layout) const {
  return wire::Serialize(wire::PageLayout(layout)) == Layout(layout.num_items);
}

// Entries that are decoded and not in a chunk yet.
struct MiniBlockJoin::Entries {
  std::vector<uint16_t> rep;
  std::vector<uint16_t> def;
  std::vector<std::byte> values;
  uint64_t num_entries = 0;
  uint64_t num_values = 0;

  void RemoveFront(uint64_t entries, uint64_t of_values, size_t value_bytes) {
    const auto remove = [](auto& from, uint64_t count) {
      if (!from.empty())
        from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    };
    remove(rep, entries);
    remove(def, entries);
    remove(values, of_values * value_bytes);
    num_entries -= entries;
    num_values -= of_values;
  }
};

class MiniBlockJoin::Cutting {
 public:
  Cutting(const MiniBlockJoin& join, JoinedChunks& out)
      : join_(join), rep_codec_(join.rep_codec_), def_codec_(join.def_codec_), out_(out) {}

  arrow::Status Take(const SourceChunk& chunk);
  // Drops what comes before the last value.
  void KeepLastValue() {
    const uint64_t values = pending_.num_values - 1;
    pending_.RemoveFront(EntriesOf(values), values, join_.value_bytes_);
  }

  uint64_t num_values() const { return pending_.num_values; }

  // Chunks of the next values, with all entries that are there if these are all.
  bool Emit(uint64_t num_values, bool all, bool last);

 private:
  // The entries up to the last of so many values.
  uint64_t EntriesOf(uint64_t num_values) const {
    if (join_.levels_.all_visible() || pending_.def.empty()) return num_values;
    const uint16_t max_visible = join_.levels_.max_visible();
    uint64_t at = 0;
    for (uint64_t seen = 0; seen < num_values; ++at) seen += pending_.def[at] <= max_visible;
    return at;
  }

  void IndexRows(uint64_t num_entries);
  size_t ValueBytes(uint64_t num_values);
  void WriteValues(uint64_t num_values, std::byte* out) const;

  const MiniBlockJoin& join_;
  std::optional<LevelCodec> rep_codec_;
  std::optional<LevelCodec> def_codec_;
  JoinedChunks& out_;
  Entries pending_;
  unsigned width_ = 0;  // of bit-packed values
};

arrow::Status MiniBlockJoin::Cutting::Take(const SourceChunk& chunk) {
  const ChunkFormat format = {.has_repetition = rep_codec_.has_value(),
                              .has_definition = def_codec_.has_value(),
                              .large_chunks = join_.large_chunks_};
  ARROW_ASSIGN_OR_RAISE(const ChunkParts parts, SplitChunk(format, chunk.bytes, chunk.where));
  const bool has_levels = rep_codec_ || def_codec_;
  const uint64_t num_entries = has_levels ? parts.num_levels : chunk.num_values;
  const auto take = [&](const std::optional<FixedBlockDescription>& block, Bytes payload,
                        std::vector<uint16_t>& to) -> arrow::Status {
    if (!block) return arrow::Status::OK();
    const size_t begin = to.size();
    to.resize(begin + num_entries);
    return block->DecodeInto(payload, num_entries, reinterpret_cast<std::byte*>(&to[begin]),
                             chunk.where);
  };
  if (num_entries > 0) {
    ARROW_RETURN_NOT_OK(take(join_.repetition_, parts.repetition, pending_.rep));
    ARROW_RETURN_NOT_OK(take(join_.definition_, parts.definition, pending_.def));
  }
  uint64_t visible = num_entries;
  if (!join_.levels_.all_visible() && def_codec_) {
    visible = join_.levels_.CountVisible(
        {.definition = pending_.def.data() + pending_.num_entries, .size = num_entries});
  }
  if (visible != chunk.num_values) {
    return Corrupt(chunk.where, "{} values in a chunk whose levels say {}", chunk.num_values,
                   visible);
  }
  if (rep_codec_) {
    const auto rep = std::span(pending_.rep).subspan(pending_.num_entries);
    const auto begun =
        static_cast<uint64_t>(std::count(rep.begin(), rep.end(), join_.levels_.max_repetition()));
    if (begun != chunk.num_rows_begun) {
      return Corrupt(chunk.where, "{} rows begin in a chunk; {} expected", begun,
                     chunk.num_rows_begun);
    }
  }
  pending_.num_entries += num_entries;
  pending_.num_values += chunk.num_values;

  const Bytes values = parts.values[0];
  const size_t begin = pending_.values.size();
  const size_t size = chunk.num_values * join_.value_bytes_;
  if (const auto* flat = std::get_if<FlatDescription>(&join_.values_)) {
    ARROW_RETURN_NOT_OK(flat->Check(values, chunk.num_values, chunk.where));
    pending_.values.insert(pending_.values.end(), values.begin(),
                           values.begin() + static_cast<std::ptrdiff_t>(size));
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const BitpackedPayload block,
                        std::get<InlineBitpackingDescription>(join_.values_)
                            .Open(values, chunk.num_values, chunk.where));
  pending_.values.resize(begin + size);
  WithWord(8 * join_.value_bytes_, [&](auto word) {
    block.Decode(reinterpret_cast<decltype(word)*>(&pending_.values[begin]));
  });
  return arrow::Status::OK();
}

// Rows that end in the chunk, and entries of the one that goes on behind it.
void MiniBlockJoin::Cutting::IndexRows(uint64_t num_entries) {
  const uint16_t row_start = join_.levels_.max_repetition();
  const std::span rep = std::span(pending_.rep).first(num_entries);
  const auto starts = static_cast<uint64_t>(std::count(rep.begin(), rep.end(), row_start));
  const bool in_row = rep.front() != row_start;
  uint64_t unfinished = 0;
  if (num_entries < pending_.num_entries && pending_.rep[num_entries] != row_start) {
    const auto found = std::find(rep.rbegin(), rep.rend(), row_start);
    unfinished =
        found == rep.rend() ? num_entries : static_cast<uint64_t>(found - rep.rbegin()) + 1;
  }
  out_.repetition_index.push_back(starts + (in_row ? 1 : 0) - (unfinished > 0 ? 1 : 0));
  out_.repetition_index.push_back(unfinished);
}

size_t MiniBlockJoin::Cutting::ValueBytes(uint64_t num_values) {
  if (std::holds_alternative<FlatDescription>(join_.values_)) {
    return num_values * join_.value_bytes_;
  }
  size_t size = 0;
  WithWord(8 * join_.value_bytes_, [&](auto word) {
    using Word = decltype(word);
    width_ = PackedWidth<Word>({reinterpret_cast<const Word*>(pending_.values.data()), num_values});
    size = InlineBitpackedBytes<Word>(width_);
  });
  return size;
}

void MiniBlockJoin::Cutting::WriteValues(uint64_t num_values, std::byte* out) const {
  if (std::holds_alternative<FlatDescription>(join_.values_)) {
    std::memcpy(out, pending_.values.data(), num_values * join_.value_bytes_);
    return;
  }
  WithWord(8 * join_.value_bytes_, [&](auto word) {
    using Word = decltype(word);
    EncodeInlineBitpacked<Word>({reinterpret_cast<const Word*>(pending_.values.data()), num_values},
                                width_, out);
  });
}

bool MiniBlockJoin::Cutting::Emit(uint64_t num_values, bool all, bool last) {
  const uint64_t num_entries = all ? pending_.num_entries : EntriesOf(num_values);
  const bool has_levels = rep_codec_ || def_codec_;
  const size_t value_bytes = ValueBytes(num_values);
  size_t header = sizeof(uint16_t) + (join_.large_chunks_ ? sizeof(uint32_t) : sizeof(uint16_t));
  size_t body = ChunkCursor::Padded(value_bytes);
  bool fits = !has_levels || num_entries <= join_.max_levels_;
  for (auto& [codec, levels] :
       {std::pair(&rep_codec_, &pending_.rep), std::pair(&def_codec_, &pending_.def)}) {
    if (!*codec || !fits) continue;
    (*codec)->Prepare(std::span(*levels).first(num_entries));
    fits = (*codec)->size_bytes() <= UINT16_MAX;
    header += sizeof(uint16_t);
    body += ChunkCursor::Padded((*codec)->size_bytes());
  }
  const size_t size = ChunkCursor::Padded(header) + body;
  if (!fits || (!join_.large_chunks_ && size > kMaxSmallChunkBytes)) {
    if (num_values < 3) return false;
    const uint64_t half = std::bit_floor(num_values - 1);
    return Emit(half, false, false) && Emit(num_values - half, all, last);
  }
  if (rep_codec_) IndexRows(num_entries);

  const size_t begin = out_.bytes.size();
  out_.bytes.resize(begin + size);
  ChunkCursor chunk(&out_.bytes[begin]);
  chunk.Put(static_cast<uint16_t>(has_levels ? num_entries : 0));
  if (rep_codec_) chunk.Put(static_cast<uint16_t>(rep_codec_->size_bytes()));
  if (def_codec_) chunk.Put(static_cast<uint16_t>(def_codec_->size_bytes()));
  if (join_.large_chunks_) {
    chunk.Put(static_cast<uint32_t>(value_bytes));
  } else {
    chunk.Put(static_cast<uint16_t>(value_bytes));
  }
  chunk.Pad();
  if (rep_codec_) rep_codec_->Write(chunk.Take(rep_codec_->size_bytes()));
  if (def_codec_) def_codec_->Write(chunk.Take(def_codec_->size_bytes()));
  WriteValues(num_values, chunk.Take(value_bytes));
  // The page's last chunk has what is left, whatever it says.
  const auto log = last ? 0U : static_cast<unsigned>(std::countr_zero(num_values));
  out_.words.push_back(static_cast<uint32_t>((size / ChunkCursor::kAlignment - 1) << 4 | log));
  pending_.RemoveFront(num_entries, num_values, join_.value_bytes_);
  return true;
}

arrow::Result<bool> MiniBlockJoin::Cut(const SourceChunk* before,
                                       std::span<const SourceChunk> chunks, Behind behind,
                                       JoinedChunks& out) const {
  Cutting cutting(*this, out);
  if (before != nullptr) {
    if (before->num_values == 0) return false;
    ARROW_RETURN_NOT_OK(cutting.Take(*before));
    cutting.KeepLastValue();
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].num_values == 0) return false;
    ARROW_RETURN_NOT_OK(cutting.Take(chunks[i]));
    if (i + 1 == chunks.size() && behind != Behind::kSamePage) break;
    if (!cutting.Emit(chunks[i].num_values, false, false)) return false;
  }
  if (behind == Behind::kSamePage) return true;
  const uint64_t most = max_chunk_values_;
  if (behind == Behind::kNothing) {
    while (cutting.num_values() > most) {
      if (!cutting.Emit(most, false, false)) return false;
    }
    return cutting.Emit(cutting.num_values(), true, true);
  }
  while (cutting.num_values() >= 2) {
    const uint64_t count = std::min(std::bit_floor(cutting.num_values()), most);
    if (!cutting.Emit(count, count == cutting.num_values(), false)) return false;
  }
  return true;
}

}  // namespace glaive::encoding
