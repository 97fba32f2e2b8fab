#include "encoding/levels/level_survey.h"

#include <algorithm>
#include <bit>

#include <arrow/util/bitmap_ops.h>
#include <arrow/util/bitmap_reader.h>

#include "encoding/levels/level_stream.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kMaxRun = 255;

// How often a bit differs from the one before it, which for the first is `last`.
uint64_t CountChanges(const uint8_t* bits, int64_t begin, int64_t length, uint8_t* last) {
  uint64_t changes = 0;
  arrow::internal::BitmapWordReader<uint64_t> reader(bits, begin, length);
  uint64_t carry = *last;
  for (auto words = reader.words(); words > 0; --words) {
    const uint64_t word = reader.NextWord();
    changes += static_cast<uint64_t>(std::popcount(word ^ (word << 1 | carry)));
    carry = word >> 63;
  }
  for (auto bytes = reader.trailing_bytes(); bytes > 0; --bytes) {
    int valid_bits = 0;
    const uint8_t byte = reader.NextTrailingByte(valid_bits);
    for (int i = 0; i < valid_bits; ++i) {
      const uint64_t bit = byte >> i & 1;
      changes += bit ^ carry;
      carry = bit;
    }
  }
  *last = static_cast<uint8_t>(carry);
  return changes;
}

class Surveyor {
 public:
  Surveyor(std::span<const Nest> nests, const LeafPath& path)
      : nests_(nests), path_(path), first_item_layer_(path.layers.size()) {
    survey_.layers.resize(path.layers.size());
    scheme_ = MakeLevelScheme(path, std::vector(path.layers.size(), LayerFacts{true, true}));
    while (path.layers[first_item_layer_ - 1].kind == LayerKind::kItem) {
      if (--first_item_layer_ == 0) break;
    }
    last_valid_.assign(path.layers.size() - first_item_layer_, uint8_t{1});
  }

  LevelSurvey Run() && {
    for (const Nest& nest : nests_) survey_.num_rows += static_cast<uint64_t>(nest.num_rows);
    if (!scheme_.has_rep()) {
      for (const Nest& nest : nests_) AddRange(nest, nest.begin, nest.num_rows);
      survey_.num_entries = survey_.num_visible;
    } else {
      std::vector<bool> seen(scheme_.max_def + size_t{1});
      for (NestWalk walk(nests_, scheme_); walk.Next();) {
        for (const uint16_t def : walk.levels().def.first(walk.levels().def.size())) {
          seen[def] = true;
        }
        LookIntoLists(walk);
      }
      FinishGap();
      for (size_t i = 0; i < survey_.layers.size(); ++i) {
        const LevelScheme::LayerLevels& levels = scheme_.layers[i];
        survey_.layers[i].nulls |= levels.null != 0 && seen[levels.null];
        survey_.layers[i].empties |= levels.empty != 0 && seen[levels.empty];
      }
    }
    for (LeafRange& range : survey_.ranges) CountNulls(range);
    MarkMaskedLists();
    survey_.num_rep_runs += survey_.num_entries / kMaxRun;
    survey_.num_def_runs += survey_.num_entries / kMaxRun;
    return std::move(survey_);
  }

 private:
  // Lists are looked at one by one, their items only by number.
  void LookIntoLists(const NestWalk& walk) {
    const Nest& nest = walk.nest();
    const size_t group_index = nest.groups.size() - 2;
    const NestGroup& group = nest.groups[group_index];
    const NestLayer& list = nest.layers[group.list];
    LayerFacts& facts = survey_.layers[group.list];
    const uint16_t top = scheme_.group_tops[group_index];
    const std::vector<SlotRange>& slots = walk.slots();
    const uint16_t* defs = walk.levels().def.data();
    size_t range = 0;
    int64_t in_range = 0;
    for (size_t entry = 0; entry < walk.levels().def.size(); ++entry) {
      if (defs[entry] > top) {
        AddInvisible(defs[entry]);
        continue;
      }
      while (in_range == slots[range].length) {
        ++range;
        in_range = 0;
      }
      const int64_t slot = slots[range].begin + in_range++ + group.list_shift;
      const int64_t begin = list.offset(slot);
      const int64_t length = list.offset(slot + 1) - begin;
      const bool null = list.validity != nullptr && !arrow::bit_util::GetBit(list.validity, slot);
      if (defs[entry] != 0 || null || length == 0) {
        facts.nulls |= defs[entry] == 0 && null;
        facts.empties |= defs[entry] == 0 && !null;
        const LevelScheme::LayerLevels& levels = scheme_.layers[group.list];
        AddInvisible(defs[entry] != 0 ? defs[entry] : null ? levels.null : levels.empty);
      } else {
        FinishGap();
        AddRange(nest, list.child_base + begin, length);
        survey_.num_entries += static_cast<uint64_t>(length);
        survey_.num_rep_runs += length > 1 ? 2 : 0;
      }
    }
  }

  void AddInvisible(uint16_t level) {
    ++survey_.num_entries;
    survey_.num_def_runs += level != last_level_ ? 1 : 0;
    last_level_ = level;
    ++gap_;
  }

  void FinishGap() {
    survey_.max_gap = std::max(survey_.max_gap, gap_);
    survey_.num_def_runs += last_level_ != 0 ? 1 : 0;
    last_level_ = 0;
    gap_ = 0;
  }

  void AddRange(const Nest& nest, int64_t begin, int64_t length) {
    if (length == 0) return;
    survey_.num_visible += static_cast<uint64_t>(length);
    std::vector<LeafRange>& ranges = survey_.ranges;
    if (!ranges.empty() && ranges.back().nest == &nest &&
        ranges.back().begin + ranges.back().length == begin) {
      ranges.back().length += length;
    } else {
      ranges.push_back({.nest = &nest, .begin = begin, .length = length});
    }
  }

  void CountNulls(LeafRange& range) {
    const std::vector<SlotMask>& masks = range.nest->groups.back().masks;
    auto mask = masks.begin();
    for (size_t layer = first_item_layer_; layer < survey_.layers.size(); ++layer) {
      uint8_t& last_valid = last_valid_[layer - first_item_layer_];
      if (mask == masks.end() || mask->layer != layer) {
        survey_.num_def_runs += 1u - last_valid;
        last_valid = 1;
        continue;
      }
      const int64_t begin = range.begin + mask->shift;
      const int64_t valid = arrow::internal::CountSetBits(mask->bits, begin, range.length);
      if (valid < range.length) {
        range.has_nulls = true;
        survey_.layers[layer].nulls = true;
        survey_.num_nulls += static_cast<uint64_t>(range.length - valid);
      }
      survey_.num_def_runs += CountChanges(mask->bits, begin, range.length, &last_valid);
      ++mask;
    }
  }

  // A list in a null struct has no level of its own, but counts as a null one: readers take the
  // slots of a list layer without nulls for those of its struct.
  void MarkMaskedLists() {
    bool masked = false;
    for (size_t i = 0; i < survey_.layers.size(); ++i) {
      if (path_.layers[i].kind == LayerKind::kList) {
        survey_.layers[i].nulls |= masked;
        masked = false;
      } else {
        masked |= survey_.layers[i].nulls;
      }
    }
  }

  std::span<const Nest> nests_;
  const LeafPath& path_;
  LevelScheme scheme_;  // tells every kind of absence from every other
  LevelSurvey survey_;
  size_t first_item_layer_;          // of those behind the innermost list
  std::vector<uint8_t> last_valid_;  // of each, the slot looked at last
  uint64_t gap_ = 0;
  uint16_t last_level_ = 0;  // of the gap
};

}  // namespace

LevelSurvey SurveyLevels(std::span<const Nest> nests, const LeafPath& path) {
  return Surveyor(nests, path).Run();
}

}  // namespace glaive::encoding
