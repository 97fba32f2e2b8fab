#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "wire/encodings_v2_1.h"

// How a page of a 2.3 file is encoded: PlanarLayout messages as plain structs. A page has a plane
// of structure, which leads from rows to slots of the leaf, and one of values. Parsing says only
// that the bytes are such a message.
namespace glaive::wire {

// Rows are told by levels, as in 2.1 and 2.2.
struct DenseStructure {
  std::vector<RepDefLayer> layers;  // leaf first
};

// Which slots of a layer are null: the positions are of the null ones, or of the valid ones.
enum class SparseMeaning : uint32_t { kUnspecified = 0, kNullPositions = 1, kValidPositions = 2 };

struct SparseValidity {
  SparseMeaning meaning = SparseMeaning::kUnspecified;
  EncodingPtr positions;  // null: absent, which no writer has
  uint64_t num_positions = 0;
};
struct SparseItemLayer {
  SparseValidity validity;
};
struct SparseListLayer {
  uint64_t num_child_slots = 0;
  EncodingPtr non_empty_positions;  // null: absent
  uint64_t num_non_empty_positions = 0;
  EncodingPtr counts;  // null: absent
  SparseValidity validity;
};
struct SparseFixedSizeListLayer {
  uint64_t dimension = 0;
  SparseValidity validity;
};
struct UnknownSparseLayer {};
using SparseLayer =
    std::variant<UnknownSparseLayer, SparseItemLayer, SparseListLayer, SparseFixedSizeListLayer>;

// Each layer maps its slots to those of the next.
struct SparseStructure {
  std::vector<SparseLayer> layers;  // outermost first
};

struct ChunkedValues {
  EncodingPtr compression;  // null: absent
  bool has_levels = false;  // dense structure alone has them
  EncodingPtr repetition;   // null: none
  EncodingPtr definition;
  uint32_t repetition_index_depth = 0;
  EncodingPtr dictionary;  // null: none
  uint64_t num_dictionary_items = 0;
  uint64_t num_buffers = 0;
  uint64_t num_items = 0;
};
struct ZippedValues {
  EncodingPtr compression;  // null: absent
  bool has_levels = false;
  uint32_t bits_repetition = 0;
  uint32_t bits_definition = 0;
  std::optional<uint32_t> bits_per_value;
  std::optional<uint32_t> bits_per_offset;
  uint64_t num_items = 0;
  uint64_t num_visible_items = 0;
};
struct ConstantValue {
  std::string scalar;
};
struct NoValues {};
// Indices of all slots, and the items that they number.
struct IndexedValues {
  EncodingPtr indices;  // null: absent
  ZippedValues items;
};
struct UnknownPlane {
  uint32_t number = 0;  // 0: there is none
};

struct PlanarLayout {
  std::variant<UnknownPlane, DenseStructure, SparseStructure> structure;
  std::variant<UnknownPlane, ChunkedValues, ZippedValues, ConstantValue, NoValues, IndexedValues>
      values;
};

arrow::Result<PlanarLayout> ParsePlanarLayout(std::span<const std::byte> message, Location where);
std::string Serialize(const PlanarLayout& layout);

// The layout of 2.2 that a page of dense structure has the buffers of. Corrupt for what is not
// dense, or what no such layout says.
arrow::Result<PageLayout> ToPageLayout(const PlanarLayout& layout, Location where);

// The reverse. REQUIRES: large chunks; a constant page without buffers
PlanarLayout ToPlanarLayout(const PageLayout& layout);

// Values of a full-zip page, or of a mini-block page, that has the levels of `layers`.
arrow::Result<FullZipLayout> ToFullZipLayout(const ZippedValues& values,
                                             std::vector<RepDefLayer> layers, Location where);
arrow::Result<MiniBlockLayout> ToMiniBlockLayout(const ChunkedValues& values,
                                                 std::vector<RepDefLayer> layers, Location where);

// The message of a page in a file of some version, and the URL of its type.
std::string SerializePage(const PageLayout& layout, FileVersion version);
std::string_view PageTypeUrl(FileVersion version);

}  // namespace glaive::wire
