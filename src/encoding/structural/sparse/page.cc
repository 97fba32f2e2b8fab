#include "encoding/structural/sparse/page.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/too_large.h"
#include "core/write_once.h"
#include "encoding/structural/full_zip/page.h"
#include "encoding/structural/leaf/decoded_bytes.h"
#include "encoding/structural/mini_block/page.h"
#include "encoding/structural/page/buffers.h"
#include "encoding/structural/sparse/spread.h"
#include "encoding/structural/sparse/structure.h"

namespace glaive::encoding {
namespace {

// Indices that are at hand at once.
constexpr uint64_t kMostIndexed = uint64_t{1} << 27;

// What is stored for the values.
enum class Storage : uint8_t { kChunked, kZipped, kConstant, kNone, kIndexed };

struct ValueParts {
  Storage storage = Storage::kNone;
  std::shared_ptr<PageDecoder> page;  // of what is stored, as rows of a leaf without structure
  std::string scalar;
  std::optional<SequenceDescription> indices;
  uint64_t num_stored = 0;  // zipped values, or items
};

// What reads keep: the structure, and what follows from it.
struct Content {
  SparseStructure structure;
  std::vector<RowRange> material;  // zipped alone
  std::vector<uint64_t> stored;    // stored values before each of these ranges
  Sequence indices;

  uint64_t memory_bytes() const {
    return structure.memory_bytes() + indices.memory_bytes() +
           material.size() * (sizeof(RowRange) + sizeof(uint64_t));
  }
};

class SparsePage final : public PageDecoder, public std::enable_shared_from_this<SparsePage> {
 public:
  SparsePage(PageBuffers buffers, size_t num_value_buffers, SparseDescription description,
             ValueParts values, std::shared_ptr<const LeafPath> leaf_path, LeafShape shape)
      : buffers_(std::move(buffers)),
        num_value_buffers_(num_value_buffers),
        description_(std::move(description)),
        values_(std::move(values)),
        leaf_path_(std::move(leaf_path)),
        shape_(std::move(shape)) {}

  arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) override;

  uint64_t decoded_bytes() const override {
    if (values_.page != nullptr && values_.storage == Storage::kChunked) {
      return values_.page->decoded_bytes() + buffers_.num_rows() * sizeof(uint32_t);
    }
    const uint64_t slots = description_.num_leaf_slots();
    DecodedPage page{.num_rows = buffers_.num_rows(), .num_slots = slots};
    if (values_.page != nullptr && shape_.kind == ValueKind::kVariable) {
      page.text_bytes = values_.page->decoded_bytes();
      if (values_.storage == Storage::kIndexed) {
        const double share = static_cast<double>(page.text_bytes) /
                             static_cast<double>(std::max<uint64_t>(values_.num_stored, 1));
        page.text_bytes = static_cast<uint64_t>(std::min(share * static_cast<double>(slots), 1e18));
      }
    }
    return DecodedBytes(page, shape_, leaf_path_ == nullptr ? 0 : 1);
  }

  uint64_t memory_bytes() const override {
    const auto* const content = content_.Get();
    return sizeof(*this) + buffers_.memory_bytes() + (content ? content->memory_bytes() : 0) +
           (values_.page ? values_.page->memory_bytes() : 0);
  }

  const PageBuffers& buffers() const { return buffers_; }
  const ValueParts& values() const { return values_; }
  const LeafPath& leaf_path() const { return *leaf_path_; }
  const Content* content() const { return content_.Get(); }

  // Of what Content is made of.
  std::vector<ByteRange> content_ranges() const {
    std::vector<ByteRange> ranges;
    for (size_t i = first_content(); i < num_buffers(); ++i) ranges.push_back(buffers_.range(i));
    if (has_index_buffer()) ranges.push_back(buffers_.range(0));
    return ranges;
  }
  arrow::Result<const Content*> Keep(std::span<const std::shared_ptr<arrow::Buffer>> buffers);

 private:
  bool has_index_buffer() const { return values_.indices && values_.indices->has_payload(); }
  size_t first_content() const { return num_value_buffers_; }
  size_t num_buffers() const { return num_value_buffers_ + description_.num_buffers(); }

  const PageBuffers buffers_;
  const size_t num_value_buffers_;
  const SparseDescription description_;
  const ValueParts values_;
  const std::shared_ptr<const LeafPath> leaf_path_;  // of the values alone
  const LeafShape shape_;

  WriteOnce<Content> content_;
};

arrow::Result<const Content*> SparsePage::Keep(
    std::span<const std::shared_ptr<arrow::Buffer>> buffers) {
  std::vector<Location> places;
  for (size_t i = first_content(); i < num_buffers(); ++i) places.push_back(buffers_.where(i));
  const Location where = buffers_.layout();
  Content content;
  ARROW_ASSIGN_OR_RAISE(content.structure,
                        description_.Decode(buffers.first(places.size()), places, where));
  const uint64_t slots = description_.num_leaf_slots();
  if (values_.storage == Storage::kZipped) {
    ARROW_ASSIGN_OR_RAISE(content.material, content.structure.MaterialSlots(where));
    uint64_t stored = 0;
    for (const RowRange& range : content.material) {
      content.stored.push_back(stored);
      stored += range.size();
    }
    if (stored != values_.num_stored) {
      return Corrupt(where, "{} values of {} slots that are not null", values_.num_stored, stored);
    }
  } else if (values_.storage == Storage::kIndexed) {
    const Bytes payload = has_index_buffer() ? BytesOf(*buffers.back()) : Bytes();
    const Location at = has_index_buffer() ? buffers_.where(0) : where;
    ARROW_ASSIGN_OR_RAISE(content.indices, values_.indices->Decode(payload, slots, at));
  }
  return &content_.Put(std::make_unique<Content>(std::move(content)));
}

class SparseRead final : public PageRead {
 public:
  SparseRead(std::shared_ptr<SparsePage> page, std::span<const RowRange> rows)
      : page_(std::move(page)), content_(page_->content()) {
    for (const RowRange& range : rows) {
      if (range.size() > 0) rows_.push_back(range);
    }
  }

  arrow::Status Start() {
    if (rows_.empty()) return arrow::Status::OK();
    if (content_ == nullptr) {
      wanted_ = page_->content_ranges();
      if (!wanted_.empty()) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(content_, page_->Keep({}));
    }
    return StartValues();
  }

  const std::vector<ByteRange>& wanted() const override {
    return content_ != nullptr && inner_ != nullptr ? inner_->wanted() : wanted_;
  }

  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    if (content_ != nullptr) return inner_->Supply(std::move(buffers));
    ARROW_RETURN_NOT_OK(CheckSupply(wanted_, buffers));
    wanted_.clear();
    ARROW_ASSIGN_OR_RAISE(content_, page_->Keep(buffers));
    return StartValues();
  }

  arrow::Status DecodeInto(LeafBuilder& leaf) override;

 private:
  arrow::Status StartValues();
  std::vector<RowRange> StoredOf(RowRange slots) const;
  arrow::Status AppendSlots(LeafBuilder::State& leaf, Location where);

  std::shared_ptr<SparsePage> page_;
  const Content* content_;  // the page's
  std::vector<RowRange> rows_;
  std::vector<RowRange> slots_;  // of the leaf, of each range of rows
  std::vector<uint64_t> items_;  // that are read, ascending
  std::unique_ptr<PageRead> inner_;
  std::vector<ByteRange> wanted_;
};

// The zipped values that lie in some slots, as rows of what is stored.
std::vector<RowRange> SparseRead::StoredOf(RowRange slots) const {
  std::vector<RowRange> stored;
  const auto& material = content_->material;
  auto range = std::partition_point(material.begin(), material.end(), [&](const RowRange& found) {
    return found.end <= slots.begin;
  });
  for (; range != material.end() && range->begin < slots.end; ++range) {
    const uint64_t first = content_->stored[static_cast<size_t>(range - material.begin())];
    const uint64_t begin = std::max(range->begin, slots.begin) - range->begin;
    const uint64_t end = std::min(range->end, slots.end) - range->begin;
    if (!stored.empty() && stored.back().end == first + begin) {
      stored.back().end = first + end;
    } else {
      stored.push_back({first + begin, first + end});
    }
  }
  return stored;
}

arrow::Status SparseRead::StartValues() {
  std::vector<RowRange> wanted;
  const auto want = [&](RowRange range) {
    if (range.size() == 0) return;
    if (!wanted.empty() && wanted.back().end == range.begin) {
      wanted.back().end = range.end;
    } else {
      wanted.push_back(range);
    }
  };
  for (const RowRange& range : rows_) slots_.push_back(content_->structure.LeafSlots(range));
  switch (page_->values().storage) {
    case Storage::kConstant:
    case Storage::kNone: return arrow::Status::OK();
    case Storage::kChunked:
      for (const RowRange& slots : slots_) want(slots);
      break;
    case Storage::kZipped:
      for (const RowRange& slots : slots_) {
        for (const RowRange& stored : StoredOf(slots)) want(stored);
      }
      break;
    case Storage::kIndexed: {
      std::vector<uint64_t> indices;
      for (const RowRange& slots : slots_) {
        if (slots.size() > kMostIndexed) {
          return TooLarge("rows of {} indexed values; at most {} at once", slots.size(),
                          kMostIndexed);
        }
        indices.resize(slots.size());
        content_->indices.Copy(slots.begin, indices);
        items_.insert(items_.end(), indices.begin(), indices.end());
      }
      std::ranges::sort(items_);
      items_.erase(std::unique(items_.begin(), items_.end()), items_.end());
      if (!items_.empty() && items_.back() >= page_->values().num_stored) {
        return Corrupt(page_->buffers().layout(), "index {} into {} items", items_.back(),
                       page_->values().num_stored);
      }
      for (const uint64_t item : items_) want({item, item + 1});
    }
  }
  return page_->values().page->Read(wanted).Value(&inner_);
}

arrow::Status SparseRead::AppendSlots(LeafBuilder::State& leaf, Location where) {
  const ValueParts& values = page_->values();
  LeafBuilder stored(page_->leaf_path(), leaf.values.most_bytes());
  if (values.storage == Storage::kChunked) {
    // Straight into the leaf's values.
    std::swap(stored.state().values, leaf.values);
    arrow::Status status =
        stored.state().layers.back().validity.AppendValid(stored.state().values.num_slots());
    if (status.ok()) status = inner_->DecodeInto(stored);
    std::swap(stored.state().values, leaf.values);
    return status;
  }
  if (inner_ == nullptr) {
    for (const RowRange& slots : slots_) {
      ARROW_RETURN_NOT_OK(values.storage == Storage::kConstant
                              ? AppendScalar(values.scalar, slots.size(), leaf.values)
                              : AppendNothing(slots.size(), leaf.values));
    }
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(inner_->DecodeInto(stored));
  ARROW_ASSIGN_OR_RAISE(const LeafRows rows, std::move(stored).Finish());
  ValueSpread spread(*rows.values, leaf.values);
  uint64_t next = 0;  // of what was read
  std::vector<uint64_t> indices;
  for (const RowRange& slots : slots_) {
    if (values.storage == Storage::kIndexed) {
      indices.resize(slots.size());
      content_->indices.Copy(slots.begin, indices);
      for (const uint64_t index : indices) {
        const auto item =
            static_cast<uint64_t>(std::ranges::lower_bound(items_, index) - items_.begin());
        ARROW_RETURN_NOT_OK(spread.Append({item, item + 1}));
      }
      continue;
    }
    uint64_t at = slots.begin;
    const auto& material = content_->material;
    auto range = std::partition_point(material.begin(), material.end(), [&](const RowRange& found) {
      return found.end <= slots.begin;
    });
    for (; range != material.end() && range->begin < slots.end; ++range) {
      const uint64_t begin = std::max(range->begin, at);
      const uint64_t end = std::min(range->end, slots.end);
      ARROW_RETURN_NOT_OK(AppendNothing(begin - at, leaf.values));
      if (end - begin > static_cast<uint64_t>(rows.values->length) - next) {
        return Corrupt(where, "fewer values than slots that are not null");
      }
      ARROW_RETURN_NOT_OK(spread.Append({next, next + (end - begin)}));
      next += end - begin;
      at = end;
    }
    ARROW_RETURN_NOT_OK(AppendNothing(slots.end - at, leaf.values));
  }
  return arrow::Status::OK();
}

arrow::Status SparseRead::DecodeInto(LeafBuilder& leaf) {
  LeafBuilder::State& state = leaf.state();
  const Location where = page_->buffers().layout();
  const RowCheck check(state, CountRows(rows_));
  if (rows_.empty()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(AppendSlots(state, where));
  for (const RowRange& range : rows_) {
    ARROW_RETURN_NOT_OK(content_->structure.Append(range, state, where));
  }
  return check.Finish(where);
}

arrow::Result<std::unique_ptr<PageRead>> SparsePage::Read(std::span<const RowRange> rows) {
  auto read = std::make_unique<SparseRead>(shared_from_this(), rows);
  ARROW_RETURN_NOT_OK(read->Start());
  return read;
}

// Opens what is stored as a page of a leaf without structure.
struct ValueOpener {
  const PageSource& source;
  const LeafPath& leaf_path;
  const LeafShape& shape;
  uint64_t num_slots;
  size_t num_buffers = 0;  // that the values take

  Location where() const { return {source.path, source.layout_offset}; }

  arrow::Result<PageSource> Part(size_t first, size_t count, uint64_t num_rows) {
    num_buffers = first + count;
    if (source.buffers.size() < num_buffers) {
      return Corrupt(where(), "a sparse page of {} buffers; {} of values expected",
                     source.buffers.size(), num_buffers);
    }
    PageSource part = source;
    part.buffers = source.buffers.subspan(first, count);
    part.num_rows = num_rows;
    return part;
  }

  arrow::Result<std::shared_ptr<PageDecoder>> OpenZipped(const wire::ZippedValues& values,
                                                         size_t first) {
    if (values.has_levels || values.num_items != values.num_visible_items) {
      return Corrupt(where(), "zipped values of a sparse page that tell levels");
    }
    ARROW_ASSIGN_OR_RAISE(
        const auto layout,
        wire::ToFullZipLayout(values, {wire::RepDefLayer::kAllValidItem}, where()));
    const size_t count = values.bits_per_offset ? 2 : 1;
    ARROW_ASSIGN_OR_RAISE(const PageSource part, Part(first, count, values.num_items));
    return MakeFullZipPage(layout, part, leaf_path);
  }

  arrow::Result<ValueParts> operator()(const wire::UnknownPlane& values) {
    if (values.number == 0) return Corrupt(where(), "a planar page without values");
    return Unsupported(where(), "a plane of values of kind {}", values.number);
  }
  arrow::Result<ValueParts> operator()(const wire::ChunkedValues& values) {
    if (values.has_levels || values.num_items != 0) {
      return Corrupt(where(), "chunks of a sparse page that tell levels");
    }
    ARROW_ASSIGN_OR_RAISE(
        auto layout, wire::ToMiniBlockLayout(values, {wire::RepDefLayer::kAllValidItem}, where()));
    layout.num_items = num_slots;
    ARROW_ASSIGN_OR_RAISE(const PageSource part,
                          Part(0, values.dictionary == nullptr ? 2 : 3, num_slots));
    ValueParts parts{.storage = Storage::kChunked};
    ARROW_ASSIGN_OR_RAISE(parts.page, MakeMiniBlockPage(layout, part, leaf_path));
    return parts;
  }
  arrow::Result<ValueParts> operator()(const wire::ZippedValues& values) {
    ValueParts parts{.storage = Storage::kZipped, .num_stored = values.num_items};
    ARROW_ASSIGN_OR_RAISE(parts.page, OpenZipped(values, 0));
    return parts;
  }
  arrow::Result<ValueParts> operator()(const wire::ConstantValue& value) {
    const uint64_t expected = shape.kind == ValueKind::kBit ? 1 : shape.slot_bits() / 8;
    const bool fixed = shape.kind == ValueKind::kBit || shape.kind == ValueKind::kFixed;
    if (!fixed || !shape.dimensions.empty() || value.scalar.size() != expected) {
      return Corrupt(where(), "a scalar of {} bytes in a column of {}-bit values",
                     value.scalar.size(), shape.slot_bits());
    }
    return ValueParts{.storage = Storage::kConstant, .scalar = value.scalar};
  }
  arrow::Result<ValueParts> operator()(const wire::NoValues&) { return ValueParts{}; }
  arrow::Result<ValueParts> operator()(const wire::IndexedValues& values) {
    constexpr uint64_t kIndexBits = 32;
    if (shape.kind != ValueKind::kVariable || !values.items.bits_per_offset) {
      return Corrupt(where(), "indexed values that are not strings");
    }
    ValueParts parts{.storage = Storage::kIndexed, .num_stored = values.items.num_items};
    ARROW_ASSIGN_OR_RAISE(parts.page, OpenZipped(values.items, 1));
    ARROW_ASSIGN_OR_RAISE(parts.indices, SequenceDescription::Validate(values.indices, kIndexBits,
                                                                       source.version, where()));
    return parts;
  }
};

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> MakeSparsePage(const wire::PlanarLayout& layout,
                                                           const PageSource& source,
                                                           const LeafPath& path) {
  const Location where = {source.path, source.layout_offset};
  const auto& structure = std::get<wire::SparseStructure>(layout.structure);
  ARROW_ASSIGN_OR_RAISE(LeafShape shape, ShapeOf(*path.type));
  ARROW_ASSIGN_OR_RAISE(
      auto description,
      SparseDescription::Validate(structure, path, source.num_rows, source.version, where));
  auto leaf_path = std::make_shared<LeafPath>(path);
  leaf_path->layers = {path.layers.back()};
  ValueOpener opener{source, *leaf_path, shape, description.num_leaf_slots()};
  ARROW_ASSIGN_OR_RAISE(ValueParts values, std::visit(opener, layout.values));
  const size_t num_value_buffers = opener.num_buffers;
  ARROW_ASSIGN_OR_RAISE(
      PageBuffers buffers,
      PageBuffers::Validate(source, num_value_buffers + description.num_buffers()));
  return std::make_shared<SparsePage>(std::move(buffers), num_value_buffers, std::move(description),
                                      std::move(values), std::move(leaf_path), std::move(shape));
}

}  // namespace glaive::encoding
