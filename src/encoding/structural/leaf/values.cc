#include "encoding/structural/leaf/values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "core/byte_reader.h"
#include "core/error.h"
#include "core/too_large.h"

namespace glaive::encoding {
namespace {

// What the copies below, and decoders of strings, may write behind the last byte.
constexpr uint64_t kSpareBytes = 32;

int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

LeafValues::LeafValues(LeafShape shape, uint64_t most_bytes)
    : shape_(std::move(shape)), most_bytes_(Signed(std::min<uint64_t>(most_bytes, INT64_MAX))) {
  if (shape_.kind == ValueKind::kVariable && !shape_.large_offsets) {
    most_bytes_ = std::min<int64_t>(most_bytes_, std::numeric_limits<int32_t>::max());
  }
}

arrow::Status LeafValues::CheckRoom(uint64_t num_bytes_more) const {
  const int64_t left = most_bytes_ - data_.length();
  if (left >= 0 && num_bytes_more <= static_cast<uint64_t>(left)) return arrow::Status::OK();
  return TooLarge("the values of one batch take more than {} bytes", most_bytes_);
}

arrow::Status LeafValues::ReserveFixed(uint64_t num_slots) {
  if (shape_.kind != ValueKind::kFixed) return arrow::Status::OK();
  const int64_t left = std::max<int64_t>(0, most_bytes_ - data_.length());
  return data_.Reserve(std::min(Signed(num_slots * (shape_.slot_bits() / 8)), left));
}

arrow::Result<uint8_t*> LeafValues::ExtendFixed(uint64_t num_slots) {
  ARROW_RETURN_NOT_OK(CheckRoom(PackedBytes(num_slots, shape_.slot_bits())));
  const int64_t bytes = Signed(num_slots * (shape_.slot_bits() / 8));
  ARROW_RETURN_NOT_OK(data_.Reserve(bytes));
  uint8_t* const to = data_.mutable_data() + data_.length();
  data_.UnsafeAdvance(bytes);
  num_slots_ += Signed(num_slots);
  return to;
}

arrow::Status LeafValues::AppendFixed(const std::byte* slots, uint64_t num_slots) {
  if (num_slots == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(uint8_t* const to, ExtendFixed(num_slots));
  std::memcpy(to, slots, num_slots * (shape_.slot_bits() / 8));
  return arrow::Status::OK();
}

arrow::Status LeafValues::ReserveBits(uint64_t num_bits) {
  const int64_t bytes = arrow::bit_util::BytesForBits(num_bits_ + Signed(num_bits));
  ARROW_RETURN_NOT_OK(CheckRoom(static_cast<uint64_t>(bytes - data_.length())));
  return data_.Append(bytes - data_.length(), 0);
}

arrow::Status LeafValues::AppendBits(const std::byte* bitmap, uint64_t offset, uint64_t num_slots) {
  const uint64_t num_bits = num_slots * shape_.values_per_slot;
  ARROW_RETURN_NOT_OK(ReserveBits(num_bits));
  arrow::internal::CopyBitmap(reinterpret_cast<const uint8_t*>(bitmap), Signed(offset),
                              Signed(num_bits), data_.mutable_data(), num_bits_);
  num_bits_ += Signed(num_bits);
  num_slots_ += Signed(num_slots);
  return arrow::Status::OK();
}

arrow::Status LeafValues::AppendBools(const std::byte* bytes, uint64_t num_slots) {
  const uint64_t num_bits = num_slots * shape_.values_per_slot;
  ARROW_RETURN_NOT_OK(ReserveBits(num_bits));
  for (uint64_t i = 0; i < num_bits; ++i) {
    if (bytes[i] != std::byte{0})
      arrow::bit_util::SetBit(data_.mutable_data(), num_bits_ + Signed(i));
  }
  num_bits_ += Signed(num_bits);
  num_slots_ += Signed(num_slots);
  return arrow::Status::OK();
}

arrow::Status LeafValues::AppendRepeated(const std::byte* slot, uint64_t num_slots) {
  if (num_slots == 0) return arrow::Status::OK();
  if (shape_.kind == ValueKind::kBit) {
    const uint64_t num_bits = num_slots * shape_.values_per_slot;
    ARROW_RETURN_NOT_OK(ReserveBits(num_bits));
    const bool value = (std::to_integer<int>(*slot) & 1) != 0;
    arrow::bit_util::SetBitsTo(data_.mutable_data(), num_bits_, Signed(num_bits), value);
    num_bits_ += Signed(num_bits);
    num_slots_ += Signed(num_slots);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* const to, ExtendFixed(num_slots));
  const uint64_t slot_bytes = shape_.slot_bits() / 8;
  const uint64_t size = num_slots * slot_bytes;
  std::memcpy(to, slot, slot_bytes);
  for (uint64_t done = slot_bytes; done < size;) {
    const uint64_t more = std::min(done, size - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
  return arrow::Status::OK();
}

arrow::Status LeafValues::AppendPlaceholders(uint64_t num_slots) {
  switch (shape_.kind) {
    case ValueKind::kNull: num_slots_ += Signed(num_slots); return arrow::Status::OK();
    case ValueKind::kVariable: return AppendRepeatedString({}, num_slots);
    case ValueKind::kBit: {
      const std::byte no{0};
      return AppendRepeated(&no, num_slots);
    }
    case ValueKind::kFixed: {
      ARROW_ASSIGN_OR_RAISE(uint8_t* const to, ExtendFixed(num_slots));
      if (num_slots > 0) std::memset(to, 0, num_slots * (shape_.slot_bits() / 8));
      return arrow::Status::OK();
    }
  }
  return arrow::Status::OK();
}

arrow::Status LeafValues::AppendItemsValid(size_t level, uint64_t num_slots) {
  uint64_t items = num_slots;
  for (size_t i = 0; i <= level; ++i) items *= shape_.dimensions[i];
  return items_[level].AppendValid(Signed(items));
}

arrow::Status LeafValues::ReserveVariable(uint64_t num_values, uint64_t num_bytes) {
  const uint64_t width = shape_.large_offsets ? sizeof(int64_t) : sizeof(int32_t);
  ARROW_RETURN_NOT_OK(offsets_.Reserve(Signed((num_values + 1) * width)));
  if (offsets_.length() == 0) offsets_.UnsafeAppend(Signed(width), 0);
  return data_.Reserve(Signed(num_bytes + kSpareBytes));
}

// Out is of Arrow's offsets, Offset of the file's: the sums are made in the wider of the two.
template <typename Out, typename Offset>
void LeafValues::UnsafeAppendOffsets(const std::byte* offsets, uint64_t num_values) {
  using Sum = std::conditional_t<(sizeof(Out) > sizeof(Offset)), std::make_unsigned_t<Out>, Offset>;
  // Wraps where the strings begin further on in the file than they will here; the sums do not.
  const Sum delta = static_cast<Sum>(data_.length()) - LoadLittleEndian<Offset>(offsets);
  auto* to = reinterpret_cast<Out*>(offsets_.mutable_data() + offsets_.length());
  for (uint64_t i = 0; i < num_values; ++i) {
    const auto end = LoadLittleEndian<Offset>(offsets + (i + 1) * sizeof(Offset));
    to[i] = static_cast<Out>(end + delta);
  }
  offsets_.UnsafeAdvance(Signed(num_values * sizeof(Out)));
}

template <typename Offset>
void LeafValues::UnsafeAppendOffsetsOf(const std::byte* offsets, uint64_t num_values) {
  if (shape_.large_offsets) {
    UnsafeAppendOffsets<int64_t, Offset>(offsets, num_values);
  } else {
    UnsafeAppendOffsets<int32_t, Offset>(offsets, num_values);
  }
}

arrow::Status LeafValues::AppendStrings(const VariablePayload& strings, ValueRange range) {
  const uint64_t begin = strings.offset(range.begin);
  const uint64_t size = strings.offset(range.end) - begin;
  ARROW_RETURN_NOT_OK(CheckRoom(size));
  ARROW_RETURN_NOT_OK(ReserveVariable(range.size(), size));
  if (strings.wide) {
    UnsafeAppendOffsetsOf<uint64_t>(strings.offsets + range.begin * sizeof(uint64_t), range.size());
  } else {
    UnsafeAppendOffsetsOf<uint32_t>(strings.offsets + range.begin * sizeof(uint32_t), range.size());
  }
  if (size > 0) data_.UnsafeAppend(strings.origin + begin, Signed(size));
  num_slots_ += Signed(range.size());
  return arrow::Status::OK();
}

arrow::Status LeafValues::AppendRepeatedString(std::span<const std::byte> string,
                                               uint64_t num_slots) {
  constexpr uint64_t kTooMany = uint64_t{1} << 62;
  const bool fits = string.empty() || num_slots <= kTooMany / string.size();
  const uint64_t size = fits ? num_slots * string.size() : kTooMany;
  ARROW_RETURN_NOT_OK(CheckRoom(size));
  ARROW_RETURN_NOT_OK(ReserveVariable(num_slots, size));
  for (uint64_t i = 0; i < num_slots; ++i) {
    if (!string.empty()) std::memcpy(variable_end(), string.data(), string.size());
    UnsafeEndValue(string.size());
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> LeafValues::Finish(
    const std::shared_ptr<arrow::DataType>& type, ValidityBuilder& validity) && {
  const int64_t num_slots = validity.length();
  if (shape_.kind == ValueKind::kNull) {
    const int64_t null_count = type->id() == arrow::Type::NA ? num_slots : 0;
    return arrow::ArrayData::Make(type, num_slots, {nullptr}, null_count);
  }
  // The layers from the leaf's own validity down to the values.
  struct Level {
    std::shared_ptr<arrow::DataType> type;
    int64_t length;
    int64_t null_count;
    std::shared_ptr<arrow::Buffer> validity;
  };
  std::vector<Level> levels;
  levels.push_back({type, num_slots, validity.null_count(), nullptr});
  ARROW_ASSIGN_OR_RAISE(levels.back().validity, validity.Finish());
  for (ValidityBuilder& items : items_) {
    levels.push_back(
        {levels.back().type->field(0)->type(), items.length(), items.null_count(), nullptr});
    ARROW_ASSIGN_OR_RAISE(levels.back().validity, items.Finish());
  }
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {levels.back().validity};
  if (shape_.kind == ValueKind::kVariable) {
    ARROW_RETURN_NOT_OK(ReserveVariable(0, 0));
    ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), offsets_.Finish(/*shrink_to_fit=*/false));
  }
  ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), data_.Finish(/*shrink_to_fit=*/false));
  auto array = arrow::ArrayData::Make(levels.back().type, levels.back().length, std::move(buffers),
                                      levels.back().null_count);
  for (auto level = levels.rbegin() + 1; level != levels.rend(); ++level) {
    array = arrow::ArrayData::Make(level->type, level->length, {level->validity},
                                   {std::move(array)}, level->null_count);
  }
  return array;
}

}  // namespace glaive::encoding
