#include "table/versions/witness.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/xxhash64.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive {
namespace {

std::string Described(const BackingColumn& column) {
  std::string text = fmt::format("column {} of {}", column.column_index, column.path);
  if (column.base_id) text += fmt::format(" (base {})", *column.base_id);
  return text;
}

}  // namespace

std::string FieldWitness::ToString() const {
  std::string text = base ? Described(*base) : "no file";
  for (const BackingOverlay& overlay : overlays) {
    text += fmt::format(", under {} of version {}", Described(overlay.column),
                        overlay.committed_version);
  }
  return text;
}

namespace dataset {
namespace {

// Columns below 0 are no columns: a parent that old writers listed.
bool HasColumn(const wire::DataFile& file, size_t position, const std::set<int32_t>& fields) {
  return position < file.column_indices.size() && file.column_indices[position] >= 0 &&
         fields.contains(file.fields[position]);
}

BackingColumn ColumnAt(const wire::DataFile& file, size_t position) {
  return {.path = file.path,
          .base_id = file.base_id,
          .file_major_version = file.file_major_version,
          .file_minor_version = file.file_minor_version,
          .column_index = file.column_indices[position]};
}

std::vector<RowRange> Intersect(const std::vector<RowRange>& left,
                                const std::vector<RowRange>& right) {
  std::vector<RowRange> both;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const RowRange common{std::max(left[i].begin, right[j].begin),
                          std::min(left[i].end, right[j].end)};
    if (common.begin < common.end) both.push_back(common);
    ++(left[i].end < right[j].end ? i : j);
  }
  return both;
}

// A hash of the rows that count among those of the bitmap. Nothing where none does.
arrow::Result<std::optional<uint64_t>> CoverageOf(const std::string& bitmap,
                                                  const std::vector<RowRange>* rows,
                                                  Location where) {
  if (rows == nullptr) return XxHash64(wire::AsBytes(bitmap));
  ARROW_ASSIGN_OR_RAISE(const auto covered, table::ParseRoaring(wire::AsBytes(bitmap), where));
  const auto both = Intersect(covered, *rows);
  if (both.empty()) return std::nullopt;
  return XxHash64(wire::AsBytes(table::SerializeRoaring(both)));
}

}  // namespace

arrow::Result<Witnesses> WitnessesOf(const wire::DataFragment& fragment,
                                     const std::set<int32_t>& fields, Location where,
                                     const std::vector<RowRange>* rows) {
  Witnesses witnesses;
  for (const wire::DataFile& file : fragment.files) {
    for (size_t i = 0; i < file.fields.size(); ++i) {
      if (!HasColumn(file, i, fields)) continue;
      // Of two files that hold a field, readers take the first.
      auto& base = witnesses[file.fields[i]].base;
      if (!base) base = ColumnAt(file, i);
    }
  }
  for (const std::string& message : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(const auto overlay, wire::ParseOverlay(wire::AsBytes(message), where));
    const wire::DataFile& file = overlay.data_file;
    for (size_t i = 0; i < file.fields.size(); ++i) {
      if (!HasColumn(file, i, fields)) continue;
      ARROW_ASSIGN_OR_RAISE(const auto coverage,
                            CoverageOf(wire::BitmapOf(overlay, i), rows, where));
      if (!coverage) continue;
      witnesses[file.fields[i]].overlays.push_back({.column = ColumnAt(file, i),
                                                    .committed_version = overlay.committed_version,
                                                    .coverage = *coverage});
    }
  }
  return witnesses;
}

}  // namespace dataset
}  // namespace glaive
