#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"

// How a page of a 2.1 or 2.2 file is encoded: PageLayout and CompressiveEncoding messages as plain
// structs. Parsing says only that the bytes are such a message; whether the description makes sense
// is for the codecs to validate.
namespace glaive::wire {

struct CompressiveEncoding;
using EncodingPtr = std::shared_ptr<const CompressiveEncoding>;  // never null once parsed

struct FlatEncoding {
  uint64_t bits_per_value = 0;
};
struct VariableEncoding {
  EncodingPtr offsets;
};
struct ConstantEncoding {
  std::optional<std::string> value;
};
struct OutOfLineBitpackingEncoding {
  uint64_t uncompressed_bits = 0;
  EncodingPtr values;
};
struct InlineBitpackingEncoding {
  uint64_t uncompressed_bits = 0;
};
struct FsstEncoding {
  std::string symbol_table;
  EncodingPtr values;
};
struct DictionaryEncoding {
  EncodingPtr indices;
  EncodingPtr items;
  uint32_t num_items = 0;
};
struct RleEncoding {
  EncodingPtr values;
  EncodingPtr run_lengths;
};
struct ByteStreamSplitEncoding {
  EncodingPtr values;
};
enum class CompressionScheme : uint32_t { kUnspecified = 0, kLz4 = 1, kZstd = 2 };
struct GeneralEncoding {
  CompressionScheme scheme = CompressionScheme::kUnspecified;
  std::optional<int32_t> level;
  EncodingPtr values;
};
struct FixedSizeListEncoding {
  uint64_t items_per_value = 0;
  EncodingPtr values;
  bool has_validity = false;
};
struct PackedStructEncoding {
  std::vector<uint64_t> bits_per_value;  // one per child
  EncodingPtr values;
};
// From 2.3 on: start, start + step, and so on.
struct RangeEncoding {
  uint64_t uncompressed_bits = 0;
  uint64_t start = 0;
  uint64_t step = 0;
};
// From 2.3 on: the first value, and how much each is more than the one before it.
struct DeltaEncoding {
  uint64_t uncompressed_bits = 0;
  uint64_t base = 0;
  EncodingPtr deltas;
};
// A number of the oneof that this build does not read (variable packed structs).
struct UnknownEncoding {
  uint32_t number = 0;  // 0: the message is empty
};

struct CompressiveEncoding {
  std::variant<UnknownEncoding, FlatEncoding, VariableEncoding, ConstantEncoding,
               OutOfLineBitpackingEncoding, InlineBitpackingEncoding, FsstEncoding,
               DictionaryEncoding, RleEncoding, ByteStreamSplitEncoding, GeneralEncoding,
               FixedSizeListEncoding, PackedStructEncoding, RangeEncoding, DeltaEncoding>
      kind;
};

template <typename Kind>
EncodingPtr MakeEncoding(Kind kind) {
  return std::make_shared<const CompressiveEncoding>(CompressiveEncoding{std::move(kind)});
}

// What the definition levels of one schema layer mean; layers are listed from the leaf outwards.
enum class RepDefLayer : uint32_t {
  kUnspecified = 0,
  kAllValidItem = 1,
  kAllValidList = 2,
  kNullableItem = 3,
  kNullableList = 4,
  kEmptyableList = 5,
  kNullAndEmptyList = 6,
};

struct MiniBlockLayout {
  EncodingPtr rep_compression;  // null: no repetition levels
  EncodingPtr def_compression;  // null: no definition levels
  EncodingPtr value_compression;
  EncodingPtr dictionary;  // null: none
  uint64_t num_dictionary_items = 0;
  std::vector<RepDefLayer> layers;
  uint64_t num_buffers = 0;  // value buffers of a chunk
  uint32_t repetition_index_depth = 0;
  uint64_t num_items = 0;  // visible values
  bool has_large_chunk = false;
};

struct FullZipLayout {
  uint32_t bits_rep = 0;
  uint32_t bits_def = 0;
  std::optional<uint32_t> bits_per_value;   // fixed width
  std::optional<uint32_t> bits_per_offset;  // variable width
  uint32_t num_items = 0;                   // entries, the invisible ones included
  uint32_t num_visible_items = 0;
  EncodingPtr value_compression;
  std::vector<RepDefLayer> layers;
};

struct ConstantLayout {
  std::vector<RepDefLayer> layers;
  std::optional<std::string> inline_value;
  EncodingPtr rep_compression;  // null: raw u16, or none at all
  EncodingPtr def_compression;
  uint64_t num_rep_values = 0;
  uint64_t num_def_values = 0;
};

struct UnknownLayout {
  uint32_t number = 0;  // 4 is the blob layout
};

using PageLayout = std::variant<UnknownLayout, MiniBlockLayout, ConstantLayout, FullZipLayout>;

arrow::Result<PageLayout> ParsePageLayout(std::span<const std::byte> message, Location where);

// One encoding alone, as the layouts of 2.3 hold it.
arrow::Result<EncodingPtr> ParseEncoding(std::span<const std::byte> message, Location where);

// The bytes that pylance writes for the same values.
std::string Serialize(const PageLayout& layout);
std::string Serialize(const CompressiveEncoding& encoding);

}  // namespace glaive::wire
