#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"

// How a page of a 2.0 file is encoded: the ArrayEncoding message as plain structs. Parsing says
// only that the bytes are such a message; whether the description makes sense is for the decoders
// to validate.
namespace glaive::wire {

struct ArrayEncoding;
using ArrayPtr = std::shared_ptr<const ArrayEncoding>;  // never null once parsed

enum class BufferKind : uint32_t { kPage = 0, kColumn = 1, kFile = 2 };

struct BufferRef {
  uint32_t index = 0;
  BufferKind kind = BufferKind::kPage;

  bool operator==(const BufferRef&) const = default;
};

struct FlatArray {
  uint64_t bits_per_value = 0;
  BufferRef buffer;
  std::string scheme;  // "zstd", "lz4"; "" or "none": bytes as they are
  std::optional<int32_t> level;
};
struct NoNullsArray {
  ArrayPtr values;
};
struct SomeNullsArray {
  ArrayPtr validity;
  ArrayPtr values;
};
struct AllNullsArray {};
struct FixedSizeListArray {
  uint32_t dimension = 0;
  ArrayPtr items;
  bool has_validity = false;
};
struct ListArray {
  ArrayPtr offsets;
  uint64_t null_adjustment = 0;
  uint64_t num_items = 0;
};
struct StructArray {};
struct BinaryArray {
  ArrayPtr indices;
  ArrayPtr bytes;
  uint64_t null_adjustment = 0;
};
struct DictionaryArray {
  ArrayPtr indices;
  ArrayPtr items;
  uint32_t num_items = 0;
};
struct FsstArray {
  ArrayPtr binary;
  std::string symbol_table;
};
// The buffers that `inner` names mean nothing: all children lie in `buffer`.
struct PackedStructArray {
  std::vector<ArrayPtr> inner;
  BufferRef buffer;
};
struct BitpackedArray {
  uint64_t compressed_bits = 0;
  uint64_t uncompressed_bits = 0;
  BufferRef buffer;
  bool is_signed = false;
};
struct FixedSizeBinaryArray {
  ArrayPtr bytes;
  uint32_t byte_width = 0;
};
struct BitpackedForNonNegArray {
  uint64_t compressed_bits = 0;
  uint64_t uncompressed_bits = 0;
  BufferRef buffer;
};
struct ConstantArray {
  std::string value;
};
// A number of the oneof that files of 2.0 do not have; 0: the message is empty.
struct UnknownArray {
  uint32_t number = 0;
};

struct ArrayEncoding {
  std::variant<UnknownArray, FlatArray, NoNullsArray, SomeNullsArray, AllNullsArray,
               FixedSizeListArray, ListArray, StructArray, BinaryArray, DictionaryArray, FsstArray,
               PackedStructArray, BitpackedArray, FixedSizeBinaryArray, BitpackedForNonNegArray,
               ConstantArray>
      kind;
};

template <typename Kind>
ArrayPtr MakeArrayEncoding(Kind kind) {
  return std::make_shared<const ArrayEncoding>(ArrayEncoding{std::move(kind)});
}

arrow::Result<ArrayPtr> ParseArrayEncoding(std::span<const std::byte> message, Location where);

// The bytes that pylance writes for the same values.
std::string Serialize(const ArrayEncoding& encoding);

}  // namespace glaive::wire
