#include "encoding/structural/constant/page.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/byte_reader.h"
#include "core/write_once.h"
#include "encoding/codec/block.h"
#include "encoding/structural/leaf/decoded_bytes.h"
#include "encoding/structural/page/buffers.h"
#include "encoding/structural/page/level_list.h"
#include "encoding/structural/page/levels.h"

namespace glaive::encoding {
namespace {

constexpr size_t kBatchLevels = 4096;
// Levels up to here are kept for later reads.
constexpr uint64_t kKeptBytes = 64 << 20;

// One stream of levels: raw u16, or a block of so many.
struct LevelStream {
  std::optional<FixedBlockDescription> block;
  uint64_t num_levels = 0;

  arrow::Result<LevelList> Decode(Bytes bytes, Location where) const {
    if (block && !bytes.empty()) return LevelList::Decode(*block, bytes, num_levels, where);
    if (bytes.size() % sizeof(uint16_t) != 0) {
      return Corrupt(where, "{} bytes of 16-bit levels", bytes.size());
    }
    std::vector<uint16_t> levels(bytes.size() / sizeof(uint16_t));
    if (!levels.empty()) std::memcpy(levels.data(), bytes.data(), bytes.size());
    return LevelList::Of(levels);
  }
};

// What the buffers of a page hold.
struct Content {
  std::optional<std::string> value;  // of a slot
  LevelList repetition;              // empty: none
  LevelList definition;
  LevelRows rows;  // of `repetition`

  uint64_t num_levels() const { return std::max(repetition.size(), definition.size()); }
  uint64_t memory_bytes() const {
    return repetition.memory_bytes() + definition.memory_bytes() + rows.memory_bytes() +
           (value ? value->size() : 0);
  }
};

struct ConstantParts {
  LeafShape shape;
  PageLevels levels;
  std::optional<std::string> inline_value;
  bool has_value_buffer = false;
  bool has_level_buffers = false;
  LevelStream repetition;
  LevelStream definition;
};

// The value buffer is [u32 n][n u32 sizes][n Arrow buffers] of an array of one value.
arrow::Result<std::string> ParseValue(Bytes bytes, const LeafShape& shape, Location where) {
  ByteReader reader(bytes, where);
  const uint32_t num_buffers = shape.kind == ValueKind::kVariable ? 2 : 1;
  ARROW_ASSIGN_OR_RAISE(const auto found, reader.Read<uint32_t>("number of scalar buffers"));
  if (found != num_buffers) {
    return Corrupt(where, "a scalar of {} buffers; {} expected", found, num_buffers);
  }
  uint32_t size = 0;
  for (uint32_t i = 0; i < num_buffers; ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto buffer_size, reader.Read<uint32_t>("size of a scalar buffer"));
    // Offsets [0, size of the string] come first; the string itself says no more than they do.
    if (i + 1 < num_buffers) {
      size = buffer_size;
      continue;
    }
    ARROW_RETURN_NOT_OK(reader.ReadBytes(size, "offsets of a scalar").status());
    ARROW_ASSIGN_OR_RAISE(const Bytes value, reader.ReadBytes(buffer_size, "bytes of a scalar"));
    return std::string(reinterpret_cast<const char*>(value.data()), value.size());
  }
  return Internal("a scalar without buffers");
}

arrow::Status CheckValue(const std::string& value, const LeafShape& shape, Location where) {
  switch (shape.kind) {
    case ValueKind::kVariable: return arrow::Status::OK();
    case ValueKind::kBit:
      if (shape.dimensions.empty() && value.size() == 1) return arrow::Status::OK();
      break;
    case ValueKind::kFixed:
      if (value.size() == shape.slot_bits() / 8) return arrow::Status::OK();
      break;
    case ValueKind::kNull: break;
  }
  return Corrupt(where, "a scalar of {} bytes in a column of {}-bit values", value.size(),
                 shape.slot_bits());
}

class ConstantPage final : public PageDecoder, public std::enable_shared_from_this<ConstantPage> {
 public:
  ConstantPage(PageBuffers buffers, size_t num_buffers, ConstantParts parts)
      : buffers_(std::move(buffers)), num_buffers_(num_buffers), parts_(std::move(parts)) {
    if (num_buffers_ == 0) {
      content_.Put(std::make_shared<const Content>(Content{parts_.inline_value, {}, {}, {}}));
    }
  }

  arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) override;

  uint64_t decoded_bytes() const override;

  uint64_t memory_bytes() const override {
    const auto content = this->content();
    return sizeof(*this) + buffers_.memory_bytes() + (content ? content->memory_bytes() : 0);
  }

  const PageBuffers& buffers() const { return buffers_; }
  const ConstantParts& parts() const { return parts_; }

  std::vector<ByteRange> ranges() const {
    std::vector<ByteRange> ranges;
    for (size_t i = 0; i < num_buffers_; ++i) ranges.push_back(buffers_.range(i));
    return ranges;
  }

  std::shared_ptr<const Content> content() const {
    const auto* const kept = content_.Get();
    return kept == nullptr ? nullptr : *kept;
  }

  arrow::Result<std::shared_ptr<const Content>> Open(
      std::span<const std::shared_ptr<arrow::Buffer>> buffers);

 private:
  const PageBuffers buffers_;
  const size_t num_buffers_;
  const ConstantParts parts_;

  WriteOnce<std::shared_ptr<const Content>> content_;  // if it is small, once a read has brought it
};

uint64_t ConstantPage::decoded_bytes() const {
  const auto content = this->content();
  DecodedPage page{.num_rows = buffers_.num_rows(), .num_slots = buffers_.num_rows()};
  if (parts_.levels.has_lists()) {
    // A level for each item, or for a list without any; without a value there are no items.
    page.num_slots = std::max(parts_.repetition.num_levels, parts_.definition.num_levels);
    if (content != nullptr) page.num_slots = content->num_levels();
  }
  const uint64_t value = parts_.inline_value                    ? parts_.inline_value->size()
                         : content != nullptr && content->value ? content->value->size()
                         : parts_.has_value_buffer              ? buffers_.range(0).size
                                                                : 0;
  page.text_bytes = page.num_slots > UINT64_MAX / std::max<uint64_t>(value, 1)
                        ? UINT64_MAX
                        : page.num_slots * value;
  if (parts_.levels.has_lists() && value == 0) page.num_slots = 0;
  return DecodedBytes(page, parts_.shape, parts_.levels.max_repetition());
}

arrow::Result<std::shared_ptr<const Content>> ConstantPage::Open(
    std::span<const std::shared_ptr<arrow::Buffer>> buffers) {
  Content content{parts_.inline_value, {}, {}, {}};
  size_t next = 0;
  if (parts_.has_value_buffer) {
    const Location where = buffers_.where(next);
    ARROW_ASSIGN_OR_RAISE(content.value,
                          ParseValue(BytesOf(*buffers[next++]), parts_.shape, where));
    ARROW_RETURN_NOT_OK(CheckValue(*content.value, parts_.shape, where));
  }
  if (parts_.has_level_buffers) {
    ARROW_ASSIGN_OR_RAISE(content.repetition,
                          parts_.repetition.Decode(BytesOf(*buffers[next]), buffers_.where(next)));
    ++next;
    ARROW_ASSIGN_OR_RAISE(content.definition,
                          parts_.definition.Decode(BytesOf(*buffers[next]), buffers_.where(next)));
    const bool agree = content.repetition.empty() || content.definition.empty() ||
                       content.repetition.size() == content.definition.size();
    const bool lists = parts_.levels.has_lists();
    if (!agree || content.repetition.empty() == lists ||
        (!lists && !content.definition.empty() &&
         content.definition.size() != buffers_.num_rows())) {
      return Corrupt(buffers_.where(next), "{} repetition and {} definition levels for {} rows",
                     content.repetition.size(), content.definition.size(), buffers_.num_rows());
    }
    if (lists) {
      ARROW_ASSIGN_OR_RAISE(content.rows,
                            LevelRows::Find(content.repetition, parts_.levels.max_repetition(),
                                            buffers_.num_rows(), buffers_.layout()));
    }
  }
  auto result = std::make_shared<const Content>(std::move(content));
  if (result->memory_bytes() <= kKeptBytes) content_.Put(result);
  return result;
}

class ConstantRead final : public PageRead {
 public:
  ConstantRead(std::shared_ptr<ConstantPage> page, std::span<const RowRange> rows)
      : page_(std::move(page)), rows_(rows.begin(), rows.end()), content_(page_->content()) {
    if (content_ == nullptr && CountRows(rows_) > 0) wanted_ = page_->ranges();
  }

  const std::vector<ByteRange>& wanted() const override { return wanted_; }

  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    ARROW_RETURN_NOT_OK(CheckSupply(wanted_, buffers));
    wanted_.clear();
    ARROW_ASSIGN_OR_RAISE(content_, page_->Open(buffers));
    return arrow::Status::OK();
  }

  arrow::Status DecodeInto(LeafBuilder& leaf) override;

 private:
  arrow::Status AppendValues(uint64_t num_slots, LeafValues& values) const;
  arrow::Status AppendWithoutLevels(uint64_t num_rows, LeafBuilder::State& leaf) const;
  arrow::Status AppendEntries(uint64_t begin, uint64_t end, LeafBuilder::State& leaf);

  std::shared_ptr<ConstantPage> page_;
  std::vector<RowRange> rows_;
  std::shared_ptr<const Content> content_;
  std::vector<ByteRange> wanted_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
};

arrow::Status ConstantRead::AppendValues(uint64_t num_slots, LeafValues& values) const {
  for (size_t level = 0; level < values.shape().dimensions.size(); ++level) {
    ARROW_RETURN_NOT_OK(values.AppendItemsValid(level, num_slots));
  }
  if (!content_->value) return values.AppendPlaceholders(num_slots);
  const auto value = std::as_bytes(std::span(*content_->value));
  if (values.shape().kind == ValueKind::kVariable) {
    return values.AppendRepeatedString(value, num_slots);
  }
  return values.AppendRepeated(value.data(), num_slots);
}

arrow::Status ConstantRead::AppendWithoutLevels(uint64_t num_rows, LeafBuilder::State& leaf) const {
  const auto slots = static_cast<int64_t>(num_rows);
  ARROW_RETURN_NOT_OK(AppendValues(num_rows, leaf.values));
  for (size_t i = 0; i + 1 < leaf.layers.size(); ++i) {
    ARROW_RETURN_NOT_OK(leaf.layers[i].validity.AppendValid(slots));
  }
  ValidityBuilder& validity = leaf.layers.back().validity;
  const bool null = !content_->value && page_->parts().shape.kind != ValueKind::kNull;
  return null ? validity.AppendNull(slots) : validity.AppendValid(slots);
}

// Unravelling uses levels up, so it works on copies of a few at a time.
arrow::Status ConstantRead::AppendEntries(uint64_t begin, uint64_t end, LeafBuilder::State& leaf) {
  const PageLevels& page_levels = page_->parts().levels;
  while (begin < end) {
    LevelSpan levels{.size = std::min<uint64_t>(kBatchLevels, end - begin)};
    const auto copy = [&](const LevelList& from, std::vector<uint16_t>& to) {
      if (from.empty()) return static_cast<uint16_t*>(nullptr);
      to.resize(levels.size);
      from.Copy(begin, to);
      return to.data();
    };
    levels.repetition = copy(content_->repetition, repetition_);
    levels.definition = copy(content_->definition, definition_);
    begin += levels.size;
    ARROW_RETURN_NOT_OK(AppendValues(page_levels.CountVisible(levels), leaf.values));
    ARROW_RETURN_NOT_OK(page_levels.Unravel(levels, leaf, page_->buffers().layout()));
  }
  return arrow::Status::OK();
}

arrow::Status ConstantRead::DecodeInto(LeafBuilder& leaf) {
  LeafBuilder::State& state = leaf.state();
  const RowCheck check(state, CountRows(rows_));
  if (CountRows(rows_) == 0) return arrow::Status::OK();
  if (content_->num_levels() == 0) {
    ARROW_RETURN_NOT_OK(AppendWithoutLevels(CountRows(rows_), state));
  } else if (content_->repetition.empty()) {
    for (const RowRange& range : rows_) {
      ARROW_RETURN_NOT_OK(AppendEntries(range.begin, range.end, state));
    }
  } else {
    for (const RowRange& range : rows_) {
      ARROW_RETURN_NOT_OK(AppendEntries(content_->rows.Start(content_->repetition, range.begin),
                                        content_->rows.Start(content_->repetition, range.end),
                                        state));
    }
  }
  return check.Finish(page_->buffers().layout());
}

arrow::Result<std::unique_ptr<PageRead>> ConstantPage::Read(std::span<const RowRange> rows) {
  return std::make_unique<ConstantRead>(shared_from_this(), rows);
}

arrow::Result<LevelStream> ValidateStream(const wire::EncodingPtr& encoding, uint64_t num_levels,
                                          const PageSource& source, Location where) {
  if (encoding == nullptr) return LevelStream{};
  if (source.version < FileVersion::k2_2) {
    return Corrupt(where, "compressed levels of a constant page before version 2.2");
  }
  ARROW_ASSIGN_OR_RAISE(auto block,
                        FixedBlockDescription::Validate(*encoding, source.version, where));
  if (block.value_bits() != 16) {
    return Corrupt(where, "levels of {} bits; 16 expected", block.value_bits());
  }
  return LevelStream{std::move(block), num_levels};
}

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> MakeConstantPage(const wire::ConstantLayout& layout,
                                                             const PageSource& source,
                                                             const LeafPath& path) {
  const Location where = {source.path, source.layout_offset};
  ARROW_ASSIGN_OR_RAISE(LeafShape shape, ShapeOf(*path.type));
  ARROW_ASSIGN_OR_RAISE(PageLevels levels, PageLevels::Validate(layout.layers, path, where));
  ConstantParts parts{std::move(shape), std::move(levels), layout.inline_value};
  const size_t num_buffers = source.buffers.size();
  parts.has_level_buffers = num_buffers >= 2;
  parts.has_value_buffer = num_buffers % 2 == 1;
  if (num_buffers > 3 || (parts.has_value_buffer && parts.inline_value) ||
      (!parts.has_level_buffers && parts.levels.has_lists())) {
    return Corrupt(where, "a constant page of {} buffers", num_buffers);
  }
  if ((parts.has_value_buffer || parts.inline_value) && source.version < FileVersion::k2_2) {
    return Corrupt(where, "a constant page with a value before version 2.2");
  }
  if (parts.inline_value) {
    ARROW_RETURN_NOT_OK(CheckValue(*parts.inline_value, parts.shape, where));
  }
  ARROW_ASSIGN_OR_RAISE(parts.repetition, ValidateStream(layout.rep_compression,
                                                         layout.num_rep_values, source, where));
  ARROW_ASSIGN_OR_RAISE(parts.definition, ValidateStream(layout.def_compression,
                                                         layout.num_def_values, source, where));
  ARROW_ASSIGN_OR_RAISE(PageBuffers buffers, PageBuffers::Validate(source, num_buffers));
  return std::make_shared<ConstantPage>(std::move(buffers), num_buffers, std::move(parts));
}

}  // namespace glaive::encoding
