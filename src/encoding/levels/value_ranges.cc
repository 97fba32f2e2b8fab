#include "encoding/levels/value_ranges.h"

#include <algorithm>
#include <cstring>

#include <arrow/type.h>

namespace glaive::encoding {

std::vector<FixedRange> FixedRangesOf(const LevelSurvey& survey, int64_t value_bytes) {
  std::vector<FixedRange> ranges;
  ranges.reserve(survey.ranges.size());
  for (const LeafRange& range : survey.ranges) {
    const arrow::ArrayData* data = range.nest->leaf;
    int64_t slot = range.begin + range.nest->leaf_shift;
    int64_t width = value_bytes;
    while (data->type->id() == arrow::Type::FIXED_SIZE_LIST) {
      const int64_t items = static_cast<const arrow::FixedSizeListType&>(*data->type).list_size();
      data = data->child_data[0].get();
      slot = slot * items + data->offset;
      width /= std::max<int64_t>(items, 1);
    }
    const std::shared_ptr<arrow::Buffer>& buffer = data->buffers[1];
    ranges.push_back({.values = reinterpret_cast<const std::byte*>(buffer->data()) + slot * width,
                      .length = range.length,
                      .nulls = range.has_nulls ? &range : nullptr,
                      .owner = buffer});
  }
  return ranges;
}

template <typename Offset>
std::vector<VariableRange<Offset>> VariableRangesOf(const LevelSurvey& survey) {
  std::vector<VariableRange<Offset>> ranges;
  ranges.reserve(survey.ranges.size());
  for (const LeafRange& range : survey.ranges) {
    const arrow::ArrayData& data = *range.nest->leaf;
    VariableRange<Offset> values{
        .offsets = reinterpret_cast<const Offset*>(data.buffers[1]->data()) + range.begin +
                   range.nest->leaf_shift,
        .bytes = data.buffers[2] == nullptr
                     ? nullptr
                     : reinterpret_cast<const std::byte*>(data.buffers[2]->data()),
        .length = range.length,
        .nulls = range.has_nulls ? &range : nullptr};
    if (range.has_nulls) {
      VisitNulls(range, 0, range.length, [&](int64_t at) {
        values.hidden_bytes |= values.offsets[at] != values.offsets[at + 1];
      });
    }
    ranges.push_back(values);
  }
  return ranges;
}

template std::vector<VariableRange<int32_t>> VariableRangesOf<int32_t>(const LevelSurvey&);
template std::vector<VariableRange<int64_t>> VariableRangesOf<int64_t>(const LevelSurvey&);

const std::byte* FixedStream::Peek(size_t count) {
  while (range_ < ranges_.size() && in_range_ == ranges_[range_].length) {
    ++range_;
    in_range_ = 0;
  }
  const FixedRange& range = ranges_[range_];
  if (range.nulls == nullptr && static_cast<int64_t>(count) <= range.length - in_range_) {
    return range.values + in_range_ * static_cast<int64_t>(value_bytes_);
  }
  scratch_.resize(count * value_bytes_);
  FixedStream copy(ranges_, value_bytes_);
  copy.range_ = range_;
  copy.in_range_ = in_range_;
  copy.Read(count, scratch_.data());
  return scratch_.data();
}

void FixedStream::Skip(size_t count) {
  auto left = static_cast<int64_t>(count);
  while (left > 0) {
    const int64_t step = std::min(left, ranges_[range_].length - in_range_);
    in_range_ += step;
    left -= step;
    if (left > 0) {
      ++range_;
      in_range_ = 0;
    }
  }
}

void FixedStream::Read(size_t count, std::byte* out) {
  auto left = static_cast<int64_t>(count);
  const auto width = static_cast<int64_t>(value_bytes_);
  while (left > 0) {
    const FixedRange& range = ranges_[range_];
    const int64_t step = std::min(left, range.length - in_range_);
    if (step > 0 && width > 0) {
      std::memcpy(out, range.values + in_range_ * width, static_cast<size_t>(step * width));
      if (range.nulls != nullptr) {
        VisitNulls(*range.nulls, in_range_, step,
                   [&](int64_t at) { std::memset(out + at * width, 0, value_bytes_); });
      }
      out += step * width;
    }
    in_range_ += step;
    left -= step;
    if (left > 0) {
      ++range_;
      in_range_ = 0;
    }
  }
}

}  // namespace glaive::encoding
