#include "testing/index_entries.h"

#include <functional>

#include "table/manifest/index_list.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"

namespace glaive::testing {
namespace {

// The same for the same entry, so that two tests' sections can be compared.
std::string UuidOf(std::string_view name, const std::vector<RowRange>& covered,
                   const EntryOptions& options) {
  std::string uuid(16, '\x10');
  uint64_t hash = std::hash<std::string_view>()(name) ^ options.created_at_ms.value_or(0);
  for (const RowRange& range : covered) hash = hash * 31 + range.begin * 7 + range.end;
  if (options.unknown_coverage) hash += 1;
  for (size_t i = 0; i < 8; ++i) uuid[8 + i] = static_cast<char>(hash >> (8 * i));
  if (options.uuid != 0) uuid.assign(16, static_cast<char>(options.uuid));
  return uuid;
}

}  // namespace

std::string IndexEntry(std::string_view name, const std::vector<int32_t>& fields,
                       const std::vector<RowRange>& covered, const EntryOptions& options) {
  std::string uuid;
  wire::AppendBytes(1, UuidOf(name, covered, options), &uuid);
  std::string details;
  wire::AppendBytes(1, options.details_type, &details);
  wire::AppendUnlessEmpty(2, options.details, &details);
  std::string entry;
  wire::AppendBytes(1, uuid, &entry);
  wire::AppendPacked(2, std::vector<uint64_t>(fields.begin(), fields.end()), &entry);
  wire::AppendBytes(3, name, &entry);
  wire::AppendVarint(4, 1, &entry);
  if (!options.unknown_coverage) {
    wire::AppendBytes(5, table::SerializeRoaring(covered), &entry);
  }
  wire::AppendBytes(6, details, &entry);
  wire::AppendVarint(7, static_cast<uint64_t>(options.index_version), &entry);
  if (options.created_at_ms) wire::AppendVarint(8, *options.created_at_ms, &entry);
  return entry;
}

IndexMetadata IndexOf(std::string_view name, const std::vector<int32_t>& fields,
                      const std::vector<RowRange>& covered, const EntryOptions& options) {
  const std::string entry = IndexEntry(name, fields, covered, options);
  return wire::ParseIndex(wire::AsBytes(entry), {"m"}).ValueOrDie();
}

std::string IndexSection(const std::vector<std::string>& entries) {
  std::string section;
  for (const std::string& entry : entries) wire::AppendBytes(1, entry, &section);
  return section;
}

std::vector<std::vector<RowRange>> CoverageOf(const std::string& index_section) {
  std::vector<std::vector<RowRange>> coverage;
  const auto list = table::IndexList::Parse(index_section, {"m"}).ValueOrDie();
  for (const table::Index& index : list.indices()) {
    coverage.push_back(index.covered ? index.covered->ranges() : std::vector<RowRange>());
  }
  return coverage;
}

}  // namespace glaive::testing
