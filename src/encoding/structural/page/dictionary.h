#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/block.h"
#include "encoding/codec/variable.h"
#include "encoding/structural/leaf/values.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// The distinct values of a page, which its chunks then only number. Immutable, owns its bytes.
class PageDictionary {
 public:
  // Appends an item for each index. Corrupt if one is not in the dictionary.
  arrow::Status Append(std::span<const uint32_t> indices, LeafValues& leaf, Location where) const;

  // Of all items together, if they are strings.
  uint64_t text_bytes() const { return offsets_.empty() ? 0 : offsets_.back(); }
  uint64_t memory_bytes() const { return items_.size() + offsets_.size() * sizeof(uint64_t); }

 private:
  friend class DictionaryDescription;

  arrow::Status AppendStrings(std::span<const uint32_t> indices, LeafValues& leaf) const;
  arrow::Status AppendFixed(std::span<const uint32_t> indices, LeafValues& leaf) const;

  uint64_t num_items_ = 0;
  std::vector<std::byte> items_;   // and kSpareBytes behind the last string
  std::vector<uint64_t> offsets_;  // of strings
};

class DictionaryDescription {
 public:
  static arrow::Result<DictionaryDescription> Validate(const wire::CompressiveEncoding& items,
                                                       const LeafShape& shape, FileVersion version,
                                                       Location where);

  arrow::Result<PageDictionary> Decode(Bytes block, uint64_t num_items, Location where) const;

  // About how many bytes of items come of a stored one.
  uint64_t text_factor() const;

 private:
  struct Strings {
    std::optional<GeneralDescription> general;
    VariableDescription layout;
  };
  // Fixed-size lists without nulls, back to back.
  struct Lists {
    std::optional<GeneralDescription> general;
    uint64_t list_bytes = 0;
  };
  using Items = std::variant<FixedBlockDescription, Strings, Lists>;

  static arrow::Result<DictionaryDescription> ValidateLists(const wire::CompressiveEncoding& items,
                                                            const LeafShape& shape,
                                                            FileVersion version, Location where);
  static arrow::Result<std::vector<std::byte>> DecodeLists(const Lists& lists, Bytes block,
                                                           uint64_t num_items, Location where);

  explicit DictionaryDescription(Items items) : items_(std::move(items)) {}

  Items items_;
};

}  // namespace glaive::encoding
