// Pages of dense structure as the layouts of 2.2 that have the same buffers, and back.
#include <algorithm>
#include <limits>
#include <utility>

#include "wire/encodings_v2_3.h"

namespace glaive::wire {
namespace {

constexpr size_t kMaxScalar = 32;

struct ValuesReader {
  const DenseStructure& dense;
  Location where;

  using Made = arrow::Result<PageLayout>;

  Made operator()(const UnknownPlane& values) const {
    if (values.number == 0) return Corrupt(where, "a planar page without values");
    return Unsupported(where, "a plane of values of kind {}", values.number);
  }
  Made operator()(const ChunkedValues& values) const {
    if (!values.has_levels) return Corrupt(where, "a dense page of chunks that tell no levels");
    ARROW_ASSIGN_OR_RAISE(auto layout, ToMiniBlockLayout(values, dense.layers, where));
    return PageLayout(std::move(layout));
  }
  Made operator()(const ZippedValues& values) const {
    if (!values.has_levels) return Corrupt(where, "a dense page of entries that tell no levels");
    ARROW_ASSIGN_OR_RAISE(auto layout, ToFullZipLayout(values, dense.layers, where));
    return PageLayout(std::move(layout));
  }
  Made operator()(const ConstantValue& value) const {
    const bool all_valid = std::ranges::all_of(
        dense.layers, [](RepDefLayer layer) { return layer == RepDefLayer::kAllValidItem; });
    if (!all_valid || value.scalar.empty() || value.scalar.size() > kMaxScalar) {
      return Corrupt(where, "a dense page of one value of {} bytes; 1 to {}, and no level expected",
                     value.scalar.size(), kMaxScalar);
    }
    return PageLayout(ConstantLayout{.layers = dense.layers, .inline_value = value.scalar});
  }
  Made operator()(const NoValues&) const {
    if (dense.layers != std::vector{RepDefLayer::kNullableItem}) {
      return Corrupt(where, "a dense page without values that has levels");
    }
    return PageLayout(ConstantLayout{.layers = dense.layers});
  }
  Made operator()(const IndexedValues&) const {
    return Corrupt(where, "a dense page of indexed values; a sparse one expected");
  }
};

struct DenseWriter {
  PlanarLayout operator()(const UnknownLayout&) const { return {}; }
  PlanarLayout operator()(const MiniBlockLayout& layout) const {
    return {.structure = DenseStructure{layout.layers},
            .values = ChunkedValues{.compression = layout.value_compression,
                                    .has_levels = true,
                                    .repetition = layout.rep_compression,
                                    .definition = layout.def_compression,
                                    .repetition_index_depth = layout.repetition_index_depth,
                                    .dictionary = layout.dictionary,
                                    .num_dictionary_items = layout.num_dictionary_items,
                                    .num_buffers = layout.num_buffers,
                                    .num_items = layout.num_items}};
  }
  PlanarLayout operator()(const FullZipLayout& layout) const {
    return {.structure = DenseStructure{layout.layers},
            .values = ZippedValues{.compression = layout.value_compression,
                                   .has_levels = true,
                                   .bits_repetition = layout.bits_rep,
                                   .bits_definition = layout.bits_def,
                                   .bits_per_value = layout.bits_per_value,
                                   .bits_per_offset = layout.bits_per_offset,
                                   .num_items = layout.num_items,
                                   .num_visible_items = layout.num_visible_items}};
  }
  PlanarLayout operator()(const ConstantLayout& layout) const {
    PlanarLayout planar{.structure = DenseStructure{layout.layers}, .values = NoValues{}};
    if (layout.inline_value) planar.values = ConstantValue{*layout.inline_value};
    return planar;
  }
};

}  // namespace

arrow::Result<MiniBlockLayout> ToMiniBlockLayout(const ChunkedValues& values,
                                                 std::vector<RepDefLayer> layers, Location where) {
  if (values.compression == nullptr) return Corrupt(where, "a page of chunks without an encoding");
  if ((values.dictionary != nullptr) != (values.num_dictionary_items > 0)) {
    return Corrupt(where, "a page with {} items of a dictionary{}", values.num_dictionary_items,
                   values.dictionary == nullptr ? " that it has not" : "");
  }
  return MiniBlockLayout{.rep_compression = values.repetition,
                         .def_compression = values.definition,
                         .value_compression = values.compression,
                         .dictionary = values.dictionary,
                         .num_dictionary_items = values.num_dictionary_items,
                         .layers = std::move(layers),
                         .num_buffers = values.num_buffers,
                         .repetition_index_depth = values.repetition_index_depth,
                         .num_items = values.num_items,
                         .has_large_chunk = true};
}

arrow::Result<FullZipLayout> ToFullZipLayout(const ZippedValues& values,
                                             std::vector<RepDefLayer> layers, Location where) {
  if (values.compression == nullptr) return Corrupt(where, "a page of entries without an encoding");
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (values.num_items > kMost || values.num_visible_items > kMost) {
    return Corrupt(where, "a page of {} entries; at most {} expected", values.num_items, kMost);
  }
  return FullZipLayout{.bits_rep = values.bits_repetition,
                       .bits_def = values.bits_definition,
                       .bits_per_value = values.bits_per_value,
                       .bits_per_offset = values.bits_per_offset,
                       .num_items = static_cast<uint32_t>(values.num_items),
                       .num_visible_items = static_cast<uint32_t>(values.num_visible_items),
                       .value_compression = values.compression,
                       .layers = std::move(layers)};
}

arrow::Result<PageLayout> ToPageLayout(const PlanarLayout& layout, Location where) {
  const auto* dense = std::get_if<DenseStructure>(&layout.structure);
  if (dense == nullptr) return Corrupt(where, "a planar page whose structure is not dense");
  return std::visit(ValuesReader{*dense, where}, layout.values);
}

PlanarLayout ToPlanarLayout(const PageLayout& layout) { return std::visit(DenseWriter{}, layout); }

std::string SerializePage(const PageLayout& layout, FileVersion version) {
  return version >= FileVersion::k2_3 ? Serialize(ToPlanarLayout(layout)) : Serialize(layout);
}

std::string_view PageTypeUrl(FileVersion version) {
  return version >= FileVersion::k2_3 ? "/lance.encodings23.PlanarLayout"
                                      : "/lance.encodings21.PageLayout";
}

}  // namespace glaive::wire
