#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/commit_version.h"
#include "dataset/dataset_state.h"
#include "dataset/session_state.h"
#include "dataset/table_identity.h"
#include "dataset/tombstones.h"
#include "dataset/write_session.h"
#include "glaive/refs.h"
#include "table/conflict.h"
#include "table/feature_flags.h"

namespace glaive {
namespace {

// Clean-ups may take the version that is being restored, and others may build on what is made of it
// as soon as that is there. So before each attempt the version is pinned for the number that the
// attempt is to publish, and then looked for: a clean-up that took it before the pin is seen by this
// look, and one that comes later sees the pin, or else what was published.
class Restoration {
 public:
  Restoration(const Dataset::State& state, table::ManifestPtr latest)
      : state_(state), checked_(std::move(latest)) {}
  ~Restoration() {
    for (const std::string& pin : pins_) static_cast<void>(state_.location.store->Delete(pin));
  }
  Restoration(const Restoration&) = delete;
  Restoration& operator=(const Restoration&) = delete;

  uint64_t version() const { return state_.manifest->version; }

  // That number may be another table's by now.
  arrow::Status CheckIdentity() const {
    ARROW_ASSIGN_OR_RAISE(
        const auto stored, state_.session->state().ManifestOf(state_.location, version()));
    if (dataset::IsSameVersion(*stored, *state_.manifest)) return arrow::Status::OK();
    return CommitConflict(Retry::kYes, version(),
                          "the handle's version of that number is gone, and another one is in its "
                          "place: open the table anew");
  }

  arrow::Result<table::Operation> Make(const table::ManifestPtr& latest) {
    ARROW_RETURN_NOT_OK(CheckWritable(*state_.manifest));
    ARROW_RETURN_NOT_OK(CheckUpTo(latest));
    if (!table::IsDetached(version())) {
      ARROW_ASSIGN_OR_RAISE(const auto entry, table::FindVersion(state_.location, version()));
      ARROW_ASSIGN_OR_RAISE(auto pin,
                            dataset::PutPin(state_.location, entry, latest->version + 1));
      pins_.push_back(std::move(pin));
    }
    ARROW_RETURN_NOT_OK(CheckIdentity());
    return table::Restore{.version = version(), .content = state_.manifest};
  }

  // Whether the last attempt published is not known: its pin goes when there is a version of its
  // number.
  void LeavePins() { pins_.clear(); }

 private:
  // What was committed since the restore began.
  arrow::Status CheckUpTo(const table::ManifestPtr& latest) {
    const table::Restore ours = {.version = version(), .content = state_.manifest};
    for (uint64_t number = checked_->version + 1; number <= latest->version; ++number) {
      const auto entry = table::FindVersion(state_.location, number);
      if (!entry.ok() && KindOf(entry.status()) == ErrorKind::kNotFound) return IsGone(number);
      ARROW_RETURN_NOT_OK(entry.status());
      const auto theirs = table::ReadTransaction(state_.location, *entry);
      if (!theirs.ok() && KindOf(theirs.status()) == ErrorKind::kFileNotFound) {
        return IsGone(number);
      }
      ARROW_RETURN_NOT_OK(theirs.status());
      if (!*theirs || !(*theirs)->operation) {
        return CommitConflict(Retry::kNo, number, "that version does not say what it changed");
      }
      ARROW_RETURN_NOT_OK(table::CheckConflict(ours, *(*theirs)->operation, number));
    }
    checked_ = latest;
    return arrow::Status::OK();
  }

  static arrow::Status IsGone(uint64_t number) {
    return CommitConflict(Retry::kYes, number, "it was cleaned up before it was looked at");
  }

  const Dataset::State& state_;
  table::ManifestPtr checked_;
  std::vector<std::string> pins_;
};

}  // namespace

arrow::Result<Dataset> Restore(const Dataset& dataset, const RefOptions& options) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options.durability));
  commit.transaction_properties = options.transaction_properties;
  const Dataset::State& state = *dataset.state();
  // What was committed since the version was made is what is to be undone, not a conflict.
  ARROW_ASSIGN_OR_RAISE(auto latest, state.session->state().LatestManifest(state.location));
  Restoration restoration(state, latest);
  ARROW_RETURN_NOT_OK(restoration.CheckIdentity());
  auto manifest = dataset::CommitVersion(
      state.location, latest,
      table::MakeOperation(
          [&](const table::ManifestPtr& newest) { return restoration.Make(newest); }),
      commit);
  if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kCommitUnknown) {
    restoration.LeavePins();
  }
  ARROW_RETURN_NOT_OK(manifest.status());
  return dataset::MakeDataset(state.location, *std::move(manifest), state.session);
}

}  // namespace glaive
