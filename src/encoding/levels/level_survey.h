#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoding/levels/level_scheme.h"
#include "encoding/levels/nest.h"

namespace glaive::encoding {

// Consecutive leaf slots of one array that are stored one after the other.
struct LeafRange {
  const Nest* nest = nullptr;
  int64_t begin = 0;  // a slot of the nest's last group
  int64_t length = 0;
  bool has_nulls = false;
};

// What one look at the nesting of some rows tells, before any level is made.
struct LevelSurvey {
  std::vector<LayerFacts> layers;  // outermost first
  std::vector<LeafRange> ranges;   // the visible slots, in order
  uint64_t num_rows = 0;
  uint64_t num_entries = 0;   // of the levels
  uint64_t num_visible = 0;   // slots among the values
  uint64_t num_nulls = 0;     // at most so many of the visible slots are null
  uint64_t max_gap = 0;       // the most invisible entries in a row
  uint64_t num_rep_runs = 0;  // about; of at most 255 equal levels each
  uint64_t num_def_runs = 0;

  bool all_visible() const { return num_entries == num_visible; }
};

// Borrows the nests.
LevelSurvey SurveyLevels(std::span<const Nest> nests, const LeafPath& path);

}  // namespace glaive::encoding
