#include "table/versions/naming_schemes.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "table/versions/chain.h"
#include "table/versions/file.h"

namespace glaive::table {
namespace {

using enum NamingScheme;

// A creator who died before it yielded left a version of V2 name, of which no version of a V1 name
// descends. Where the names of a table were being changed, they do.
arrow::Result<std::optional<VersionEntry>> FindLostCreation(
    const TableLocation& table, const std::vector<VersionEntry>& entries) {
  const auto first = std::ranges::find(entries, kV2, &VersionEntry::scheme);
  const auto newest = std::ranges::find(entries | std::views::reverse, kV1, &VersionEntry::scheme);
  if (first == entries.end() || newest == entries.rend()) return std::nullopt;
  if (first->version >= newest->version) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto lost, ReadManifest(table, *first));
  ARROW_ASSIGN_OR_RAISE(const auto latest, ReadManifest(table, *newest));
  if (Descends(*latest, *lost) != Descent::kNo) return std::nullopt;
  return *first;
}

}  // namespace

arrow::Result<bool> IsHeldName(const TableLocation& table, const VersionEntry& entry) {
  if (entry.size_bytes != 0 && entry.size_bytes != kHeldName.size()) return false;
  const auto bytes = table.store->ReadWhole(entry.path);
  if (!bytes.ok() && KindOf(bytes.status()) == ErrorKind::kFileNotFound) return true;
  ARROW_RETURN_NOT_OK(bytes.status());
  return std::string_view(**bytes) == kHeldName;
}

// Where both schemes are there, one of them may be the name that the creator of a table of V1 names
// holds, or held when it died. A version of V2 name beside one of its number and V1 name is of a
// creator who came later, and yields.
arrow::Result<std::vector<VersionEntry>> TakeOutNoVersions(const TableLocation& table,
                                                           std::vector<VersionEntry>* entries) {
  std::vector<VersionEntry> taken;
  std::set<uint64_t> named_v1;
  for (const VersionEntry& entry : *entries) {
    if (entry.scheme == kV1) named_v1.insert(entry.version);
  }
  if (named_v1.empty() || named_v1.size() == entries->size()) return taken;
  std::vector<VersionEntry> left;
  for (VersionEntry& entry : *entries) {
    bool is_none = entry.scheme == kV2 && named_v1.contains(entry.version);
    if (entry.scheme == kV2 && !is_none) {
      ARROW_ASSIGN_OR_RAISE(is_none, IsHeldName(table, entry));
    }
    (is_none ? taken : left).push_back(std::move(entry));
  }
  *entries = std::move(left);
  ARROW_ASSIGN_OR_RAISE(const auto lost, FindLostCreation(table, *entries));
  if (lost) {
    std::erase_if(*entries, [&](const VersionEntry& entry) { return entry.path == lost->path; });
    taken.push_back(*lost);
  }
  return taken;
}

arrow::Result<bool> IsCertainlyNoVersion(const TableLocation& table, const VersionEntry& entry,
                                         const Manifest& newest) {
  if (newest.naming_scheme != kV1 || newest.version < entry.version) return false;
  ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, entry));
  if (is_held) return true;
  const auto lost = ReadManifest(table, entry);
  if (!lost.ok() && KindOf(lost.status()) == ErrorKind::kNotFound) return false;
  ARROW_RETURN_NOT_OK(lost.status());
  return Descends(newest, **lost) == Descent::kNo;
}

arrow::Result<bool> IsOfLostCreation(const TableLocation& table, const VersionEntry& entry) {
  if (entry.scheme != kV2 || entry.version != 1) return false;
  ARROW_ASSIGN_OR_RAISE(auto entries, ListManifests(table));
  ARROW_ASSIGN_OR_RAISE(const auto taken, TakeOutNoVersions(table, &entries));
  return std::ranges::count(taken, entry.path, &VersionEntry::path) > 0;
}

}  // namespace glaive::table
