#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/leaf/builder.h"
#include "wire/encodings_v2_1.h"

// Repetition and definition levels of a page, and what they say about the layers of its leaf.
//
// A level is a u16 for each entry. Definition levels count from the leaf outwards: 0 is a value
// that is there; each layer that has nulls (or empty lists) in this page then takes the next level
// (or two: null, then empty). Repetition levels: the number of list layers starts a new row, 1 a
// new list of the innermost layer, 0 goes on with one.
namespace glaive::encoding {

// How one layer reads a definition level.
struct LevelLayer {
  bool is_list = false;
  uint16_t null_level = 0;   // of a list; 0: it has none
  uint16_t empty_level = 0;  // of a list; 0: it has none
  uint16_t valid_max = 0;    // items: up to here valid; lists: up to here with items
  uint16_t slot_max = 0;     // beyond, the entry is a null or empty list further out: no slot here
  bool all_valid = true;     // no level is this layer's own
};

// Entries: pointers may be null where the page has no such levels, which reads as zeros.
struct LevelSpan {
  uint16_t* repetition = nullptr;
  uint16_t* definition = nullptr;
  size_t size = 0;
};

// The layers of one page, checked against the leaf's.
class PageLevels {
 public:
  static arrow::Result<PageLevels> Validate(std::span<const wire::RepDefLayer> layers,
                                            const LeafPath& path, Location where);

  bool has_lists() const { return max_repetition_ > 0; }
  uint16_t max_repetition() const { return max_repetition_; }
  uint16_t max_definition() const { return max_definition_; }
  // Entries up to here have a slot in the value array, even if it is null.
  uint16_t max_visible() const { return layers_.front().slot_max; }
  bool all_visible() const { return max_visible() >= max_definition_; }

  // Entries of `levels` that have a value slot.
  size_t CountVisible(const LevelSpan& levels) const;

  // Appends entries to all layers of the leaf. Entries come in order, cut anywhere; the values of
  // the visible ones are appended separately. Uses up the levels.
  arrow::Status Unravel(LevelSpan levels, LeafBuilder::State& leaf, Location where) const;

 private:
  arrow::Status UnravelItems(const LevelLayer& layer, const LevelSpan& levels,
                             LayerBuilder& builder) const;

  std::vector<LevelLayer> layers_;  // leaf first
  uint16_t max_repetition_ = 0;
  uint16_t max_definition_ = 0;
};

}  // namespace glaive::encoding
