#include "encoding/structural/mini_block/page.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/write_once.h"
#include "encoding/structural/leaf/decoded_bytes.h"
#include "encoding/structural/mini_block/chunk.h"
#include "encoding/structural/mini_block/index.h"
#include "encoding/structural/page/buffers.h"

namespace glaive::encoding {
namespace {

// Up to here a page is fetched in one round, as that costs less than a second one.
constexpr uint64_t kSmallPageBytes = 128 << 10;

constexpr size_t kWords = 0;
constexpr size_t kChunks = 1;
constexpr size_t kBesides = 2;

// What a page has beside its chunks.
struct Besides {
  MiniBlockIndex index;
  std::optional<PageDictionary> dictionary;

  uint64_t memory_bytes() const {
    return index.memory_bytes() + (dictionary ? dictionary->memory_bytes() : 0);
  }
};

class MiniBlockPage final : public PageDecoder, public std::enable_shared_from_this<MiniBlockPage> {
 public:
  MiniBlockPage(PageBuffers buffers, ChunkLayout layout, LeafShape shape, MiniBlockSizes sizes,
                std::optional<DictionaryDescription> dictionary, uint64_t num_dictionary_items)
      : buffers_(std::move(buffers)),
        layout_(std::move(layout)),
        shape_(std::move(shape)),
        sizes_(sizes),
        dictionary_(std::move(dictionary)),
        num_dictionary_items_(num_dictionary_items) {}

  arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) override;

  uint64_t decoded_bytes() const override {
    DecodedPage page{.num_rows = sizes_.num_rows, .num_slots = sizes_.num_values};
    page.text_bytes = buffers_.range(kChunks).size * layout_.values.text_factor();
    if (dictionary_) {
      // As if all items were as frequent. Those that are not are found out by reading.
      const Besides* const besides = this->besides();
      const uint64_t bytes = besides != nullptr && besides->dictionary
                                 ? besides->dictionary->text_bytes()
                                 : buffers_.range(kBesides).size * dictionary_->text_factor();
      const double share = static_cast<double>(bytes) /
                           static_cast<double>(std::max<uint64_t>(num_dictionary_items_, 1));
      page.text_bytes =
          static_cast<uint64_t>(std::min(share * static_cast<double>(sizes_.num_values), 1e18));
    }
    return DecodedBytes(page, shape_, layout_.levels.max_repetition());
  }

  uint64_t memory_bytes() const override {
    const auto besides = this->besides();
    return sizeof(*this) + buffers_.memory_bytes() + (besides ? besides->memory_bytes() : 0);
  }

  const PageBuffers& buffers() const { return buffers_; }
  const ChunkLayout& layout() const { return layout_; }

  // Null until a read has brought it.
  const Besides* besides() const { return besides_.Get(); }

  // Of words, dictionary and repetition index, in this order.
  std::vector<ByteRange> besides_ranges() const {
    std::vector<ByteRange> ranges = {buffers_.range(kWords)};
    if (dictionary_) ranges.push_back(buffers_.range(kBesides));
    if (layout_.levels.has_lists()) ranges.push_back(buffers_.range(repetition_index_buffer()));
    return ranges;
  }

  arrow::Result<const Besides*> Keep(std::span<const std::shared_ptr<arrow::Buffer>> besides);

 private:
  size_t repetition_index_buffer() const { return kBesides + (dictionary_ ? 1 : 0); }

  const PageBuffers buffers_;
  const ChunkLayout layout_;
  const LeafShape shape_;  // of the leaf
  const MiniBlockSizes sizes_;
  const std::optional<DictionaryDescription> dictionary_;
  const uint64_t num_dictionary_items_;

  WriteOnce<Besides> besides_;
};

class MiniBlockRead final : public PageRead {
 public:
  MiniBlockRead(std::shared_ptr<MiniBlockPage> page, std::span<const RowRange> rows)
      : page_(std::move(page)), rows_(rows.begin(), rows.end()), besides_(page_->besides()) {
    const ByteRange chunks = page_->buffers().range(kChunks);
    if (CountRows(rows_) == 0) return;
    if (besides_ != nullptr) {
      WantChunks();
      return;
    }
    wanted_ = page_->besides_ranges();
    // Chunks come along where one round is worth more than the bytes that it may fetch in vain.
    with_chunks_ =
        chunks.size <= kSmallPageBytes || CountRows(rows_) >= page_->buffers().num_rows() / 2;
    if (with_chunks_) wanted_.push_back(chunks);
  }

  const std::vector<ByteRange>& wanted() const override { return wanted_; }

  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    ARROW_RETURN_NOT_OK(CheckSupply(wanted_, buffers));
    wanted_.clear();
    if (besides_ != nullptr) {
      data_ = std::move(buffers);
      return arrow::Status::OK();
    }
    const size_t num_besides = buffers.size() - (with_chunks_ ? 1 : 0);
    ARROW_ASSIGN_OR_RAISE(besides_, page_->Keep(std::span(buffers).first(num_besides)));
    if (!with_chunks_) {
      WantChunks();
      return arrow::Status::OK();
    }
    chunks_ = {{0, besides_->index.num_chunks()}};
    data_ = {buffers.back()};
    return arrow::Status::OK();
  }

  arrow::Status DecodeInto(LeafBuilder& leaf) override;

 private:
  uint64_t NumSlots(uint64_t slot_bytes) const;

  void WantChunks() {
    chunks_ = besides_->index.ChunksOf(rows_);
    const uint64_t origin = page_->buffers().range(kChunks).offset;
    for (const ChunkRange& chunks : chunks_) {
      const ByteRange bytes = besides_->index.bytes(chunks);
      wanted_.push_back({origin + bytes.offset, bytes.size});
    }
  }

  std::shared_ptr<MiniBlockPage> page_;
  std::vector<RowRange> rows_;
  const Besides* besides_;  // the page's
  bool with_chunks_ = false;
  std::vector<ByteRange> wanted_;
  std::vector<ChunkRange> chunks_;                    // that were fetched
  std::vector<std::shared_ptr<arrow::Buffer>> data_;  // their bytes
};

// Slots to make room for. What chunks say of themselves is believed only as far as runs, the codec
// that makes the most of its bytes, could make it true: 255 words of 8 bytes from one of 9.
uint64_t MiniBlockRead::NumSlots(uint64_t slot_bytes) const {
  constexpr uint64_t kMaxRatio = 255;
  uint64_t num_values = 0;
  uint64_t num_bytes = 0;
  for (const ChunkRange& chunks : besides_->index.ChunksOf(rows_)) {
    num_bytes += besides_->index.bytes(chunks).size;
    for (uint64_t c = chunks.begin; c < chunks.end; ++c) {
      num_values += std::min<uint64_t>(besides_->index.num_values(c), UINT16_MAX);
    }
  }
  if (!page_->layout().levels.has_lists()) num_values = std::min(num_values, CountRows(rows_));
  return std::min(num_values, num_bytes * kMaxRatio / slot_bytes);
}

arrow::Status MiniBlockRead::DecodeInto(LeafBuilder& leaf) {
  LeafBuilder::State& state = leaf.state();
  const RowCheck check(state, CountRows(rows_));
  if (CountRows(rows_) == 0) return arrow::Status::OK();
  const MiniBlockIndex& index = besides_->index;
  const Location origin = page_->buffers().where(kChunks);
  ChunkReader reader(page_->layout(), besides_->dictionary ? &*besides_->dictionary : nullptr);
  const LeafShape& shape = state.values.shape();
  if (rows_.size() == 1 && shape.kind == ValueKind::kFixed) {
    ARROW_RETURN_NOT_OK(state.values.ReserveFixed(NumSlots(shape.slot_bits() / 8)));
  }
  auto next = rows_.begin();  // the first range that chunks may still have something of
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const uint64_t data_begin = index.bytes({0, chunks_[i].begin}).size;
    for (uint64_t c = chunks_[i].begin; c < chunks_[i].end; ++c) {
      Chunk chunk{.num_values = index.num_values(c),
                  .rows = index.rows(c),
                  .rows_begun = index.rows_begun(c)};
      while (next != rows_.end() && next->end <= chunk.rows.begin) ++next;
      if (next == rows_.end()) return check.Finish(origin);
      if (next->begin >= chunk.rows.end) continue;
      const ByteRange bytes = index.bytes({c, c + 1});
      chunk.bytes = BytesOf(*data_[i]).subspan(bytes.offset - data_begin, bytes.size);
      chunk.where = origin.Plus(bytes.offset);
      ARROW_RETURN_NOT_OK(reader.Append(chunk, std::span(next, rows_.end()), state));
    }
  }
  return check.Finish(origin);
}

arrow::Result<std::unique_ptr<PageRead>> MiniBlockPage::Read(std::span<const RowRange> rows) {
  return std::make_unique<MiniBlockRead>(shared_from_this(), rows);
}

arrow::Result<const Besides*> MiniBlockPage::Keep(
    std::span<const std::shared_ptr<arrow::Buffer>> buffers) {
  std::optional<Bytes> repetition_index;
  Location repetition_index_at = buffers_.layout();
  if (layout_.levels.has_lists()) {
    repetition_index = BytesOf(*buffers.back());
    repetition_index_at = buffers_.where(repetition_index_buffer());
  }
  ARROW_ASSIGN_OR_RAISE(MiniBlockIndex index,
                        MiniBlockIndex::Parse(BytesOf(*buffers[0]), repetition_index, sizes_,
                                              buffers_.where(kWords), repetition_index_at));
  auto besides = std::make_unique<Besides>(Besides{std::move(index), std::nullopt});
  if (dictionary_) {
    ARROW_ASSIGN_OR_RAISE(
        besides->dictionary,
        dictionary_->Decode(BytesOf(*buffers[1]), num_dictionary_items_, buffers_.where(kBesides)));
  }
  return &besides_.Put(std::move(besides));
}

arrow::Result<std::optional<FixedBlockDescription>> ValidateLevels(
    const wire::EncodingPtr& encoding, FileVersion version, Location where) {
  if (encoding == nullptr) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto block, FixedBlockDescription::Validate(*encoding, version, where));
  if (block.value_bits() != 16) {
    return Corrupt(where, "levels of {} bits; 16 expected", block.value_bits());
  }
  return block;
}

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> MakeMiniBlockPage(const wire::MiniBlockLayout& layout,
                                                              const PageSource& source,
                                                              const LeafPath& path) {
  const Location where = {source.path, source.layout_offset};
  if (layout.has_large_chunk && source.version < FileVersion::k2_2) {
    return Corrupt(where, "large chunks before version 2.2");
  }
  ARROW_ASSIGN_OR_RAISE(const LeafShape shape, ShapeOf(*path.type));
  ARROW_ASSIGN_OR_RAISE(PageLevels levels, PageLevels::Validate(layout.layers, path, where));
  const bool has_lists = levels.has_lists();
  if (has_lists != (layout.rep_compression != nullptr) ||
      has_lists != (layout.repetition_index_depth == 1)) {
    return Corrupt(where, "a page with {} list layers and a repetition index of depth {}",
                   levels.max_repetition(), layout.repetition_index_depth);
  }
  if (levels.max_definition() == 0 && layout.def_compression != nullptr) {
    return Corrupt(where, "definition levels that no layer uses");
  }
  ARROW_ASSIGN_OR_RAISE(auto repetition,
                        ValidateLevels(layout.rep_compression, source.version, where));
  ARROW_ASSIGN_OR_RAISE(auto definition,
                        ValidateLevels(layout.def_compression, source.version, where));
  std::optional<DictionaryDescription> dictionary;
  LeafShape stored = shape;
  if (layout.dictionary != nullptr) {
    ARROW_ASSIGN_OR_RAISE(dictionary, DictionaryDescription::Validate(*layout.dictionary, shape,
                                                                      source.version, where));
    stored = {.kind = ValueKind::kFixed, .value_bits = path.index_bits};
  }
  ARROW_ASSIGN_OR_RAISE(ChunkDecoder values, ChunkDecoder::Validate(*layout.value_compression,
                                                                    stored, source.version, where));
  if (layout.num_buffers != values.num_buffers()) {
    return Corrupt(where, "{} value buffers; {} expected", layout.num_buffers,
                   values.num_buffers());
  }
  const size_t num_buffers = kBesides + (dictionary ? 1 : 0) + (has_lists ? 1 : 0);
  ARROW_ASSIGN_OR_RAISE(PageBuffers buffers, PageBuffers::Validate(source, num_buffers));
  const MiniBlockSizes sizes = {source.num_rows, layout.num_items, buffers.range(kChunks).size,
                                layout.has_large_chunk};
  return std::make_shared<MiniBlockPage>(
      std::move(buffers),
      ChunkLayout{std::move(repetition), std::move(definition), std::move(levels),
                  std::move(values), layout.has_large_chunk},
      shape, sizes, std::move(dictionary), layout.num_dictionary_items);
}

}  // namespace glaive::encoding
