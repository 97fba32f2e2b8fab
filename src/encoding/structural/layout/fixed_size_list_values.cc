#include "encoding/structural/layout/fixed_size_list_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>

#include "core/error.h"

namespace glaive::encoding {
namespace {

constexpr int64_t BitmapBytes(int64_t bits) { return (bits + 7) / 8; }

// Reads lists front to back: values and the bitmaps of the layers that have some.
class ListReader {
 public:
  ListReader(const LevelSurvey& survey, std::span<const FixedRange> ranges,
             FixedSizeListShape shape)
      : shape_(std::move(shape)),
        ranges_(survey.ranges),
        values_(ranges, static_cast<size_t>(shape_.value_bytes())) {
    for (const auto& layer : shape_.layers) num_bitmaps_ += layer.has_validity ? 1u : 0u;
  }

  const FixedSizeListShape& shape() const { return shape_; }
  size_t num_bitmaps() const { return num_bitmaps_; }

  // `out`: the bitmaps, each from its first bit on, then the values.
  void Read(int64_t count, std::span<std::byte* const> out) {
    values_.Read(static_cast<size_t>(count), out.back());
    for (int64_t done = 0; done < count;) {
      while (in_range_ == ranges_[range_].length) {
        ++range_;
        in_range_ = 0;
      }
      const int64_t step = std::min(count - done, ranges_[range_].length - in_range_);
      ReadValidity(done, step, out);
      done += step;
      in_range_ += step;
    }
  }

 private:
  void ReadValidity(int64_t done, int64_t count, std::span<std::byte* const> out) const {
    const LeafRange& range = ranges_[range_];
    const arrow::ArrayData* data = range.nest->leaf;
    int64_t slot = range.begin + range.nest->leaf_shift + in_range_;
    size_t next_bitmap = 0;
    for (const FixedSizeListShape::Layer& layer : shape_.layers) {
      data = data->child_data[0].get();
      slot = slot * layer.items_per_list + data->offset;
      if (!layer.has_validity) continue;
      auto* bitmap = reinterpret_cast<uint8_t*>(out[next_bitmap++]);
      const int64_t at = done * layer.items_per_value;
      const int64_t length = count * layer.items_per_value;
      if (data->buffers[0] == nullptr) {
        arrow::bit_util::SetBitsTo(bitmap, at, length, true);
        continue;
      }
      arrow::internal::CopyBitmap(data->buffers[0]->data(), slot, length, bitmap, at);
      const int64_t unit = shape_.value_bytes() / layer.items_per_value;
      VisitNulls(data->buffers[0]->data(), slot, length, [&](int64_t item) {
        std::memset(out.back() + (at + item) * unit, 0, static_cast<size_t>(unit));
      });
      if (range.has_nulls) {  // nothing inside of a null list is told
        VisitNulls(range, in_range_, count, [&](int64_t list) {
          arrow::bit_util::SetBitsTo(bitmap, at + list * layer.items_per_value,
                                     layer.items_per_value, true);
        });
      }
    }
  }

  FixedSizeListShape shape_;
  std::span<const LeafRange> ranges_;
  FixedStream values_;
  size_t num_bitmaps_ = 0;
  size_t range_ = 0;
  int64_t in_range_ = 0;
};

int64_t BitsPerValue(const FixedSizeListShape& shape) {
  int64_t bits = 8 * shape.value_bytes();
  for (const auto& layer : shape.layers) bits += layer.has_validity ? layer.items_per_value : 0;
  return bits;
}

class FixedSizeListChunks final : public ValueChunks {
 public:
  FixedSizeListChunks(const LevelSurvey& survey, std::span<const FixedRange> ranges,
                      FixedSizeListShape shape)
      : ValueChunks(survey.num_visible),
        chunk_values_(FlatChunkValues(static_cast<uint64_t>(BitsPerValue(shape)))),
        lists_(survey, ranges, std::move(shape)) {}

  uint64_t NextCount() override { return std::min(chunk_values_, remaining_); }

  const std::vector<size_t>& Prepare(uint64_t count) override {
    count_ = static_cast<int64_t>(count);
    sizes_.clear();
    for (const auto& layer : lists_.shape().layers) {
      if (!layer.has_validity) continue;
      sizes_.push_back(static_cast<size_t>(BitmapBytes(count_ * layer.items_per_value)));
    }
    sizes_.push_back(static_cast<size_t>(count_ * lists_.shape().value_bytes()));
    return sizes_;
  }

  void Write(std::span<std::byte* const> buffers) override {
    for (size_t i = 0; i < lists_.num_bitmaps(); ++i) buffers[i][sizes_[i] - 1] = std::byte{0};
    lists_.Read(count_, buffers);
    remaining_ -= static_cast<uint64_t>(count_);
  }

  wire::EncodingPtr Describe() const override { return lists_.shape().Describe(); }
  size_t num_buffers() const override { return lists_.num_bitmaps() + 1; }
  uint64_t counted_last_chunk() const override { return chunk_values_; }

 private:
  uint64_t chunk_values_;
  int64_t count_ = 0;  // prepared
  ListReader lists_;
};

class ZippedFixedSizeLists final : public ZippedValues {
 public:
  ZippedFixedSizeLists(const LevelSurvey& survey, std::span<const FixedRange> ranges,
                       FixedSizeListShape shape)
      : lists_(survey, ranges, std::move(shape)) {
    for (const auto& layer : lists_.shape().layers) {
      if (!layer.has_validity) continue;
      bitmap_bytes_.push_back(BitmapBytes(layer.items_per_value));
      size_ += bitmap_bytes_.back();
    }
    size_ += lists_.shape().value_bytes();
  }

  uint64_t NextSize() override { return static_cast<uint64_t>(size_); }

  void Write(std::byte* out) override {
    parts_.clear();
    for (const int64_t bytes : bitmap_bytes_) {
      parts_.push_back(out);
      out[bytes - 1] = std::byte{0};
      out += bytes;
    }
    parts_.push_back(out);
    lists_.Read(1, parts_);
  }

  void Skip() override {}  // nulls are stored as well

  wire::EncodingPtr Describe() const override { return lists_.shape().Describe(); }
  uint32_t bits_per_offset() const override { return 0; }
  uint32_t bits_per_value() const override { return static_cast<uint32_t>(8 * size_); }

 private:
  ListReader lists_;
  std::vector<int64_t> bitmap_bytes_;
  std::vector<std::byte*> parts_;
  int64_t size_ = 0;
};

// Whether an item of some list that is not null itself is null.
bool AnyItemNull(const LevelSurvey& survey, const FixedSizeListShape& shape, size_t depth) {
  for (const LeafRange& range : survey.ranges) {
    const arrow::ArrayData* data = range.nest->leaf;
    int64_t slot = range.begin + range.nest->leaf_shift;
    for (size_t i = 0; i <= depth; ++i) {
      data = data->child_data[0].get();
      slot = slot * shape.layers[i].items_per_list + data->offset;
    }
    if (data->buffers[0] == nullptr || data->null_count.load() == 0) continue;
    const uint8_t* bits = data->buffers[0]->data();
    const int64_t items = shape.layers[depth].items_per_value;
    if (!range.has_nulls) {
      const int64_t length = range.length * items;
      if (arrow::internal::CountSetBits(bits, slot, length) != length) return true;
      continue;
    }
    for (int64_t list = 0; list < range.length; ++list) {
      if (IsNull(range, list)) continue;
      if (arrow::internal::CountSetBits(bits, slot + list * items, items) != items) return true;
    }
  }
  return false;
}

}  // namespace

bool FixedSizeListShape::has_validity() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer& layer) { return layer.has_validity; });
}

wire::EncodingPtr FixedSizeListShape::Describe() const {
  auto encoding = wire::MakeEncoding(wire::FlatEncoding{static_cast<uint64_t>(8 * item_bytes)});
  for (size_t i = layers.size(); i-- > 0;) {
    encoding = wire::MakeEncoding(wire::FixedSizeListEncoding{
        .items_per_value = static_cast<uint64_t>(layers[i].items_per_list),
        .values = std::move(encoding),
        .has_validity = layers[i].has_validity});
  }
  return encoding;
}

arrow::Result<FixedSizeListShape> FixedSizeListShapeOf(const arrow::DataType& type,
                                                       const LevelSurvey& survey) {
  FixedSizeListShape shape;
  const arrow::DataType* item = &type;
  int64_t items_per_value = 1;
  while (item->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*item);
    if (list.list_size() <= 0) return Unsupported("fixed-size lists of {} items", list.list_size());
    items_per_value *= list.list_size();
    shape.layers.push_back({list.list_size(), items_per_value, false});
    item = list.value_type().get();
  }
  if (!arrow::is_fixed_width(item->id()) || item->id() == arrow::Type::BOOL ||
      item->id() == arrow::Type::DICTIONARY) {
    return Unsupported("fixed-size lists of {}", item->ToString());
  }
  shape.item_bytes = static_cast<const arrow::FixedWidthType&>(*item).bit_width() / 8;
  for (size_t i = 0; i < shape.layers.size(); ++i) {
    shape.layers[i].has_validity = AnyItemNull(survey, shape, i);
  }
  return shape;
}

std::unique_ptr<ValueChunks> MakeFixedSizeListChunks(const LevelSurvey& survey,
                                                     std::span<const FixedRange> ranges,
                                                     FixedSizeListShape shape) {
  return std::make_unique<FixedSizeListChunks>(survey, ranges, std::move(shape));
}

std::unique_ptr<ZippedValues> MakeZippedFixedSizeLists(const LevelSurvey& survey,
                                                       std::span<const FixedRange> ranges,
                                                       FixedSizeListShape shape) {
  return std::make_unique<ZippedFixedSizeLists>(survey, ranges, std::move(shape));
}

}  // namespace glaive::encoding
