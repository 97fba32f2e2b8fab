#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoding/levels/level_scheme.h"
#include "encoding/levels/nest.h"

namespace glaive::encoding {

struct SegmentLimits {
  uint64_t max_gap = 0;      // entries in a row without a value; more only in small segments
  uint64_t max_sparse = 0;   // entries of a segment that has such a gap
  uint64_t max_entries = 0;  // of any segment
};

// Cuts rows into as few segments as keep the limits, by the rows alone: one that does not fit into
// the open segment opens the next. A single row may pass a limit.
std::vector<uint64_t> CutRows(std::span<const Nest> nests, const LevelScheme& scheme,
                              const SegmentLimits& limits);

// Rows [begin, begin + num_rows) of the nests.
std::vector<Nest> SliceNests(std::span<const Nest> nests, uint64_t begin, uint64_t num_rows);

}  // namespace glaive::encoding
