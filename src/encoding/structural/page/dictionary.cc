#include "encoding/structural/page/dictionary.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/byte_reader.h"
#include "encoding/structural/leaf/decoded_bytes.h"

namespace glaive::encoding {
namespace {

// Most strings of a dictionary are short: they are copied by one move of this size.
constexpr uint64_t kShortString = 16;

template <size_t kWidth>
void Gather(const std::byte* items, std::span<const uint32_t> indices, uint8_t* out) noexcept {
  for (const uint32_t index : indices) {
    std::memcpy(out, items + uint64_t{index} * kWidth, kWidth);
    out += kWidth;
  }
}

}  // namespace

arrow::Status PageDictionary::Append(std::span<const uint32_t> indices, LeafValues& leaf,
                                     Location where) const {
  uint32_t largest = 0;
  for (const uint32_t index : indices) largest = std::max(largest, index);
  if (!indices.empty() && largest >= num_items_) {
    return Corrupt(where, "index {} into a dictionary of {} items", largest, num_items_);
  }
  return leaf.shape().kind == ValueKind::kVariable ? AppendStrings(indices, leaf)
                                                   : AppendFixed(indices, leaf);
}

arrow::Status PageDictionary::AppendStrings(std::span<const uint32_t> indices,
                                            LeafValues& leaf) const {
  uint64_t size = 0;
  for (const uint32_t index : indices) size += offsets_[index + 1] - offsets_[index];
  ARROW_RETURN_NOT_OK(leaf.CheckRoom(size));
  ARROW_RETURN_NOT_OK(leaf.ReserveVariable(indices.size(), size));
  for (const uint32_t index : indices) {
    const std::byte* const from = items_.data() + offsets_[index];
    const uint64_t length = offsets_[index + 1] - offsets_[index];
    std::memcpy(leaf.variable_end(), from, kShortString);
    if (length > kShortString) std::memcpy(leaf.variable_end(), from, length);
    leaf.UnsafeEndValue(length);
  }
  return arrow::Status::OK();
}

arrow::Status PageDictionary::AppendFixed(std::span<const uint32_t> indices,
                                          LeafValues& leaf) const {
  const uint64_t width = leaf.shape().slot_bits() / 8;
  for (size_t level = 0; level < leaf.shape().dimensions.size(); ++level) {
    ARROW_RETURN_NOT_OK(leaf.AppendItemsValid(level, indices.size()));
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t * out, leaf.ExtendFixed(indices.size()));
  switch (width) {
    case 4: Gather<4>(items_.data(), indices, out); return arrow::Status::OK();
    case 8: Gather<8>(items_.data(), indices, out); return arrow::Status::OK();
    case 16: Gather<16>(items_.data(), indices, out); return arrow::Status::OK();
    default: break;
  }
  for (const uint32_t index : indices) {
    std::memcpy(out, items_.data() + index * width, width);
    out += width;
  }
  return arrow::Status::OK();
}

arrow::Result<DictionaryDescription> DictionaryDescription::Validate(
    const wire::CompressiveEncoding& items, const LeafShape& shape, FileVersion version,
    Location where) {
  if (!shape.dimensions.empty()) return ValidateLists(items, shape, version, where);
  if (shape.kind != ValueKind::kFixed && shape.kind != ValueKind::kVariable) {
    return Unsupported(where, "a dictionary of values that are not strings or numbers");
  }
  if (shape.kind == ValueKind::kFixed) {
    ARROW_ASSIGN_OR_RAISE(auto block, FixedBlockDescription::Validate(items, version, where));
    if (block.value_bits() != shape.value_bits) {
      return Corrupt(where, "a dictionary of {} bits; {} expected", block.value_bits(),
                     shape.value_bits);
    }
    return DictionaryDescription(std::move(block));
  }
  ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(items, where));
  if (unwrapped.general && version < FileVersion::k2_2) {
    return Corrupt(where, "a compressed dictionary before version 2.2");
  }
  const auto* variable = std::get_if<wire::VariableEncoding>(&unwrapped.inner->kind);
  if (variable == nullptr) {
    return Unsupported(where, "{} blocks of strings", NameOf(*unwrapped.inner));
  }
  ARROW_ASSIGN_OR_RAISE(auto layout, VariableDescription::Validate(*variable, where));
  return DictionaryDescription(Strings{unwrapped.general, layout});
}

arrow::Result<DictionaryDescription> DictionaryDescription::ValidateLists(
    const wire::CompressiveEncoding& items, const LeafShape& shape, FileVersion version,
    Location where) {
  ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(items, where));
  const wire::CompressiveEncoding* level = unwrapped.inner;
  bool as_expected = version >= FileVersion::k2_3 && shape.kind == ValueKind::kFixed;
  for (const uint64_t dimension : shape.dimensions) {
    const auto* list = std::get_if<wire::FixedSizeListEncoding>(&level->kind);
    as_expected =
        as_expected && list != nullptr && list->items_per_value == dimension && !list->has_validity;
    if (!as_expected) break;
    level = list->values.get();
  }
  const auto* flat = std::get_if<wire::FlatEncoding>(&level->kind);
  if (!as_expected || flat == nullptr || flat->bits_per_value != shape.value_bits) {
    return Unsupported(where, "a dictionary of {} for fixed-size lists", NameOf(*unwrapped.inner));
  }
  return DictionaryDescription(Lists{unwrapped.general, shape.slot_bits() / 8});
}

arrow::Result<std::vector<std::byte>> DictionaryDescription::DecodeLists(const Lists& lists,
                                                                         Bytes block,
                                                                         uint64_t num_items,
                                                                         Location where) {
  const uint64_t expected = PackedBytes(num_items, 8 * lists.list_bytes);
  ScratchBytes scratch;
  if (lists.general) {
    ARROW_ASSIGN_OR_RAISE(block, lists.general->Decompress(block, expected, scratch, where));
  }
  if (block.size() != expected) {
    return Corrupt(where, "a dictionary of {} lists of {} bytes in {}", num_items, lists.list_bytes,
                   block.size());
  }
  return std::vector<std::byte>(block.begin(), block.end());
}

uint64_t DictionaryDescription::text_factor() const {
  const auto* strings = std::get_if<Strings>(&items_);
  return strings != nullptr && strings->general ? kGeneralFactor : 1;
}

arrow::Result<PageDictionary> DictionaryDescription::Decode(Bytes block, uint64_t num_items,
                                                            Location where) const {
  PageDictionary dictionary;
  dictionary.num_items_ = num_items;
  if (const auto* fixed = std::get_if<FixedBlockDescription>(&items_)) {
    // Items differ from each other, so no codec but a general one makes many of few bytes.
    constexpr uint64_t kMostBits = 64 * 8;
    if (!fixed->is_general() && num_items > PackedBytes(block.size() + 1, kMostBits)) {
      return Corrupt(where, "a dictionary of {} items in {} bytes", num_items, block.size());
    }
    ARROW_ASSIGN_OR_RAISE(dictionary.items_, fixed->Decode(block, num_items, where));
    return dictionary;
  }
  if (const auto* lists = std::get_if<Lists>(&items_)) {
    ARROW_ASSIGN_OR_RAISE(dictionary.items_, DecodeLists(*lists, block, num_items, where));
    return dictionary;
  }
  const Strings& strings = std::get<Strings>(items_);
  ScratchBytes scratch;
  if (strings.general) {
    ARROW_ASSIGN_OR_RAISE(block, strings.general->Decompress(
                                     block, strings.layout.MostBytes(num_items), scratch, where));
  }
  ARROW_ASSIGN_OR_RAISE(const VariablePayload payload,
                        strings.layout.OpenBlock(block, num_items, where));
  dictionary.offsets_.reserve(num_items + 1);
  for (uint64_t i = 0; i <= num_items; ++i) {
    dictionary.offsets_.push_back(payload.offset(i) - payload.offset(0));
  }
  dictionary.items_.resize(payload.size_bytes() + kShortString);
  if (payload.size_bytes() > 0) {
    std::memcpy(dictionary.items_.data(), payload.origin + payload.offset(0), payload.size_bytes());
  }
  return dictionary;
}

}  // namespace glaive::encoding
