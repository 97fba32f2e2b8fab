#include <algorithm>
#include <utility>

#include "core/error.h"
#include "glaive/metadata.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"

namespace glaive {

arrow::Result<std::string> MakeBitmap(std::vector<uint32_t> values) {
  std::ranges::sort(values);
  if (const auto twice = std::ranges::adjacent_find(values); twice != values.end()) {
    return InvalidInput("a set has {} twice", *twice);
  }
  return table::SerializeRoaring(table::RangesOf(values));
}

arrow::Result<std::vector<uint32_t>> ReadBitmap(std::string_view bitmap) {
  constexpr Location kHere = {"(bitmap)"};
  // More than fragments of a manifest, or rows of a fragment. A few bytes can name 2^32.
  constexpr uint64_t kMostValues = uint64_t{1} << 28;
  ARROW_ASSIGN_OR_RAISE(const auto ranges, table::ParseRoaring(wire::AsBytes(bitmap), kHere));
  if (const uint64_t count = CountRows(ranges); count > kMostValues) {
    return Unsupported(kHere, "a set of {} numbers", count);
  }
  std::vector<uint32_t> values;
  for (const RowRange& range : ranges) {
    for (uint64_t value = range.begin; value < range.end; ++value) {
      values.push_back(static_cast<uint32_t>(value));
    }
  }
  return values;
}

}  // namespace glaive
