#include "encoding/structural/leaf/builder.h"

#include <utility>

namespace glaive::encoding {
namespace {

arrow::Result<LayerRows> FinishLayer(LayerBuilder& layer, int64_t num_children) {
  LayerRows rows;
  rows.num_slots = layer.num_slots();
  rows.null_count = layer.validity.null_count();
  ARROW_ASSIGN_OR_RAISE(rows.validity, layer.validity.Finish());
  if (!layer.is_list) return rows;
  if (layer.large_offsets) {
    ARROW_RETURN_NOT_OK(layer.offsets.Append(&num_children, sizeof(num_children)));
  } else {
    const auto end = static_cast<int32_t>(num_children);
    ARROW_RETURN_NOT_OK(layer.offsets.Append(&end, sizeof(end)));
  }
  ARROW_ASSIGN_OR_RAISE(rows.offsets, layer.offsets.Finish(/*shrink_to_fit=*/false));
  return rows;
}

}  // namespace

LeafBuilder::LeafBuilder(const LeafPath& path, uint64_t most_bytes) {
  // A leaf that cannot be read never gets as far as rows: its decoder fails, or Finish does.
  state_.reset(
      new State{path, {}, LeafValues(ShapeOf(*path.type).ValueOr(LeafShape{}), most_bytes)});
  for (const Layer& layer : path.layers) {
    LayerBuilder& builder = state_->layers.emplace_back();
    builder.is_list = layer.kind == LayerKind::kList;
    builder.large_offsets = layer.large_offsets;
  }
}

LeafBuilder::~LeafBuilder() = default;

arrow::Result<LeafRows> LeafBuilder::Finish() && {
  ARROW_RETURN_NOT_OK(ShapeOf(*state_->path.type).status());
  std::vector<LayerBuilder>& layers = state_->layers;
  LeafRows rows;
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(rows.layers.emplace_back(),
                          FinishLayer(layers[i], layers[i + 1].num_slots()));
  }
  ARROW_ASSIGN_OR_RAISE(
      rows.values, std::move(state_->values).Finish(state_->path.type, layers.back().validity));
  return rows;
}

}  // namespace glaive::encoding
