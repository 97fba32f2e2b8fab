#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>

#include "encoding/structural/full_zip/encoder.h"
#include "encoding/structural/mini_block/value_chunks.h"

namespace glaive::encoding {

// Fixed-size lists of numbers, which are values of one leaf: the list's own validity is that of the
// slot, what is null inside of it goes with the values, as one bitmap per layer that has nulls.
struct FixedSizeListShape {
  struct Layer {
    int64_t items_per_list = 0;
    int64_t items_per_value = 0;  // of all lists down to this one
    bool has_validity = false;    // some of its items are null
  };
  std::vector<Layer> layers;  // outermost first
  int64_t item_bytes = 0;

  int64_t value_bytes() const { return item_bytes * layers.back().items_per_value; }
  bool has_validity() const;
  wire::EncodingPtr Describe() const;
};

arrow::Result<FixedSizeListShape> FixedSizeListShapeOf(const arrow::DataType& type,
                                                       const LevelSurvey& survey);

// For shapes that have validity. The ranges and the survey are borrowed by what these make.
std::unique_ptr<ValueChunks> MakeFixedSizeListChunks(const LevelSurvey& survey,
                                                     std::span<const FixedRange> ranges,
                                                     FixedSizeListShape shape);
std::unique_ptr<ZippedValues> MakeZippedFixedSizeLists(const LevelSurvey& survey,
                                                       std::span<const FixedRange> ranges,
                                                       FixedSizeListShape shape);

}  // namespace glaive::encoding
