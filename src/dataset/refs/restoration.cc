#include "dataset/refs/restoration.h"

#include <utility>

#include "core/error.h"
#include "dataset/refs/tombstones.h"
#include "table/commit/publish.h"
#include "table/commit/same_table.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/conflict.h"

namespace glaive::dataset {
namespace {

// Clean-ups may take the version that is being restored, and others may build on what is made of it
// as soon as that is there. So before each attempt the version is pinned for the number that the
// attempt is to publish, and then looked for: a clean-up that took it before the pin is seen by
// this look, and one that comes later sees the pin, or else what was published.
class Restoration {
 public:
  Restoration(const table::TableLocation& table, table::ManifestPtr base, table::Restore restore,
              table::ManifestPtr content)
      : table_(table),
        checked_(std::move(base)),
        restore_(restore),
        content_(std::move(content)),
        pins_(table) {}

  arrow::Result<table::Change> Make(const table::ManifestPtr& latest) {
    ARROW_RETURN_NOT_OK(CheckWritable(*content_));
    ARROW_RETURN_NOT_OK(CheckUpTo(latest));
    // Detached versions are never taken.
    if (!table::IsDetached(restore_.version)) {
      ARROW_RETURN_NOT_OK(
          pins_.Put({.version = restore_.version, .path = content_->path}, latest->version + 1));
    }
    ARROW_ASSIGN_OR_RAISE(const bool is_there, table::IsStillThere(table_, *content_));
    if (!is_there) {
      return CommitConflict(Retry::kYes, restore_.version,
                            "a clean-up took that version before it was restored");
    }
    return table::Change(restore_, {.content = content_});
  }

  void LeavePins() { pins_.Leave(); }

 private:
  // What was committed since the restore began.
  arrow::Status CheckUpTo(const table::ManifestPtr& latest) {
    for (uint64_t number = checked_->version + 1; number <= latest->version; ++number) {
      const auto entry = table::FindVersion(table_, number);
      if (!entry.ok() && KindOf(entry.status()) == ErrorKind::kNotFound)
        return WasCleanedUp(number);
      ARROW_RETURN_NOT_OK(entry.status());
      const auto theirs = table::ReadTransaction(table_, *entry);
      if (!theirs.ok() && KindOf(theirs.status()) == ErrorKind::kFileNotFound) {
        return WasCleanedUp(number);
      }
      ARROW_RETURN_NOT_OK(theirs.status());
      if (!*theirs || !(*theirs)->operation) {
        return CommitConflict(Retry::kNo, number, "that version does not say what it changed");
      }
      ARROW_RETURN_NOT_OK(table::CheckConflict(restore_, *(*theirs)->operation, number));
    }
    checked_ = latest;
    return arrow::Status::OK();
  }

  static arrow::Status WasCleanedUp(uint64_t number) {
    return CommitConflict(Retry::kYes, number, "it was cleaned up before it was looked at");
  }

  const table::TableLocation& table_;
  table::ManifestPtr checked_;
  const table::Restore restore_;
  const table::ManifestPtr content_;  // of the version that comes back
  Pins pins_;
};

}  // namespace

arrow::Result<table::ManifestPtr> CommitRestore(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::Restore restore, table::ManifestPtr content,
                                                const table::CommitOptions& options) {
  if (content == nullptr) {
    ARROW_ASSIGN_OR_RAISE(content, table::ReadManifest(table, restore.version));
  }
  Restoration restoration(table, base, restore, std::move(content));
  auto made = table::Commit(
      table, base, [&](const table::ManifestPtr& latest) { return restoration.Make(latest); },
      options);
  if (!made.ok() && KindOf(made.status()) == ErrorKind::kCommitUnknown) restoration.LeavePins();
  return made;
}

}  // namespace glaive::dataset
