#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/buffer_builder.h>
#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/leaf/validity_builder.h"
#include "encoding/structural/leaf/values.h"

namespace glaive::encoding {

// A layer above the leaf, or the leaf's own, while it grows.
struct LayerBuilder {
  bool is_list = false;
  bool large_offsets = false;
  ValidityBuilder validity;      // its length is the number of slots
  arrow::BufferBuilder offsets;  // of lists: where each begins, in slots of the layer below

  int64_t num_slots() const { return validity.length(); }
};

// Grows LeafRows page by page: every page appends to the layers and to the values.
class LeafBuilder {
 public:
  // Borrows the path. Values of more bytes than `most_bytes` are TooLarge.
  explicit LeafBuilder(const LeafPath& path, uint64_t most_bytes = UINT64_MAX);
  ~LeafBuilder();

  arrow::Result<LeafRows> Finish() &&;

  // Layers outermost first, the leaf's own last. REQUIRES: a page decoder was made for the path
  struct State {
    const LeafPath& path;
    std::vector<LayerBuilder> layers;
    LeafValues values;
  };
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace glaive::encoding
