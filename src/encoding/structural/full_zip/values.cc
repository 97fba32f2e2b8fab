#include "encoding/structural/full_zip/values.h"

#include <cstring>

#include "encoding/codec/block.h"
#include "encoding/codec/flat.h"
#include "encoding/structural/leaf/decoded_bytes.h"

namespace glaive::encoding {
namespace {

uint64_t BitmapBytes(uint64_t num_items) { return PackedBytes(num_items, 1); }

}  // namespace

arrow::Result<ZippedRows> ZippedRows::Validate(const wire::CompressiveEncoding& encoding,
                                               uint64_t bits_per_value, const LeafShape& shape,
                                               Location where) {
  if (shape.kind != ValueKind::kFixed && shape.kind != ValueKind::kBit) {
    return Corrupt(where, "full-zip values of a fixed width in a column that has none");
  }
  ZippedRows rows;
  const wire::CompressiveEncoding* level = &encoding;
  uint64_t items = 1;
  if (std::holds_alternative<wire::FixedSizeListEncoding>(level->kind)) {
    bool any = false;
    for (const uint64_t dimension : shape.dimensions) {
      // Where all lists of a level are null, nothing is said of those below.
      if (std::holds_alternative<wire::ConstantEncoding>(level->kind)) break;
      const auto* list = std::get_if<wire::FixedSizeListEncoding>(&level->kind);
      if (list == nullptr || list->items_per_value != dimension) {
        return Corrupt(where, "a {} encoding; one of fixed-size lists of {} items expected",
                       NameOf(*level), dimension);
      }
      items *= dimension;
      rows.has_validity_.push_back(list->has_validity);
      rows.row_bytes_ += list->has_validity ? BitmapBytes(items) : 0;
      any |= list->has_validity;
      level = list->values.get();
    }
    rows.has_validity_.resize(any ? shape.dimensions.size() : 0);
  }
  uint64_t value_bits = shape.slot_bits();
  if (const auto* constant = std::get_if<wire::ConstantEncoding>(&level->kind)) {
    if (constant->value) return Unsupported(where, "constant full-zip values");
    rows.has_values_ = false;
    value_bits = 0;
  } else if (const auto* flat = std::get_if<wire::FlatEncoding>(&level->kind)) {
    // Of one item if the lists are spelled out, else of the whole slot; booleans are bytes.
    const bool is_byte = shape.kind == ValueKind::kBit && shape.dimensions.empty();
    if (is_byte) value_bits = 8;
    const uint64_t expected = is_byte ? 8 : items > 1 ? shape.value_bits : shape.slot_bits();
    if (flat->bits_per_value != expected) {
      return Corrupt(where, "full-zip values of {} bits; {} expected", flat->bits_per_value,
                     expected);
    }
  } else {
    return Unsupported(where, "{} full-zip values", NameOf(*level));
  }
  rows.row_bytes_ += PackedBytes(value_bits, 1);
  if (bits_per_value != rows.row_bytes_ * 8) {
    return Corrupt(where, "full-zip values of {} bits; {} expected", bits_per_value,
                   rows.row_bytes_ * 8);
  }
  return rows;
}

arrow::Status ZippedRows::Append(const std::byte* rows, uint64_t num_rows, LeafValues& leaf) const {
  const LeafShape& shape = leaf.shape();
  if (!has_validity_.empty() || (shape.kind == ValueKind::kBit && !shape.dimensions.empty())) {
    for (uint64_t row = 0; row < num_rows; ++row) {
      ARROW_RETURN_NOT_OK(AppendItems(rows + row * row_bytes_, leaf));
    }
    return arrow::Status::OK();
  }
  for (size_t level = 0; level < shape.dimensions.size(); ++level) {
    ARROW_RETURN_NOT_OK(leaf.AppendItemsValid(level, num_rows));
  }
  if (!has_values_) return leaf.AppendPlaceholders(num_rows);
  if (shape.kind == ValueKind::kBit) return leaf.AppendBools(rows, num_rows);
  return leaf.AppendFixed(rows, num_rows);
}

arrow::Status ZippedRows::AppendItems(const std::byte* row, LeafValues& leaf) const {
  const LeafShape& shape = leaf.shape();
  uint64_t items = 1;
  for (size_t level = 0; level < shape.dimensions.size(); ++level) {
    items *= shape.dimensions[level];
    if (has_validity_.empty() || !has_validity_[level]) {
      ARROW_RETURN_NOT_OK(leaf.AppendItemsValid(level, 1));
      continue;
    }
    ARROW_RETURN_NOT_OK(leaf.items(level).AppendBits(reinterpret_cast<const uint8_t*>(row), 0,
                                                     static_cast<int64_t>(items)));
    row += BitmapBytes(items);
  }
  if (!has_values_) return leaf.AppendPlaceholders(1);
  if (shape.kind == ValueKind::kBit) return leaf.AppendBits(row, 0, 1);
  return leaf.AppendFixed(row, 1);
}

arrow::Result<ZippedStrings> ZippedStrings::Validate(const wire::CompressiveEncoding& encoding,
                                                     uint64_t bits_per_length, Location where) {
  if (bits_per_length != 32 && bits_per_length != 64) {
    return Corrupt(where, "full-zip lengths of {} bits; 32 or 64 expected", bits_per_length);
  }
  ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(encoding, where));
  ARROW_ASSIGN_OR_RAISE(StringCodec codec, StringCodec::Validate(*unwrapped.inner, where));
  ZippedStrings strings;
  strings.length_bytes_ = bits_per_length / 8;
  strings.general_ = unwrapped.general;
  strings.fsst_ = std::move(codec.fsst);
  return strings;
}

uint64_t ZippedStrings::text_factor() const {
  return (fsst_ ? kFsstFactor : 1) * (general_ ? kGeneralFactor : 1);
}

arrow::Status ZippedStrings::Append(Bytes stored, LeafValues& leaf, ScratchBytes& scratch,
                                    Location where) const {
  if (general_ && fsst_) {
    ARROW_ASSIGN_OR_RAISE(stored, general_->Decompress(stored, leaf.MostText(), scratch, where));
  } else if (general_) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t size,
                          general_->DecompressedSize(stored, leaf.MostText(), where));
    ARROW_RETURN_NOT_OK(leaf.CheckRoom(size));
    ARROW_RETURN_NOT_OK(leaf.ReserveVariable(1, size));
    const std::span<std::byte> out(reinterpret_cast<std::byte*>(leaf.variable_end()), size);
    ARROW_RETURN_NOT_OK(general_->Decompress(stored, out, where));
    leaf.UnsafeEndValue(size);
    return arrow::Status::OK();
  }
  if (fsst_) {
    ARROW_RETURN_NOT_OK(leaf.ReserveVariable(1, stored.size() * FsstTable::kMaxSymbolBytes));
    const auto size = fsst_->Decode(stored, leaf.variable_end());
    if (!size) return Corrupt(where, "a full-zip string is not fsst codes of its table");
    leaf.UnsafeEndValue(*size);
    return arrow::Status::OK();
  }
  if (!stored.empty()) std::memcpy(leaf.variable_end(), stored.data(), stored.size());
  leaf.UnsafeEndValue(stored.size());
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
