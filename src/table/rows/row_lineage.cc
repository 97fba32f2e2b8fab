#include "table/rows/row_lineage.h"

#include <algorithm>

namespace glaive::table {
namespace {

arrow::Status Spilled(const wire::DataFragment& fragment, Location where) {
  return Unsupported(where, "the row lineage of fragment {}, which lies in its data files",
                     fragment.id);
}

std::span<const std::byte> BytesOf(const wire::InlineSequence& sequence) {
  return std::as_bytes(std::span(sequence.bytes));
}

// Visits `versions` cut where `rows` begin and end: {rows, version, whether they are of `rows`}.
template <typename Visit>
void VisitParts(std::span<const VersionRun> versions, std::span<const RowRange> rows, Visit visit) {
  uint64_t offset = 0;
  auto range = rows.begin();
  for (const VersionRun& run : versions) {
    const uint64_t end = offset + run.num_rows;
    while (offset < end) {
      while (range != rows.end() && range->end <= offset) ++range;
      const bool inside = range != rows.end() && range->begin <= offset;
      uint64_t until = end;
      if (range != rows.end()) until = std::min(until, inside ? range->end : range->begin);
      visit(until - offset, run.version, inside);
      offset = until;
    }
  }
}

void Append(uint64_t num_rows, uint64_t version, std::vector<VersionRun>* runs) {
  if (!runs->empty() && runs->back().version == version) {
    runs->back().num_rows += num_rows;
  } else {
    runs->push_back({num_rows, version});
  }
}

}  // namespace

arrow::Result<RowIdSequence> RowIdsOf(const wire::DataFragment& fragment, Location where) {
  if (const auto* ids = std::get_if<wire::InlineSequence>(&fragment.row_ids)) {
    return RowIdSequence::Parse(BytesOf(*ids), fragment.physical_rows, where);
  }
  if (std::holds_alternative<wire::ColumnSequence>(fragment.row_ids)) {
    return Spilled(fragment, where);
  }
  return Corrupt(where, "fragment {} has no row ids", fragment.id);
}

arrow::Result<std::vector<VersionRun>> CreatedVersionsOf(const wire::DataFragment& fragment,
                                                         Location where) {
  if (const auto* made = std::get_if<wire::InlineSequence>(&fragment.created_at_versions)) {
    return ParseRowVersions(BytesOf(*made), fragment.physical_rows, where);
  }
  if (std::holds_alternative<wire::ColumnSequence>(fragment.created_at_versions)) {
    return Spilled(fragment, where);
  }
  return std::vector<VersionRun>{{fragment.physical_rows, 1}};
}

arrow::Result<std::vector<VersionRun>> UpdatedVersionsOf(const wire::DataFragment& fragment,
                                                         Location where) {
  if (const auto* changed = std::get_if<wire::InlineSequence>(&fragment.last_updated_at_versions)) {
    return ParseRowVersions(BytesOf(*changed), fragment.physical_rows, where);
  }
  if (std::holds_alternative<wire::ColumnSequence>(fragment.last_updated_at_versions)) {
    return Spilled(fragment, where);
  }
  return CreatedVersionsOf(fragment, where);
}

std::vector<VersionRun> WithVersion(std::span<const VersionRun> versions,
                                    std::span<const RowRange> rows, uint64_t version) {
  std::vector<VersionRun> out;
  VisitParts(versions, rows, [&](uint64_t num_rows, uint64_t old_version, bool inside) {
    Append(num_rows, inside ? version : old_version, &out);
  });
  return out;
}

std::vector<VersionRun> SelectRows(std::span<const VersionRun> versions,
                                   std::span<const RowRange> rows) {
  std::vector<VersionRun> out;
  VisitParts(versions, rows, [&](uint64_t num_rows, uint64_t version, bool inside) {
    if (inside) Append(num_rows, version, &out);
  });
  return out;
}

}  // namespace glaive::table
