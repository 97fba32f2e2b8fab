#include "encoding/levels/level_stream.h"

#include <algorithm>
#include <utility>

namespace glaive::encoding {
namespace {

constexpr int64_t kBatchEntries = 64 * 1024;

// Most lists are short, and a few stores that may go too far are faster than a loop over what is to
// be stored. Buffers have room for that.
constexpr int64_t kShort = 16;

uint16_t* Fill(uint16_t* out, int64_t count, uint16_t level) {
  if (count > kShort) return std::fill_n(out, count, level);
  for (int64_t i = 0; i < kShort; ++i) out[i] = level;
  return out + count;
}

// The definition levels of slots that are there as far as the layers outside of the group go.
void MarkNulls(const LevelScheme& scheme, const NestGroup& group, int64_t begin, int64_t length,
               uint16_t* def) {
  Fill(def, length, 0);
  for (size_t i = group.masks.size(); i-- > 0;) {  // what is further out wins
    const SlotMask& mask = group.masks[i];
    const uint16_t level = scheme.layers[mask.layer].null;
    if (level == 0) continue;
    VisitNulls(mask.bits, begin + mask.shift, length, [&](int64_t at) { def[at] = level; });
  }
}

void AppendSlots(std::vector<SlotRange>& slots, int64_t begin, int64_t length) {
  if (!slots.empty() && slots.back().begin + slots.back().length == begin) {
    slots.back().length += length;
  } else {
    slots.push_back({begin, length});
  }
}

// Appends the entries of `in`, the entry of each list that has items replaced by those of the
// items. `group` is the one that ends in these lists, `slots` are its slots.
void ExpandLists(const Nest& nest, size_t group_index, const LevelScheme& scheme, const Levels& in,
                 const std::vector<SlotRange>& slots, Levels& out,
                 std::vector<SlotRange>* out_slots) {
  const NestGroup& group = nest.groups[group_index];
  const NestGroup& items = nest.groups[group_index + 1];
  const NestLayer& list = nest.layers[group.list];
  const LevelScheme::LayerLevels& levels = scheme.layers[group.list];
  const uint16_t top = scheme.group_tops[group_index];
  const auto item_rep = static_cast<uint16_t>(scheme.num_lists - 1 - group_index);
  const bool has_def = scheme.has_def();

  size_t capacity = in.rep.size() + kShort;
  for (const SlotRange& range : slots) {
    if (range.length == 0) continue;
    const int64_t first = range.begin + group.list_shift;
    capacity += static_cast<size_t>(list.offset(first + range.length) - list.offset(first));
  }
  uint16_t* const rep_begin = out.rep.PrepareAppend(capacity);
  uint16_t* const def_begin = has_def ? out.def.PrepareAppend(capacity) : nullptr;
  uint16_t* rep = rep_begin;
  uint16_t* def = def_begin;
  const uint16_t* in_def = has_def ? in.def.data() : nullptr;
  size_t range = 0;
  int64_t in_range = 0;
  for (size_t entry = 0; entry < in.rep.size(); ++entry) {
    const uint16_t entry_def = has_def ? in_def[entry] : uint16_t{0};
    *rep++ = in.rep.data()[entry];
    if (entry_def > top) {
      *def++ = entry_def;
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
    if (entry_def != 0 || null || length == 0) {
      *def++ = entry_def != 0 ? entry_def : null ? levels.null : levels.empty;
      continue;
    }
    rep = Fill(rep, length - 1, item_rep);
    if (has_def) {
      MarkNulls(scheme, items, list.child_base + begin, length, def);
      def += length;
    }
    if (out_slots != nullptr) AppendSlots(*out_slots, list.child_base + begin, length);
  }
  out.rep.CommitAppend(static_cast<size_t>(rep - rep_begin));
  if (has_def) out.def.CommitAppend(static_cast<size_t>(def - def_begin));
}

}  // namespace

uint16_t* LevelBuffer::PrepareAppend(size_t count) {
  if (begin_ == end_) Clear();
  if (capacity_ - end_ < count) {
    const size_t held = size();
    const size_t wanted = held + count;
    if (wanted > capacity_) {
      capacity_ = std::max(wanted, 2 * capacity_);
      auto grown = std::make_unique_for_overwrite<uint16_t[]>(capacity_);
      if (held > 0) std::memcpy(grown.get(), data(), held * sizeof(uint16_t));
      levels_ = std::move(grown);
    } else {
      std::memmove(levels_.get(), data(), held * sizeof(uint16_t));
    }
    begin_ = 0;
    end_ = held;
  }
  return levels_.get() + end_;
}

bool NestWalk::Next() {
  if (nest_ < nests_.size()) row_ += num_rows_;
  num_rows_ = 0;
  while (nest_ < nests_.size() && row_ == nests_[nest_].num_rows) {
    ++nest_;
    row_ = 0;
  }
  if (nest_ == nests_.size()) return false;
  num_rows_ = RowsOfBatch();
  StartRows();
  for (size_t group = 0; group + 2 < nest().groups.size(); ++group) {
    expanded_.Clear();
    expanded_slots_.clear();
    ExpandLists(nest(), group, scheme_, levels_, slots_, expanded_, &expanded_slots_);
    std::swap(levels_, expanded_);
    std::swap(slots_, expanded_slots_);
  }
  return true;
}

int64_t NestWalk::RowsOfBatch() const {
  int64_t num_rows = std::min(nest().num_rows - row_, kBatchEntries);
  if (nest().groups.size() == 1) return num_rows;
  for (; num_rows > 1; num_rows = (num_rows + 1) / 2) {
    const auto [begin, end] = LeafSpan(nest(), row_, num_rows);
    if (end - begin <= kBatchEntries) break;
  }
  return num_rows;
}

// The entries of rows before any list is looked into: one each.
void NestWalk::StartRows() {
  const auto count = static_cast<size_t>(num_rows_);
  levels_.Clear();
  if (scheme_.has_rep()) {
    std::fill_n(levels_.rep.PrepareAppend(count), count, scheme_.num_lists);
    levels_.rep.CommitAppend(count);
  }
  if (scheme_.has_def()) {
    uint16_t* def = levels_.def.PrepareAppend(count + kShort);
    MarkNulls(scheme_, nest().groups[0], nest().begin + row_, num_rows_, def);
    levels_.def.CommitAppend(count);
  }
  slots_.assign(1, {nest().begin + row_, num_rows_});
}

bool LevelStream::Next(Levels& out) {
  if (!walk_.Next()) return false;
  const size_t num_groups = walk_.nest().groups.size();
  if (num_groups > 1) {
    ExpandLists(walk_.nest(), num_groups - 2, scheme_, walk_.levels(), walk_.slots(), out, nullptr);
    return true;
  }
  const LevelBuffer& def = walk_.levels().def;
  if (def.size() > 0) {
    std::memcpy(out.def.PrepareAppend(def.size()), def.data(), def.size() * sizeof(uint16_t));
    out.def.CommitAppend(def.size());
  }
  return true;
}

}  // namespace glaive::encoding
