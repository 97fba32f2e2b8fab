#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "encoding/levels/level_scheme.h"
#include "encoding/levels/nest.h"

namespace glaive::encoding {

// A growing array of levels that is taken from at its front.
class LevelBuffer {
 public:
  size_t size() const { return end_ - begin_; }
  const uint16_t* data() const { return levels_.get() + begin_; }
  std::span<const uint16_t> first(size_t count) const { return {data(), count}; }

  // Room for `count` more; CommitAppend says how much of it was filled.
  uint16_t* PrepareAppend(size_t count);
  void CommitAppend(size_t count) { end_ += count; }
  void RemoveFront(size_t count) { begin_ += count; }
  void Clear() { begin_ = end_ = 0; }

 private:
  std::unique_ptr<uint16_t[]> levels_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Entries of the levels. One of the two arrays stays empty where the scheme has no such levels.
struct Levels {
  LevelBuffer rep;
  LevelBuffer def;

  size_t size() const { return rep.size() > 0 ? rep.size() : def.size(); }
  void Clear() {
    rep.Clear();
    def.Clear();
  }
  void RemoveFront(size_t count) {
    if (rep.size() > 0) rep.RemoveFront(count);
    if (def.size() > 0) def.RemoveFront(count);
  }
};

// Consecutive slots of a group of layers.
struct SlotRange {
  int64_t begin = 0;
  int64_t length = 0;
};

// Goes over rows, a bounded number of entries at a time (or one row), down to the slots of the
// innermost lists; without lists, to the rows. Borrows the nests and the scheme.
class NestWalk {
 public:
  NestWalk(std::span<const Nest> nests, const LevelScheme& scheme)
      : nests_(nests), scheme_(scheme) {}

  // False at the end. What the accessors say holds until the next call.
  bool Next();

  const Nest& nest() const { return nests_[nest_]; }
  const Levels& levels() const { return levels_; }
  const std::vector<SlotRange>& slots() const { return slots_; }  // of entries that have one

 private:
  int64_t RowsOfBatch() const;
  void StartRows();

  std::span<const Nest> nests_;
  const LevelScheme& scheme_;
  size_t nest_ = 0;
  int64_t row_ = 0;       // of the nest
  int64_t num_rows_ = 0;  // of the batch, which begins at row_
  Levels levels_;
  Levels expanded_;
  std::vector<SlotRange> slots_;
  std::vector<SlotRange> expanded_slots_;
};

// Makes the levels of some rows. Borrows the nests and the scheme.
class LevelStream {
 public:
  LevelStream(std::span<const Nest> nests, const LevelScheme& scheme)
      : walk_(nests, scheme), scheme_(scheme) {}

  // Appends the next entries; false when there were none left.
  bool Next(Levels& out);

 private:
  NestWalk walk_;
  const LevelScheme& scheme_;
};

}  // namespace glaive::encoding
