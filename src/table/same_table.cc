#include "table/same_table.h"

#include <algorithm>
#include <ranges>

#include "table/chain.h"
#include "table/file_place.h"
#include "table/manifest_file.h"
#include "table/publish.h"

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
  return is_same ? Witness::kSameTable : Witness::kOtherTable;
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

arrow::Result<bool> LiesInItsTable(const TableLocation& table, const Manifest& put) {
  constexpr int kMostVersions = 8;  // some may be strays
  ARROW_ASSIGN_OR_RAISE(auto entries, ListManifests(table));
  std::erase_if(entries, [&](const VersionEntry& entry) { return entry.version >= put.version; });
  int num_read = 0;
  for (const VersionEntry& entry : entries | std::views::reverse) {
    if (num_read == kMostVersions) break;
    const auto older = ReadManifest(table, entry);
    if (!older.ok() && KindOf(older.status()) == ErrorKind::kNotFound) continue;
    ARROW_RETURN_NOT_OK(older.status());
    if (AreOfOneTable(put, **older) || HaveFileInCommon(put, **older)) return true;
    ++num_read;
  }
  if (num_read > 0) return false;
  if (put.fragments.totals().num_fragments == 0) return true;
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment oldest, put.fragments.At(0).Parse());
  if (oldest.files.empty()) return true;
  const wire::DataFile& file = oldest.files.front();
  ARROW_ASSIGN_OR_RAISE(const FilePlace place,
                        PlaceOf(table, put, FileKind::kData, file.path, file.base_id));
  ARROW_ASSIGN_OR_RAISE(const auto found, place.store->Head(place.path));
  return found.has_value();
}

arrow::Status CheckOneTable(const Manifest& newest, const Manifest& base) {
  if (AreOfOneTable(newest, base)) return arrow::Status::OK();
  return OtherTable(Retry::kYes, base.version);
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
