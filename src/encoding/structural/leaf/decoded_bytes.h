#pragma once

#include <cstdint>

#include "encoding/structural/leaf/shape.h"

namespace glaive::encoding {

// What a page tells of its rows before they are decoded, exactly or about.
struct DecodedPage {
  uint64_t num_rows = 0;
  uint64_t num_slots = 0;   // of the leaf, as many as there are values
  uint64_t text_bytes = 0;  // of variable values, all together
};

// About what the rows of a page take in Arrow's layout, validity aside. The one estimate that units
// of reading are cut by.
uint64_t DecodedBytes(const DecodedPage& page, const LeafShape& shape, uint64_t num_lists);

// How much comes out of a compressed byte, about: what texts of words give. Where much more does,
// reading tells (FileReader).
inline constexpr uint64_t kGeneralFactor = 3;
inline constexpr uint64_t kFsstFactor = 2;

}  // namespace glaive::encoding
