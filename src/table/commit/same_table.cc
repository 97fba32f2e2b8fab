#include "table/commit/same_table.h"

#include <algorithm>
#include <ranges>

#include "table/commit/publish.h"
#include "table/manifest/file_place.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/not_found.h"

namespace glaive::table {
namespace {

bool ShareAFile(const wire::DataFragment& left, const wire::DataFragment& right) {
  return std::ranges::any_of(left.files, [&](const wire::DataFile& file) {
    return std::ranges::count(right.files, file.path, &wire::DataFile::path) > 0;
  });
}

// Fragments keep their numbers for as long as they live.
bool HaveFileInCommon(const Manifest& left, const Manifest& right) {
  const bool left_is_smaller =
      left.fragments.totals().num_fragments < right.fragments.totals().num_fragments;
  const Manifest& few = left_is_smaller ? left : right;
  const Manifest& many = left_is_smaller ? right : left;
  const arrow::Status stopped = few.fragments.Visit([&](const Fragment& fragment) -> arrow::Status {
    const auto other = many.fragments.Find(fragment.id());
    if (!other) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment one, fragment.Parse());
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment two, other->Parse());
    return ShareAFile(one, two) ? Cancelled("found") : arrow::Status::OK();
  });
  return !stopped.ok() && KindOf(stopped) == ErrorKind::kCancelled;
}

// Of the transaction that made the version of that number which leads to this one. 0: not known.
uint64_t HashAt(const Manifest& manifest, uint64_t version) {
  if (version == manifest.version) return ChainHash(manifest);
  const uint64_t steps = manifest.version - version;
  return steps > manifest.ancestors.size() ? 0 : manifest.ancestors[steps - 1];
}

// Of two that came from one version, neither need descend from the other: one may be a stray.
bool HaveAncestorInCommon(const Manifest& left, const Manifest& right) {
  const uint64_t newest = std::min(left.version, right.version);
  const uint64_t oldest = newest - std::min<uint64_t>(newest, kMaxAncestors);
  for (uint64_t version = newest; version > oldest; --version) {
    const uint64_t hash = HashAt(left, version);
    const bool is_version = hash != 0 && hash != kNoVersionBefore;
    if (is_version && hash == HashAt(right, version)) return true;
  }
  return false;
}

// Another version has the number of the base. A late writer of the same table may have put it
// there, after the base was cleaned up.
arrow::Result<Witness> ByOtherVersion(const TableLocation& table, const VersionEntry& entry,
                                      const Manifest& base) {
  const auto other = ReadManifest(table, entry);
  if (!other.ok() && KindOf(other.status()) == ErrorKind::kNotFound) return Witness::kSilent;
  ARROW_RETURN_NOT_OK(other.status());
  return AreRelated(**other, base) ? Witness::kReplaced : Witness::kOtherTable;
}

}  // namespace

arrow::Result<Witness> WitnessOf(const TableLocation& table, const Manifest& base,
                                 const std::optional<VersionHint>& hint) {
  const auto ours = TransactionUuidOf(base);
  if (!ours) return Witness::kSameTable;
  if (hint && hint->version == base.version && hint->transaction == *ours) {
    return Witness::kSameTable;
  }
  ARROW_ASSIGN_OR_RAISE(const auto recorded, table.store->Head(TransactionPath(table, base)));
  if (recorded) return Witness::kSameTable;
  VersionEntry entry = {base.version, base.path, base.naming_scheme, base.size_bytes};
  auto found = ReadTransaction(table, entry);
  if (!found.ok() && KindOf(found.status()) == ErrorKind::kCorrupt) {
    entry.size_bytes = 0;  // another manifest may have another size
    found = ReadTransaction(table, entry);
  }
  if (!found.ok() && KindOf(found.status()) == ErrorKind::kFileNotFound) return Witness::kSilent;
  // A damaged version says nothing of the table, but stands where it was read.
  if (!found.ok() && KindOf(found.status()) == ErrorKind::kCorrupt) return Witness::kSameTable;
  ARROW_RETURN_NOT_OK(found.status());
  const bool is_same = !*found || (*found)->uuid.empty() || (*found)->uuid == *ours;
  if (is_same) return Witness::kSameTable;
  entry.size_bytes = 0;
  return ByOtherVersion(table, entry, base);
}

bool AreOfOneTable(const Manifest& left, const Manifest& right) {
  const Manifest& newer = left.version < right.version ? right : left;
  const Manifest& older = left.version < right.version ? left : right;
  switch (Descends(newer, older)) {
    case Descent::kYes: return true;
    case Descent::kNo: return false;
    case Descent::kUnknown: break;
  }
  return HaveFileInCommon(left, right);
}

bool AreRelated(const Manifest& left, const Manifest& right) {
  return HaveAncestorInCommon(left, right) || HaveFileInCommon(left, right);
}

arrow::Result<Descent> LiesInItsTable(const TableLocation& table, const Manifest& put) {
  constexpr int kMostVersions = 8;  // some may be strays
  ARROW_ASSIGN_OR_RAISE(auto entries, ListManifests(table));
  std::erase_if(entries, [&](const VersionEntry& entry) { return entry.version >= put.version; });
  int num_read = 0;
  bool is_related = false;
  for (const VersionEntry& entry : entries | std::views::reverse) {
    if (num_read == kMostVersions) break;
    const auto older = ReadManifest(table, entry);
    if (!older.ok() && KindOf(older.status()) == ErrorKind::kNotFound) continue;
    ARROW_RETURN_NOT_OK(older.status());
    if (AreOfOneTable(put, **older)) return Descent::kYes;
    is_related |= AreRelated(put, **older);
    ++num_read;
  }
  if (num_read > 0) return is_related ? Descent::kUnknown : Descent::kNo;
  if (put.fragments.totals().num_fragments == 0) return Descent::kYes;
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment oldest, put.fragments.At(0).Parse());
  if (oldest.files.empty()) return Descent::kYes;
  const wire::DataFile& file = oldest.files.front();
  ARROW_ASSIGN_OR_RAISE(const FilePlace place,
                        PlaceOf(table, put, FileKind::kData, file.path, file.base_id));
  ARROW_ASSIGN_OR_RAISE(const auto found, place.store->Head(place.path));
  return found ? Descent::kYes : Descent::kNo;
}

arrow::Result<bool> IsStillThere(const TableLocation& table, const Manifest& manifest) {
  const auto entry = FindVersion(table, manifest.version);
  if (!entry.ok() && KindOf(entry.status()) == ErrorKind::kNotFound) return false;
  ARROW_RETURN_NOT_OK(entry.status());
  if (manifest.size_bytes != 0 && entry->size_bytes != manifest.size_bytes) return false;
  const auto ours = TransactionUuidOf(manifest);
  const auto made_by = ReadTransaction(table, *entry);
  if (!made_by.ok() && KindOf(made_by.status()) == ErrorKind::kFileNotFound) return false;
  ARROW_RETURN_NOT_OK(made_by.status());
  return !ours || !*made_by || (*made_by)->uuid.empty() || (*made_by)->uuid == *ours;
}

arrow::Status CheckOneTable(const Manifest& newest, const Manifest& base) {
  if (AreOfOneTable(newest, base)) return arrow::Status::OK();
  return OtherTable(Retry::kYes, base.version);
}

arrow::Status CheckFollowsHint(const TableLocation& table, const Manifest& newest,
                               const std::optional<VersionHint>& hint) {
  if (!hint || hint->transaction.empty() || hint->version >= newest.version) {
    return arrow::Status::OK();
  }
  const Descent descent = Descends(newest, hint->version, ChainHash(hint->transaction));
  if (descent != Descent::kNo) return arrow::Status::OK();
  VersionEntry hinted = {.version = hint->version, .scheme = newest.naming_scheme};
  hinted.path = table.Path("_versions/" + ManifestName(hinted.version, hinted.scheme));
  const auto made_by = ReadTransaction(table, hinted);
  if (IsGone(made_by.status())) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(made_by.status());
  const bool is_there = *made_by && (*made_by)->uuid == hint->transaction;
  return is_there ? OtherTable(Retry::kYes, newest.version) : arrow::Status::OK();
}

arrow::Status OtherTable(Retry retry, uint64_t version) {
  if (retry == Retry::kNo) {
    return CommitConflict(
        retry, version, "the table that it was read from is gone, and another one is in its place");
  }
  return CommitConflict(retry, version,
                        "that version, which was read, is gone, and nothing tells whether the "
                        "newest one is of the same table: open it anew");
}

}  // namespace glaive::table
