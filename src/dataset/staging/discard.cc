#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/refs/file_references.h"
#include "dataset/refs/files.h"
#include "dataset/refs/tombstones.h"
#include "dataset/staging/state.h"
#include "glaive/refs.h"
#include "glaive/staged_columns.h"
#include "table/operation/transaction_codec.h"
#include "table/versions/file.h"
#include "table/versions/not_found.h"

namespace glaive {
namespace {

// Files that no version may refer to.
class Unreferenced {
 public:
  Unreferenced(const Dataset& dataset, std::span<const StagedColumns> staged)
      : dataset_(dataset), staged_(staged) {
    for (const StagedColumns& each : staged) {
      names_.emplace(each.path(), &each);
      lengths_.insert(each.path().size());
    }
  }

  // The versions of the table, detached ones and those that a clean-up may put back, and what was
  // branched off them.
  arrow::Status Check() const {
    ARROW_ASSIGN_OR_RAISE(const auto marks, dataset::ListMarks(location()));
    ARROW_RETURN_NOT_OK(CheckPins(marks));
    for (const dataset::Tombstone& tombstone : marks.tombstones) {
      table::VersionEntry entry = tombstone.version;
      entry.path = tombstone.path;
      ARROW_RETURN_NOT_OK(CheckManifest(location(), entry).status());
    }
    ARROW_RETURN_NOT_OK(CheckHistory());
    ARROW_RETURN_NOT_OK(CheckDetached(location()));
    const table::TableLocation main = dataset::MainLocation(dataset_);
    ARROW_ASSIGN_OR_RAISE(const auto branches, ListBranches(dataset_));
    for (const auto& branch : branches) {
      if (branch.first == BranchOf(dataset_)) continue;
      ARROW_ASSIGN_OR_RAISE(const auto there, dataset::BranchLocation(main, branch.first));
      ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(there));
      for (const table::VersionEntry& entry : entries) {
        ARROW_RETURN_NOT_OK(CheckManifest(there, entry).status());
      }
      ARROW_RETURN_NOT_OK(CheckDetached(there));
    }
    return arrow::Status::OK();
  }

 private:
  const table::TableLocation& location() const { return StateOf(dataset_)->location; }

  // Each commit of staged columns pins the newest version before it looks at its files. Versions
  // are listed after this: where the pin is gone, they show what the commit published.
  static arrow::Status CheckPins(const dataset::VersionMarks& marks) {
    const uint64_t newest = marks.attached.empty() ? 0 : *marks.attached.rbegin();
    for (const dataset::Pin& pin : marks.pins) {
      if (pin.published_as <= newest) continue;
      return CommitConflict(Retry::kYes, pin.published_as,
                            "a commit of staged columns or a restore is about to make that "
                            "version; if it died, the next version ends its claim");
    }
    return arrow::Status::OK();
  }

  // Only versions that followed the ones that were read can refer to them, and the transaction that
  // brought a file in has its name. Where that is gone, or does not tell, the manifest does.
  arrow::Status CheckHistory() const {
    ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(location()));
    const uint64_t first =
        1 + std::ranges::min(staged_, {}, &StagedColumns::read_version).read_version();
    uint64_t previous = first - 1;
    for (const table::VersionEntry& entry : entries) {
      if (entry.version < first) continue;
      ARROW_ASSIGN_OR_RAISE(const bool is_there, entry.version == previous + 1
                                                     ? CheckTransaction(entry)
                                                     : CheckManifest(location(), entry));
      // What a clean-up took meanwhile told nothing.
      if (is_there) previous = entry.version;
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckDetached(const table::TableLocation& table) const {
    ARROW_ASSIGN_OR_RAISE(const auto entries, dataset::ListDetached(table));
    for (const table::VersionEntry& entry : entries) {
      ARROW_RETURN_NOT_OK(CheckManifest(table, entry).status());
    }
    return arrow::Status::OK();
  }

  // Looks for the names and at nothing else: there may be a million fragments in it.
  // False where the version is gone.
  arrow::Result<bool> CheckTransaction(const table::VersionEntry& entry) const {
    static constexpr std::string_view kEnd = ".lance";
    if (checked_.contains(entry.path)) return true;
    const auto found = table::ReadTransactionMessage(location(), entry);
    if (table::IsGone(found.status())) return false;
    ARROW_RETURN_NOT_OK(found.status());
    if (found->message == nullptr) return CheckManifest(location(), entry);
    ARROW_ASSIGN_OR_RAISE(const bool lists, table::ListsItsFiles(found->bytes(), {found->path}));
    if (!lists) return CheckManifest(location(), entry);
    const std::string_view text(*found->message);
    for (size_t at = text.find(kEnd); at != text.npos; at = text.find(kEnd, at + 1)) {
      const size_t end = at + kEnd.size();
      for (const size_t length : lengths_) {
        if (length > end) continue;
        const auto name = names_.find(text.substr(end - length, length));
        if (name != names_.end()) return Refuse(entry, *name->second);
      }
    }
    checked_.insert(entry.path);
    return true;
  }

  arrow::Result<bool> CheckManifest(const table::TableLocation& table,
                                    const table::VersionEntry& entry) const {
    if (checked_.contains(entry.path)) return true;
    const auto manifest = table::ReadManifest(table, entry);
    if (table::IsGone(manifest.status())) return false;
    ARROW_RETURN_NOT_OK(manifest.status());
    for (const StagedColumns& each : staged_) {
      const auto view = (*manifest)->fragments.Find(each.fragment_id());
      if (!view) continue;
      ARROW_ASSIGN_OR_RAISE(const auto fragment, view->Parse());
      const bool refers = std::ranges::any_of(
          fragment.files, [&](const wire::DataFile& file) { return file.path == each.path(); });
      if (refers) return Refuse(entry, each);
    }
    checked_.insert(entry.path);
    return true;
  }

  static arrow::Status Refuse(const table::VersionEntry& entry, const StagedColumns& staged) {
    return InvalidInput("what was staged for fragment {} is committed: version {} refers to {}",
                        staged.fragment_id(), entry.version, staged.path());
  }

  const Dataset& dataset_;
  mutable std::set<std::string> checked_;  // manifests that refer to none, by their paths
  std::span<const StagedColumns> staged_;
  std::map<std::string, const StagedColumns*, std::less<>> names_;
  std::set<size_t> lengths_;
};

// Files out of the way of commits, under names that clean-ups take for nobody's.
class SetAside {
 public:
  explicit SetAside(const table::TableLocation& location) : location_(location) {}

  arrow::Status Add(const std::string& name) {
    const std::string path = location_.Path("data/" + name);
    const std::string aside =
        location_.Path("data/.tmp-discarded-" + dataset::NewRunName() + "-" + name);
    const auto linked = location_.store->Link(path, aside);
    if (table::IsGone(linked.status())) return arrow::Status::OK();  // discarded before
    ARROW_RETURN_NOT_OK(linked.status());
    moved_.emplace_back(path, aside);
    return location_.store->Delete(path);
  }

  arrow::Status PutBack() const {
    for (const auto& [path, aside] : moved_) {
      const arrow::Status linked = location_.store->Link(aside, path).status();
      if (!linked.ok() && KindOf(linked) != ErrorKind::kAlreadyExists) return linked;
      ARROW_RETURN_NOT_OK(location_.store->Delete(aside));
    }
    return arrow::Status::OK();
  }

  arrow::Status Delete() const {
    for (const auto& moved : moved_) {
      ARROW_RETURN_NOT_OK(location_.store->Delete(moved.second));
    }
    return arrow::Status::OK();
  }

 private:
  const table::TableLocation& location_;
  std::vector<std::pair<std::string, std::string>> moved_;
};

}  // namespace

// A commit that found the files before they were set aside is found by the second look: by its pin
// or by its version.
arrow::Status Discard(const Dataset& dataset, std::span<const StagedColumns> staged) {
  if (staged.empty()) return arrow::Status::OK();
  const Unreferenced unreferenced(dataset, staged);
  ARROW_RETURN_NOT_OK(unreferenced.Check());
  SetAside aside(StateOf(dataset)->location);
  arrow::Status status;
  for (const StagedColumns& each : staged) {
    status = aside.Add(each.path());
    if (!status.ok()) break;
  }
  // A listing may lack names that are older than it, unless the folder has changed since.
  if (status.ok()) {
    status = dataset::MakeAChange(StateOf(dataset)->location, dataset::NewRunName());
  }
  if (status.ok()) status = unreferenced.Check();
  if (status.ok()) return aside.Delete();
  ARROW_RETURN_NOT_OK(aside.PutBack());
  return status;
}

arrow::Status Discard(const Dataset& dataset, const StagedColumns& staged) {
  return Discard(dataset, std::span(&staged, 1));
}

arrow::Status Discard(const StagedColumns& staged) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(StateOf(staged)->uri));
  return Discard(dataset, staged);
}

}  // namespace glaive
