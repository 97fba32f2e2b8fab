#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"

namespace glaive::table {

// Ids of fragments, as an index says which it covers: few ranges for many ids.
class FragmentSet {
 public:
  FragmentSet() = default;

  // A portable Roaring bitmap.
  static arrow::Result<FragmentSet> Parse(std::string_view bitmap, Location where);
  std::string Serialize() const;

  bool empty() const { return ranges_.empty(); }
  bool Contains(uint64_t id) const;
  bool ContainsAll(std::span<const uint64_t> ids) const;
  bool ContainsAny(std::span<const uint64_t> ids) const;

  // In any order; REQUIRES: ids below 2^32.
  void Add(std::vector<uint64_t> ids);
  void Remove(std::vector<uint64_t> ids);

  const std::vector<RowRange>& ranges() const { return ranges_; }

  bool operator==(const FragmentSet&) const = default;

 private:
  std::vector<RowRange> ranges_;  // ascending, not touching
};

}  // namespace glaive::table
