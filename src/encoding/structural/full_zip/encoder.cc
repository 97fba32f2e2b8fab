#include "encoding/structural/full_zip/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "encoding/codec/lz4_encoder.h"
#include "encoding/codec/zstd_encoder.h"
#include "encoding/levels/level_stream.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {
namespace {

class ZippedFixed final : public ZippedValues {
 public:
  ZippedFixed(std::span<const FixedRange> ranges, size_t value_bytes, wire::EncodingPtr description)
      : ranges_(ranges),
        stream_(ranges, value_bytes),
        value_bytes_(value_bytes),
        description_(std::move(description)) {}

  uint64_t NextSize() override { return value_bytes_; }
  void Write(std::byte* out) override { stream_.Read(1, out); }
  void Skip() override { stream_.Skip(1); }

  std::vector<std::shared_ptr<arrow::Buffer>> Shared() const override {
    std::vector<std::shared_ptr<arrow::Buffer>> parts;
    for (const FixedRange& range : ranges_) {
      const auto* begin = reinterpret_cast<const uint8_t*>(range.values);
      parts.push_back(arrow::SliceBuffer(range.owner, begin - range.owner->data(),
                                         range.length * static_cast<int64_t>(value_bytes_)));
    }
    return parts;
  }

  wire::EncodingPtr Describe() const override { return description_; }
  uint32_t bits_per_offset() const override { return 0; }
  uint32_t bits_per_value() const override { return static_cast<uint32_t>(8 * value_bytes_); }

 private:
  std::span<const FixedRange> ranges_;
  FixedStream stream_;
  size_t value_bytes_;
  wire::EncodingPtr description_;
};

template <typename Offset>
class ZippedVariable : public ZippedValues {
 public:
  explicit ZippedVariable(std::span<const VariableRange<Offset>> ranges) : ranges_(ranges) {}

  uint64_t NextSize() override { return NextValue().size(); }

  void Write(std::byte* out) override {
    const std::span<const std::byte> value = NextValue();
    std::copy(value.begin(), value.end(), out);
    ++in_range_;
  }

  void Skip() override {
    Settle();
    ++in_range_;
  }

  wire::EncodingPtr Describe() const override {
    return wire::MakeEncoding(
        wire::VariableEncoding{wire::MakeEncoding(wire::FlatEncoding{8 * sizeof(Offset)})});
  }
  uint32_t bits_per_offset() const override { return 8 * sizeof(Offset); }
  uint32_t bits_per_value() const override { return 0; }

 protected:
  std::span<const std::byte> NextValue() {
    Settle();
    const VariableRange<Offset>& range = ranges_[range_];
    const Offset begin = range.offsets[in_range_];
    return {range.bytes + begin, static_cast<size_t>(range.offsets[in_range_ + 1] - begin)};
  }

 private:
  void Settle() {
    while (in_range_ == ranges_[range_].length) {
      ++range_;
      in_range_ = 0;
    }
  }

  std::span<const VariableRange<Offset>> ranges_;
  size_t range_ = 0;
  int64_t in_range_ = 0;
};

template <typename Offset, typename Encoder>
class ZippedCompressed final : public ZippedVariable<Offset> {
 public:
  using ZippedVariable<Offset>::ZippedVariable;

  uint64_t NextSize() override {
    compressed_ = encoder_.Compress(this->NextValue());
    return compressed_.size();
  }

  void Write(std::byte* out) override {
    std::copy(compressed_.begin(), compressed_.end(), out);
    this->Skip();
  }

  wire::EncodingPtr Describe() const override {
    return wire::MakeEncoding(wire::GeneralEncoding{.scheme = Encoder::kScheme,
                                                    .values = ZippedVariable<Offset>::Describe()});
  }

 private:
  Encoder encoder_;
  std::span<const std::byte> compressed_;  // the next value
};

// Booleans take a byte each here.
class ZippedBooleans final : public ZippedValues {
 public:
  explicit ZippedBooleans(const LevelSurvey& survey) : ranges_(survey.ranges) {}

  uint64_t NextSize() override { return 1; }

  void Write(std::byte* out) override {
    Settle();
    const LeafRange& range = ranges_[range_];
    const int64_t slot = range.begin + range.nest->leaf_shift + in_range_;
    const bool value = !(range.has_nulls && IsNull(range, in_range_)) &&
                       arrow::bit_util::GetBit(range.nest->leaf->buffers[1]->data(), slot);
    *out = std::byte{value};
    ++in_range_;
  }

  void Skip() override {
    Settle();
    ++in_range_;
  }

  wire::EncodingPtr Describe() const override { return wire::MakeEncoding(wire::FlatEncoding{8}); }
  uint32_t bits_per_offset() const override { return 0; }
  uint32_t bits_per_value() const override { return 8; }

 private:
  void Settle() {
    while (in_range_ == ranges_[range_].length) {
      ++range_;
      in_range_ = 0;
    }
  }

  std::span<const LeafRange> ranges_;
  size_t range_ = 0;
  int64_t in_range_ = 0;
};

}  // namespace

std::unique_ptr<ZippedValues> MakeZippedFixed(std::span<const FixedRange> ranges,
                                              size_t value_bytes, wire::EncodingPtr description) {
  return std::make_unique<ZippedFixed>(ranges, value_bytes, std::move(description));
}

template <typename Offset>
std::unique_ptr<ZippedValues> MakeZippedVariable(std::span<const VariableRange<Offset>> ranges) {
  return std::make_unique<ZippedVariable<Offset>>(ranges);
}
template <typename Offset>
std::unique_ptr<ZippedValues> MakeZippedCompressed(std::span<const VariableRange<Offset>> ranges,
                                                   wire::CompressionScheme scheme) {
  if (scheme == wire::CompressionScheme::kLz4) {
    return std::make_unique<ZippedCompressed<Offset, Lz4Encoder>>(ranges);
  }
  return std::make_unique<ZippedCompressed<Offset, ZstdEncoder>>(ranges);
}
template std::unique_ptr<ZippedValues> MakeZippedCompressed(std::span<const VariableRange<int32_t>>,
                                                            wire::CompressionScheme);
template std::unique_ptr<ZippedValues> MakeZippedCompressed(std::span<const VariableRange<int64_t>>,
                                                            wire::CompressionScheme);
template std::unique_ptr<ZippedValues> MakeZippedVariable(std::span<const VariableRange<int32_t>>);
template std::unique_ptr<ZippedValues> MakeZippedVariable(std::span<const VariableRange<int64_t>>);

std::unique_ptr<ZippedValues> MakeZippedBooleans(const LevelSurvey& survey) {
  return std::make_unique<ZippedBooleans>(survey);
}

FullZipWriter::FullZipWriter(const LevelScheme& scheme, const ZippedValues& values,
                             FileVersion version)
    : scheme_(scheme),
      version_(version),
      bits_rep_(static_cast<uint32_t>(std::bit_width(scheme_.num_lists))),
      bits_def_(static_cast<uint32_t>(std::bit_width(scheme_.max_def))),
      variable_(values.bits_per_offset() != 0),
      indexed_(variable_ || scheme_.has_rep()),
      max_stored_def_(variable_ ? uint16_t{0} : scheme_.max_visible_def()) {
  const uint32_t bits = bits_rep_ + bits_def_;
  word_bytes_ = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

arrow::Status FullZipWriter::Write(const PageRows& rows, ZippedValues& values) {
  if (indexed_ && row_starts_.empty()) row_starts_.reserve(rows.survey.num_rows + 1);
  num_rows_ += rows.survey.num_rows;
  num_entries_ += rows.survey.num_entries;
  num_visible_ += rows.survey.num_visible;
  return word_bytes_ == 0 ? WriteValues(rows, values) : WriteEntries(rows, values);
}

arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> FullZipWriter::TakeEntries() {
  taken_bytes_ += zipped_.size_bytes();
  return std::exchange(zipped_, {}).Finish();
}

arrow::Result<EncodedPage> FullZipWriter::Finish(const ZippedValues& values) && {
  wire::FullZipLayout layout{.bits_rep = bits_rep_,
                             .bits_def = bits_def_,
                             .num_items = static_cast<uint32_t>(num_entries_),
                             .num_visible_items = static_cast<uint32_t>(num_visible_),
                             .value_compression = values.Describe(),
                             .layers = scheme_.types};
  if (variable_) {
    layout.bits_per_offset = values.bits_per_offset();
  } else {
    layout.bits_per_value = values.bits_per_value();
  }
  EncodedPage page{.layout = wire::SerializePage(std::move(layout), version_),
                   .num_rows = num_rows_};
  row_starts_.push_back(size_bytes());
  ARROW_ASSIGN_OR_RAISE(page.buffers.emplace_back(), TakeEntries());
  if (indexed_) page.buffers.push_back({PackedRowStarts()});
  return page;
}

// Without levels every entry is a row and a value.
arrow::Status FullZipWriter::WriteValues(const PageRows& rows, ZippedValues& values) {
  auto shared = values.Shared();
  for (auto& buffer : shared) ARROW_RETURN_NOT_OK(zipped_.AppendShared(std::move(buffer)));
  if (!shared.empty()) return arrow::Status::OK();
  for (uint64_t i = 0; i < rows.survey.num_visible; ++i) {
    if (indexed_) row_starts_.push_back(size_bytes());
    ARROW_RETURN_NOT_OK(WriteEntry(0, true, values));
  }
  return arrow::Status::OK();
}

arrow::Status FullZipWriter::WriteEntries(const PageRows& rows, ZippedValues& values) {
  const uint16_t max_visible = scheme_.max_visible_def();
  Levels levels;
  for (LevelStream stream(rows.nests, scheme_); stream.Next(levels); levels.Clear()) {
    for (size_t i = 0; i < levels.size(); ++i) {
      const uint16_t rep = scheme_.has_rep() ? levels.rep.data()[i] : uint16_t{0};
      const uint16_t def = scheme_.has_def() ? levels.def.data()[i] : uint16_t{0};
      if (indexed_ && rep == scheme_.num_lists) row_starts_.push_back(size_bytes());
      const bool stored = def <= max_stored_def_;
      if (!stored && def <= max_visible) values.Skip();
      ARROW_RETURN_NOT_OK(WriteEntry(uint32_t{rep} << bits_def_ | def, stored, values));
    }
  }
  return arrow::Status::OK();
}

arrow::Status FullZipWriter::WriteEntry(uint32_t word, bool stored, ZippedValues& values) {
  const uint64_t length_bytes = stored ? values.bits_per_offset() / 8 : 0;
  const uint64_t size = stored ? values.NextSize() : 0;
  ARROW_ASSIGN_OR_RAISE(std::byte * out,
                        zipped_.Append(static_cast<size_t>(word_bytes_ + length_bytes + size)));
  std::memcpy(out, &word, word_bytes_);
  if (!stored) return arrow::Status::OK();
  std::memcpy(out + word_bytes_, &size, length_bytes);
  values.Write(out + word_bytes_ + length_bytes);
  return arrow::Status::OK();
}

std::shared_ptr<arrow::Buffer> FullZipWriter::PackedRowStarts() {
  const uint64_t end = row_starts_.back();
  if (end > UINT32_MAX) return arrow::Buffer::FromVector(std::move(row_starts_));
  const auto narrow = [&]<typename T>(T) {
    std::vector<T> starts(row_starts_.size());
    std::transform(row_starts_.begin(), row_starts_.end(), starts.begin(),
                   [](uint64_t start) { return static_cast<T>(start); });
    return arrow::Buffer::FromVector(std::move(starts));
  };
  return end > UINT16_MAX  ? narrow(uint32_t{})
         : end > UINT8_MAX ? narrow(uint16_t{})
                           : narrow(uint8_t{});
}

arrow::Result<EncodedPage> EncodeFullZipPage(const PageRows& rows, ZippedValues& values) {
  FullZipWriter writer(rows.scheme, values, rows.version);
  ARROW_RETURN_NOT_OK(writer.Write(rows, values));
  return std::move(writer).Finish(values);
}

}  // namespace glaive::encoding
