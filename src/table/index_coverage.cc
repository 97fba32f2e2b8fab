#include "table/index_coverage.h"

#include <algorithm>
#include <vector>

#include "table/roaring.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::FieldView;

constexpr uint32_t kIndices = 1;         // IndexSection.indices
constexpr uint32_t kFragmentBitmap = 5;  // IndexMetadata.fragment_bitmap

std::vector<RowRange> Without(const std::vector<RowRange>& ranges, std::vector<uint64_t> ids) {
  std::ranges::sort(ids);
  std::vector<RowRange> left;
  auto id = ids.begin();
  for (RowRange range : ranges) {
    while (id != ids.end() && *id < range.begin) ++id;
    for (; id != ids.end() && *id < range.end; ++id) {
      if (range.begin < *id) left.push_back({range.begin, *id});
      range.begin = *id + 1;
    }
    if (range.begin < range.end) left.push_back(range);
  }
  return left;
}

// The entry with another bitmap and every other byte as it was.
arrow::Result<std::string> WithBitmap(const FieldView& entry, const std::string& bitmap) {
  std::string out;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(entry.payload, entry.where, "IndexMetadata", [&](const FieldView& field) {
        if (field.key() == Bytes(kFragmentBitmap)) {
          wire::AppendBytes(kFragmentBitmap, bitmap, &out);
        } else {
          out += field.raw;
        }
        return arrow::Status::OK();
      }));
  return out;
}

}  // namespace

arrow::Result<std::string> WithoutCoverage(const std::string& index_section,
                                           std::span<const uint64_t> fragment_ids,
                                           std::optional<std::span<const int32_t>> fields,
                                           Location where) {
  std::string out;
  const auto add = [&](const FieldView& field) -> arrow::Status {
    if (field.key() != Bytes(kIndices)) {
      out += field.raw;
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const wire::IndexEntry entry,
                          wire::ParseIndexEntry(field.payload, field.where));
    if (entry.name == wire::kFragmentReuseIndexName) {
      return Unsupported("changing fragments of a table with a fragment reuse index");
    }
    const bool concerned =
        entry.name != wire::kMemWalIndexName &&
        (!fields || std::ranges::find_first_of(entry.fields, *fields) != entry.fields.end());
    if (!concerned) {
      out += field.raw;
      return arrow::Status::OK();
    }
    if (entry.fragment_bitmap.empty()) {
      return Unsupported(
          "changing fragments of a table whose index '{}' does not say which it "
          "covers",
          entry.name);
    }
    ARROW_ASSIGN_OR_RAISE(const auto covered,
                          ParseRoaring(wire::AsBytes(entry.fragment_bitmap), field.where));
    const auto left = Without(covered, {fragment_ids.begin(), fragment_ids.end()});
    ARROW_ASSIGN_OR_RAISE(const std::string changed, WithBitmap(field, SerializeRoaring(left)));
    wire::AppendBytes(kIndices, changed, &out);
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(index_section), where, "IndexSection", add));
  return out;
}

}  // namespace glaive::table
