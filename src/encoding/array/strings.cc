#include "encoding/array/strings.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/too_large.h"
#include "encoding/structural/leaf/decoded_bytes.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kByteBits = 8;
constexpr uint64_t kEndBits = 64;
// Up to here all bytes of a page are fetched beside the ends that tell which ones are wanted.
constexpr uint64_t kSmallBytes = 64 << 10;

}  // namespace

arrow::Result<StringValues> StringValues::Validate(const wire::ArrayEncoding& encoding,
                                                   uint64_t num_values, const ArraySource& source) {
  const Location where = source.where();
  const auto finish = [&](StringValues values) {
    values.path_ = source.path;
    values.metadata_offset_ = source.metadata_offset;
    return values;
  };
  if (const auto* fsst = std::get_if<wire::FsstArray>(&encoding.kind)) {
    const auto table = std::as_bytes(std::span(fsst->symbol_table));
    ARROW_ASSIGN_OR_RAISE(const FsstTable symbols, FsstTable::Validate(table, where));
    if (!std::holds_alternative<wire::BinaryArray>(fsst->binary->kind)) {
      return Corrupt(where, "fsst codes that are no binaries");
    }
    ARROW_ASSIGN_OR_RAISE(StringValues values, Validate(*fsst->binary, num_values, source));
    if (symbols.compresses()) values.fsst_ = symbols;
    return values;
  }
  if (const auto* fixed = std::get_if<wire::FixedSizeBinaryArray>(&encoding.kind)) {
    constexpr uint64_t kMostBytes = uint64_t{1} << 60;
    const uint64_t width = fixed->byte_width;
    if (width != 0 && num_values > kMostBytes / width) {
      return Corrupt(where, "{} strings of {} bytes", num_values, width);
    }
    ARROW_ASSIGN_OR_RAISE(
        auto bytes, FixedValues::Validate(*fixed->bytes, kByteBits, num_values * width, source));
    if (bytes.is_constant()) return Corrupt(where, "strings whose bytes are all the same");
    StringValues values(std::move(bytes), num_values);
    values.width_ = width;
    return finish(std::move(values));
  }
  const auto* binary = std::get_if<wire::BinaryArray>(&encoding.kind);
  if (binary == nullptr) {
    return Unsupported(where, "strings in encoding {}", encoding.kind.index());
  }
  if (binary->null_adjustment == 0) return Corrupt(where, "strings without a null adjustment");
  ARROW_ASSIGN_OR_RAISE(auto bytes, FixedValues::Validate(*binary->bytes, kByteBits,
                                                          binary->null_adjustment - 1, source));
  StringValues values(std::move(bytes), num_values);
  values.null_adjustment_ = binary->null_adjustment;
  ARROW_ASSIGN_OR_RAISE(values.ends_,
                        FixedValues::Validate(*binary->indices, kEndBits, num_values, source));
  if (values.ends_->is_constant() || values.bytes_.is_constant())
    return Corrupt(where, "strings that are all the same");
  return finish(std::move(values));
}

uint64_t StringValues::text_bytes() const {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  return std::min(bytes_.num_values(), kMost) * (fsst_ ? kFsstFactor : 1);
}

std::unique_ptr<StringRead> StringValues::Read(std::span<const RowRange> values) const {
  return std::make_unique<StringRead>(*this, values);
}

StringRead::StringRead(const StringValues& values, std::span<const RowRange> ranges)
    : values_(values), ranges_(JoinRanges(ranges)) {
  if (ranges_.empty()) return;
  if (!values.ends_) {
    for (const RowRange& range : ranges_) {
      Extents& run = runs_.emplace_back();
      for (uint64_t i = range.begin; i <= range.end; ++i) run.offsets.push_back(i * values.width_);
    }
    WantBytes();
    return;
  }
  ends_.emplace(values.ends_->Read(WithPrevious(ranges_)));
  reads_.Add(*ends_);
  all_bytes_ =
      values.bytes_.stored_bytes() <= kSmallBytes || CountRows(ranges_) == values.num_values_;
  if (all_bytes_) {
    const RowRange all = {0, values.bytes_.num_values()};
    bytes_.emplace(values.bytes_.Read({&all, 1}));
    reads_.Add(*bytes_);
  }
}

void StringRead::WantBytes() {
  std::vector<RowRange> wanted;
  for (const Extents& run : runs_) wanted.push_back({run.offsets.front(), run.offsets.back()});
  bytes_.emplace(values_.bytes_.Read(wanted));
  reads_.Add(*bytes_);
}

arrow::Status StringRead::TakeEnds() {
  ARROW_ASSIGN_OR_RAISE(const auto ends, ends_->Words<uint64_t>());
  std::span<const uint64_t> left(ends);
  for (const RowRange& range : ranges_) {
    const uint64_t count = range.size() + (range.begin > 0 ? 1 : 0);
    ARROW_ASSIGN_OR_RAISE(runs_.emplace_back(),
                          ExtentsOf(left.first(count), range.begin == 0, values_.null_adjustment_,
                                    values_.bytes_.num_values(), values_.where()));
    left = left.subspan(count);
  }
  ends_.reset();
  return arrow::Status::OK();
}

arrow::Status StringRead::Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  ARROW_RETURN_NOT_OK(reads_.Supply(std::move(buffers)));
  if (!reads_.wanted().empty() || !ends_) return arrow::Status::OK();
  reads_ = {};
  ARROW_RETURN_NOT_OK(TakeEnds());
  if (!all_bytes_) WantBytes();
  return arrow::Status::OK();
}

arrow::Status StringRead::AppendCodes(const Extents& run, const std::byte* bytes,
                                      LeafValues& values) const {
  const uint64_t codes = run.offsets.back() - run.offsets.front();
  // Twice what is usual; strings that come to more ask for it one by one.
  ARROW_RETURN_NOT_OK(values.CheckRoom(codes));
  for (size_t i = 0; i + 1 < run.offsets.size(); ++i) {
    const Bytes string(bytes + run.offsets[i], run.offsets[i + 1] - run.offsets[i]);
    ARROW_RETURN_NOT_OK(values.ReserveVariable(1, string.size() * FsstTable::kMaxSymbolBytes));
    const auto size = values_.fsst_->Decode(string, values.variable_end());
    if (!size) return Corrupt(values_.where(), "fsst codes that are in no table");
    ARROW_RETURN_NOT_OK(values.CheckRoom(*size));
    values.UnsafeEndValue(*size);
  }
  return arrow::Status::OK();
}

arrow::Status StringRead::AppendRun(const Extents& run, const std::byte* bytes,
                                    LeafValues& values) const {
  const uint64_t num_strings = run.offsets.size() - 1;
  if (values_.fsst_) return AppendCodes(run, bytes, values);
  const VariablePayload strings = {.offsets = std::as_bytes(std::span(run.offsets)).data(),
                                   .origin = bytes,
                                   .num_values = num_strings,
                                   .wide = true};
  return values.AppendStrings(strings, {0, num_strings});
}

arrow::Status StringRead::Append(LeafValues& values, ValidityBuilder& validity) {
  if (ranges_.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto bytes, bytes_->Runs());
  for (size_t i = 0; i < runs_.size(); ++i) {
    Extents& run = runs_[i];
    const FixedRun& of_run = bytes[all_bytes_ ? 0 : i];
    if (!all_bytes_) {
      const uint64_t first = run.offsets.front();
      for (uint64_t& offset : run.offsets) offset -= first;
    }
    ARROW_RETURN_NOT_OK(AppendRun(run, of_run.bytes, values));
    if (run.validity.empty()) {
      ARROW_RETURN_NOT_OK(validity.AppendValid(static_cast<int64_t>(run.offsets.size() - 1)));
    } else {
      ARROW_RETURN_NOT_OK(validity.AppendBytes(run.validity));
    }
  }
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
