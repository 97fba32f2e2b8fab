#pragma once

#include <cstdint>
#include <vector>

#include "encoding/levels/leaf.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Which kinds of absence a layer has in the rows of a page.
struct LayerFacts {
  bool nulls = false;
  bool empties = false;  // lists

  bool operator==(const LayerFacts& other) const = default;
};

// The meaning of repetition and definition levels in a page. A definition level says at which layer
// a value stops being there, counted from the leaf outwards; 0 is a value. A repetition level says
// how many lists start anew with an entry: num_lists for a row, 0 for another item of a list.
struct LevelScheme {
  struct LayerLevels {
    uint16_t null = 0;  // 0: the layer has none
    uint16_t empty = 0;
  };

  std::vector<LayerLevels> layers;       // outermost first
  std::vector<wire::RepDefLayer> types;  // leaf first, as in the description
  uint16_t num_lists = 0;                // also the highest repetition level
  uint16_t max_def = 0;
  // For the rows and then the items of each list: an entry with a higher level has no slot there,
  // because it ended at a list further out.
  std::vector<uint16_t> group_tops;

  bool has_rep() const { return num_lists > 0; }
  bool has_def() const { return max_def > 0; }
  // An entry with a higher definition level has no slot among the values.
  uint16_t max_visible_def() const { return group_tops.back(); }
};

// `elsewhere` is what other pages of the column may have, or empty: a level for that is there as
// well.
LevelScheme MakeLevelScheme(const LeafPath& path, const std::vector<LayerFacts>& facts,
                            const std::vector<LayerFacts>& elsewhere = {});

// Of a column of several pages, outermost layer first: a struct above a list may be null in all of
// its pages or in none. Of a page without such nulls pylance's reader takes the struct's slots to
// be as many as there are values, once another page has some.
std::vector<LayerFacts> SharedFacts(const LeafPath& path, const std::vector<bool>& nullable);

}  // namespace glaive::encoding
