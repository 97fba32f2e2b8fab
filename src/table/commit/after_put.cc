#include "table/commit/after_put.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "table/commit/publish.h"
#include "table/commit/same_table.h"
#include "table/operation/apply.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/not_found.h"

namespace glaive::table {
namespace {

// Newer versions may be cleaned up between a listing and a read of them.
constexpr int kMostLooks = 16;

bool HaveSameFiles(const wire::DataFragment& left, const wire::DataFragment& right) {
  const auto same_file = [](const wire::DataFile& one, const wire::DataFile& other) {
    return one.path == other.path && one.base_id == other.base_id;
  };
  return std::ranges::equal(left.files, right.files, same_file) &&
         left.deletion_file == right.deletion_file && left.overlays.size() == right.overlays.size();
}

arrow::Result<bool> HaveSameFragments(const FragmentTable& left, const FragmentTable& right) {
  bool same = left.totals() == right.totals();
  if (!same) return false;
  ARROW_RETURN_NOT_OK(left.Visit([&](const Fragment& fragment) -> arrow::Status {
    const auto other = right.Find(fragment.id());
    same &= other.has_value();
    if (!same || std::ranges::equal(fragment.message(), other->message())) {
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment one, fragment.Parse());
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment two, other->Parse());
    same = HaveSameFiles(one, two);
    return arrow::Status::OK();
  }));
  return same;
}

bool HaveSameHeader(const Manifest& left, const Manifest& right) {
  return left.max_fragment_id == right.max_fragment_id && left.next_row_id == right.next_row_id &&
         left.schema == right.schema && left.config == right.config &&
         left.table_metadata == right.table_metadata && left.base_paths == right.base_paths;
}

// Another engine's versions do not name those before them. If what its transaction does to `put`
// gives its very version, it was made of `put`.
arrow::Result<Standing> ByContent(const TableLocation& table, const VersionEntry& entry,
                                  const Manifest& next, const Manifest& put) {
  if (next.version != put.version + 1 || !next.ancestors.empty()) return Standing::kUnknown;
  auto transaction = ReadTransaction(table, entry);
  if (IsGone(transaction.status())) return Standing::kUnknown;
  ARROW_RETURN_NOT_OK(transaction.status());
  if (!*transaction || !(*transaction)->operation) return Standing::kUnknown;
  const auto made = Apply(put, *(*transaction)->operation);
  if (!made.ok() || !HaveSameHeader(*made, next)) return Standing::kUnknown;
  ARROW_ASSIGN_OR_RAISE(const bool same, HaveSameFragments(made->fragments, next.fragments));
  return same ? Standing::kInChain : Standing::kUnknown;
}

struct Above {
  std::optional<VersionEntry> lowest;  // above the version
  bool has_itself = false;
  bool has_before = false;        // the version before it is there
  bool has_other_scheme = false;  // a version of its number or below, named by another scheme
};

arrow::Result<Above> LookAbove(const TableLocation& table, const Manifest& put) {
  auto entries = ListManifests(table);
  if (!entries.ok()) entries = ListManifests(table);  // nothing hangs on one failure
  ARROW_RETURN_NOT_OK(entries.status());
  Above above;
  for (VersionEntry& entry : *entries) {
    const bool is_ours = entry.scheme == put.naming_scheme;
    above.has_itself |= entry.path == put.path;
    above.has_before |= is_ours && entry.version + 1 == put.version;
    above.has_other_scheme |= !is_ours && entry.version <= put.version;
    // Also one that a late writer of a removed table named by another scheme.
    if (entry.version > put.version && !above.lowest) above.lowest = std::move(entry);
  }
  return above;
}

// A version that follows one whose creation another creator withdraws: their schemes differ. The
// name that is held for a version of a V1 name is no version.
bool IsOfLostCreation(const Above& above, const Manifest& put) {
  return above.has_other_scheme && put.naming_scheme == NamingScheme::kV2;
}

}  // namespace

arrow::Result<Standing> StandingBelow(const TableLocation& table, const VersionEntry& newer,
                                      const Manifest& put) {
  ARROW_ASSIGN_OR_RAISE(const auto next, ReadManifest(table, newer));
  switch (Descends(*next, put)) {
    case Descent::kYes: return Standing::kInChain;
    case Descent::kNo: return Standing::kStray;
    case Descent::kUnknown: break;
  }
  return ByContent(table, newer, *next, put);
}

arrow::Result<Standing> StandingOf(const TableLocation& table, const Manifest& put,
                                   bool* has_newer) {
  bool was_highest = false;
  for (int look = 0; look < kMostLooks; ++look) {
    ARROW_ASSIGN_OR_RAISE(const Above above, LookAbove(table, put));
    if (has_newer != nullptr) *has_newer |= above.lowest.has_value();
    if (IsOfLostCreation(above, put)) return Standing::kStray;
    if (!above.lowest) {
      // A listing may miss the newest version where it came, and the one before it went, meanwhile:
      // a clean-up is at work, which would have taken the version before ours as well.
      if (above.has_before || put.version == 1 || was_highest) return Standing::kInChain;
      was_highest = true;
      continue;
    }
    auto standing = StandingBelow(table, *above.lowest, put);
    if (standing.ok() || !IsGone(standing.status())) return standing;
  }
  return Standing::kUnknown;
}

arrow::Result<Standing> StandingOfGone(const TableLocation& table, const Manifest& manifest) {
  for (int look = 0; look < kMostLooks; ++look) {
    ARROW_ASSIGN_OR_RAISE(const Above above, LookAbove(table, manifest));
    if (!above.lowest) {
      // A listing that shows the version is older than the look that did not find it.
      if (above.has_itself) continue;
      return Standing::kStray;
    }
    auto standing = StandingBelow(table, *above.lowest, manifest);
    if (standing.ok() || !IsGone(standing.status())) return standing;
  }
  return Standing::kUnknown;
}

arrow::Result<bool> IsStillInTable(const TableLocation& table, const Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(const bool is_there, IsStillThere(table, manifest));
  if (!is_there || IsDetached(manifest.version)) return is_there;
  ARROW_ASSIGN_OR_RAISE(const Standing standing, StandingOf(table, manifest));
  return standing != Standing::kStray;
}

arrow::Status TakeBack(const TableLocation& table, const Manifest& put, bool keeps_transaction) {
  ARROW_ASSIGN_OR_RAISE(const auto info, table.store->Head(put.path));
  if (info) {
    const VersionEntry entry = {put.version, put.path, put.naming_scheme, info->size_bytes};
    const auto found = ReadTransaction(table, entry);
    if (!found.ok() && !IsGone(found.status())) return found.status();
    const bool is_ours = found.ok() && *found && (*found)->uuid == TransactionUuidOf(put);
    if (is_ours) ARROW_RETURN_NOT_OK(table.store->DeleteIf(*info).status());
  }
  if (keeps_transaction) return arrow::Status::OK();
  return table.store->Delete(TransactionPath(table, put));
}

}  // namespace glaive::table
