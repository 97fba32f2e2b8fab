#include "encoding/structural/full_zip/page.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/byte_reader.h"
#include "core/write_once.h"
#include "encoding/structural/full_zip/entries.h"
#include "encoding/structural/leaf/decoded_bytes.h"
#include "encoding/structural/page/buffers.h"

namespace glaive::encoding {
namespace {

// Up to here a page, or its index, is fetched whole.
constexpr uint64_t kSmallBytes = 64 << 10;
// Entries of the index that are no further apart are fetched together.
constexpr uint64_t kIndexGap = 4 << 10;

constexpr size_t kEntries = 0;
constexpr size_t kIndex = 1;

// Where rows start, as far as a read has brought it: pieces of the page's index, ascending.
class RowStarts {
 public:
  explicit RowStarts(uint64_t width) : width_(width) {}

  void Add(uint64_t first_byte, std::shared_ptr<arrow::Buffer> piece) {
    pieces_.push_back({first_byte, std::move(piece)});
  }

  // REQUIRES: in one of the pieces
  uint64_t operator[](uint64_t row) const {
    const uint64_t byte = row * width_;
    auto after = std::upper_bound(
        pieces_.begin(), pieces_.end(), byte,
        [](uint64_t wanted, const Piece& piece) { return wanted < piece.first_byte; });
    const Piece& piece = *std::prev(after);
    uint64_t start = 0;
    std::memcpy(&start, piece.bytes->data() + (byte - piece.first_byte), width_);
    return start;
  }

 private:
  struct Piece {
    uint64_t first_byte;
    std::shared_ptr<arrow::Buffer> bytes;
  };
  uint64_t width_;
  std::vector<Piece> pieces_;
};

class FullZipPage final : public PageDecoder, public std::enable_shared_from_this<FullZipPage> {
 public:
  // `index_width` is that of an entry of the index, 0 if the page has none.
  FullZipPage(PageBuffers buffers, ZipLayout layout, LeafShape shape, uint64_t index_width)
      : buffers_(std::move(buffers)),
        layout_(std::move(layout)),
        shape_(std::move(shape)),
        index_width_(index_width) {}

  arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) override;

  uint64_t decoded_bytes() const override {
    DecodedPage page{.num_rows = buffers_.num_rows(), .num_slots = buffers_.num_rows()};
    const uint64_t stored = buffers_.range(kEntries).size;
    if (const auto* strings = std::get_if<ZippedStrings>(&layout_.values)) {
      page.text_bytes = stored * strings->text_factor();
    } else if (layout_.levels.has_lists()) {
      const uint64_t entry =
          layout_.word_bytes() + std::get<ZippedRows>(layout_.values).row_bytes();
      page.num_slots = stored / std::max<uint64_t>(entry, 1);
    }
    return DecodedBytes(page, shape_, layout_.levels.max_repetition());
  }

  uint64_t memory_bytes() const override {
    const bool kept = this->index() != nullptr;
    return sizeof(*this) + buffers_.memory_bytes() + (kept ? buffers_.range(kIndex).size : 0);
  }

  const PageBuffers& buffers() const { return buffers_; }
  const ZipLayout& layout() const { return layout_; }
  uint64_t index_width() const { return index_width_; }

  // Bytes of a row. REQUIRES: no index
  uint64_t entry_bytes() const {
    return layout_.word_bytes() + std::get<ZippedRows>(layout_.values).row_bytes();
  }

  std::shared_ptr<arrow::Buffer> index() const {
    const auto* const kept = index_.Get();
    return kept == nullptr ? nullptr : *kept;
  }
  void KeepIndex(std::shared_ptr<arrow::Buffer> index) { index_.Put(std::move(index)); }

 private:
  const PageBuffers buffers_;
  const ZipLayout layout_;
  const LeafShape shape_;
  const uint64_t index_width_;

  WriteOnce<std::shared_ptr<arrow::Buffer>> index_;  // once a read has brought all of it
};

class FullZipRead final : public PageRead {
 public:
  FullZipRead(std::shared_ptr<FullZipPage> page, std::span<const RowRange> rows)
      : page_(std::move(page)),
        rows_(rows.begin(), rows.end()),
        num_rows_(CountRows(rows_)),
        starts_(page_->index_width()) {
    std::erase_if(rows_, [](const RowRange& range) { return range.size() == 0; });
  }

  // Decides what is fetched first. Fails only on a kept index that is corrupt.
  arrow::Status Start() {
    const uint64_t num_rows = page_->buffers().num_rows();
    if (num_rows_ == 0) return arrow::Status::OK();
    if (page_->index_width() == 0) return WantEntries();
    if (num_rows_ == num_rows) {
      runs_ = {{{0, num_rows}, {0, page_->buffers().range(kEntries).size}}};
      wanted_ = {page_->buffers().range(kEntries)};
      return arrow::Status::OK();
    }
    if (auto index = page_->index(); index != nullptr) {
      starts_.Add(0, std::move(index));
      return WantEntries();
    }
    WantIndex();
    return arrow::Status::OK();
  }

  const std::vector<ByteRange>& wanted() const override { return wanted_; }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override;
  arrow::Status DecodeInto(LeafBuilder& leaf) override;

 private:
  // Rows that follow each other, and where their entries lie in the page.
  struct Run {
    RowRange rows;
    ByteRange bytes;
  };

  void WantIndex();
  arrow::Status PlanRuns();
  arrow::Status WantEntries();

  std::shared_ptr<FullZipPage> page_;
  std::vector<RowRange> rows_;
  uint64_t num_rows_;
  RowStarts starts_;
  bool wants_index_ = false;
  bool whole_page_ = false;  // comes beside the index
  std::vector<ByteRange> wanted_;
  std::vector<Run> runs_;
  std::vector<std::shared_ptr<arrow::Buffer>> data_;  // of each run, or of the whole page
};

void FullZipRead::WantIndex() {
  wants_index_ = true;
  const ByteRange index = page_->buffers().range(kIndex);
  const ByteRange entries = page_->buffers().range(kEntries);
  const uint64_t width = page_->index_width();
  if (index.size <= kSmallBytes || num_rows_ >= page_->buffers().num_rows() / 2) {
    wanted_ = {index};
  } else {
    const auto want = [&](uint64_t row) {
      const ByteRange entry = {index.offset + row * width, width};
      if (!wanted_.empty() && entry.offset <= wanted_.back().end() + kIndexGap) {
        wanted_.back().size = entry.end() - wanted_.back().offset;
      } else {
        wanted_.push_back(entry);
      }
    };
    for (const RowRange& range : rows_) {
      want(range.begin);
      want(range.end);
    }
  }
  whole_page_ = entries.size <= kSmallBytes;
  if (whole_page_) wanted_.push_back(entries);
}

arrow::Status FullZipRead::PlanRuns() {
  const uint64_t size = page_->buffers().range(kEntries).size;
  for (const RowRange& range : rows_) {
    ByteRange bytes;
    if (page_->index_width() == 0) {
      bytes = {range.begin * page_->entry_bytes(), range.size() * page_->entry_bytes()};
    } else {
      const uint64_t begin = starts_[range.begin];
      const uint64_t end = starts_[range.end];
      if (begin > end || end > size) {
        return Corrupt(page_->buffers().where(kIndex), "rows {} to {} take bytes {} to {} of {}",
                       range.begin, range.end, begin, end, size);
      }
      bytes = {begin, end - begin};
    }
    if (!runs_.empty() && runs_.back().rows.end == range.begin &&
        runs_.back().bytes.end() == bytes.offset) {
      runs_.back().rows.end = range.end;
      runs_.back().bytes.size += bytes.size;
    } else {
      runs_.push_back({range, bytes});
    }
  }
  return arrow::Status::OK();
}

arrow::Status FullZipRead::WantEntries() {
  ARROW_RETURN_NOT_OK(PlanRuns());
  const uint64_t origin = page_->buffers().range(kEntries).offset;
  for (const Run& run : runs_) wanted_.push_back({origin + run.bytes.offset, run.bytes.size});
  return arrow::Status::OK();
}

arrow::Status FullZipRead::Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  ARROW_RETURN_NOT_OK(CheckSupply(wanted_, buffers));
  const std::vector<ByteRange> supplied = std::exchange(wanted_, {});
  if (!wants_index_) {
    data_ = std::move(buffers);
    return arrow::Status::OK();
  }
  wants_index_ = false;
  const ByteRange index = page_->buffers().range(kIndex);
  if (whole_page_) {
    data_ = {buffers.back()};
    buffers.pop_back();
  }
  if (supplied.front() == index) page_->KeepIndex(buffers.front());
  for (size_t i = 0; i < buffers.size(); ++i) {
    starts_.Add(supplied[i].offset - index.offset, std::move(buffers[i]));
  }
  return whole_page_ ? PlanRuns() : WantEntries();
}

arrow::Status FullZipRead::DecodeInto(LeafBuilder& leaf) {
  LeafBuilder::State& state = leaf.state();
  const RowCheck check(state, num_rows_);
  const Location origin = page_->buffers().where(kEntries);
  ZipReader reader(page_->layout());
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    const Bytes entries = whole_page_ ? BytesOf(*data_[0]).subspan(run.bytes.offset, run.bytes.size)
                                      : BytesOf(*data_[i]);
    ARROW_RETURN_NOT_OK(
        reader.Append(entries, run.rows.size(), state, origin.Plus(run.bytes.offset)));
  }
  return check.Finish(origin);
}

arrow::Result<std::unique_ptr<PageRead>> FullZipPage::Read(std::span<const RowRange> rows) {
  auto read = std::make_unique<FullZipRead>(shared_from_this(), rows);
  ARROW_RETURN_NOT_OK(read->Start());
  return read;
}

arrow::Result<ZipLayout> ValidateLayout(const wire::FullZipLayout& layout, const LeafPath& path,
                                        Location where) {
  ARROW_ASSIGN_OR_RAISE(const LeafShape shape, ShapeOf(*path.type));
  ARROW_ASSIGN_OR_RAISE(PageLevels levels, PageLevels::Validate(layout.layers, path, where));
  constexpr uint32_t kMaxBits = 16;
  if (layout.bits_rep > kMaxBits || layout.bits_def > kMaxBits ||
      levels.has_lists() != (layout.bits_rep > 0)) {
    return Corrupt(where, "control words of {} and {} bits for {} list layers", layout.bits_rep,
                   layout.bits_def, levels.max_repetition());
  }
  if (shape.kind == ValueKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(ZippedStrings strings,
                          ZippedStrings::Validate(*layout.value_compression,
                                                  layout.bits_per_offset.value_or(0), where));
    return ZipLayout{std::move(levels), layout.bits_rep, layout.bits_def, std::move(strings)};
  }
  ARROW_ASSIGN_OR_RAISE(ZippedRows rows,
                        ZippedRows::Validate(*layout.value_compression,
                                             layout.bits_per_value.value_or(0), shape, where));
  return ZipLayout{std::move(levels), layout.bits_rep, layout.bits_def, std::move(rows)};
}

// The width of an entry of the index: its size tells.
arrow::Result<uint64_t> IndexWidth(const PageBuffers& buffers, Location where) {
  const uint64_t size = buffers.range(kIndex).size;
  for (const uint64_t width : {1, 2, 4, 8}) {
    if (size % width == 0 && size / width - 1 == buffers.num_rows()) return width;
  }
  return Corrupt(where, "a row index of {} bytes for {} rows", size, buffers.num_rows());
}

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> MakeFullZipPage(const wire::FullZipLayout& layout,
                                                            const PageSource& source,
                                                            const LeafPath& path) {
  const Location where = {source.path, source.layout_offset};
  ARROW_ASSIGN_OR_RAISE(ZipLayout zip, ValidateLayout(layout, path, where));
  const bool has_index =
      zip.levels.has_lists() || std::holds_alternative<ZippedStrings>(zip.values);
  ARROW_ASSIGN_OR_RAISE(PageBuffers buffers, PageBuffers::Validate(source, has_index ? 2 : 1));
  uint64_t index_width = 0;
  if (has_index) {
    ARROW_ASSIGN_OR_RAISE(index_width, IndexWidth(buffers, where));
  } else {
    const uint64_t size = buffers.range(kEntries).size;
    const uint64_t entry = zip.word_bytes() + std::get<ZippedRows>(zip.values).row_bytes();
    const bool exact =
        entry == 0 ? size == 0 : size % entry == 0 && size / entry == source.num_rows;
    if (!exact) {
      return Corrupt(where, "{} entries of {} bytes in {}", source.num_rows, entry, size);
    }
  }
  ARROW_ASSIGN_OR_RAISE(LeafShape shape, ShapeOf(*path.type));
  return std::make_shared<FullZipPage>(std::move(buffers), std::move(zip), std::move(shape),
                                       index_width);
}

}  // namespace glaive::encoding
