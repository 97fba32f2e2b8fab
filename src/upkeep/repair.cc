#include "glaive/repair.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "glaive/session.h"
#include "glaive/verify.h"
#include "inspect/fragment_check.h"
#include "inspect/index_files.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/versions/naming_schemes.h"
#include "table/versions/not_found.h"

namespace glaive {
namespace {

using Kind = RepairStep::Kind;

constexpr uint64_t kSessionBytes = uint64_t{64} << 20;
constexpr uint64_t kRowsAtATime = 8192;

arrow::Result<table::TableLocation> LocationOf(std::string_view uri) {
  ARROW_ASSIGN_OR_RAISE(const auto place, io::Resolve(uri));
  return table::TableLocation{place.store, place.path, place.uri};
}

bool IsCorrupt(const arrow::Status& status) {
  return !status.ok() && KindOf(status) == ErrorKind::kCorrupt;
}

// Whether the folder of a file that is missing is there: of a base's, with other files in it. What
// a base lies on may not be mounted here.
bool IsFolderThere(const table::TableLocation& table, const table::Manifest& manifest,
                   const std::string& path) {
  if (path.starts_with(table.Path(""))) return true;
  const std::string folder = path.substr(0, path.rfind('/'));
  for (const table::BasePath& base : manifest.base_paths) {
    const auto place = io::Resolve(base.path);
    if (!place.ok() || !path.starts_with(place->path + "/")) continue;
    const auto names = place->store->ListNames(folder);
    return names.ok() && !names->empty();
  }
  return false;
}

// What no second try would read: bytes that are wrong, or not there.
bool IsProof(const Finding& finding, const table::TableLocation& table,
             const table::Manifest& manifest) {
  if (finding.severity != Severity::kError) return false;
  if (finding.kind == ErrorKind::kFileNotFound) {
    return IsFolderThere(table, manifest, finding.path);
  }
  return finding.kind == ErrorKind::kCorrupt;
}

std::string RelativeTo(const table::TableLocation& table, const std::string& path) {
  const std::string root = table.Path("");
  return path.starts_with(root) ? path.substr(root.size()) : path;
}

class Planner {
 public:
  Planner(std::string_view uri, table::TableLocation table, const RepairOptions& options)
      : uri_(uri), table_(std::move(table)), options_(options) {}

  arrow::Result<RepairPlan> Run() {
    std::vector<table::VersionEntry> no_versions;
    ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(table_, &no_versions));
    if (entries.empty()) return ReleaseNames(no_versions);
    ARROW_RETURN_NOT_OK(FindHead(entries));
    ARROW_RETURN_NOT_OK(FindFragments());
    ARROW_RETURN_NOT_OK(FindIndices());
    return std::move(plan_);
  }

 private:
  // Where no version is there, others are names that a creator holds.
  arrow::Result<RepairPlan> ReleaseNames(const std::vector<table::VersionEntry>& names) {
    if (names.empty()) return table::TableNotFound(table_);
    for (const table::VersionEntry& name : names) {
      plan_.steps.push_back({.kind = Kind::kReleaseName,
                             .path = RelativeTo(table_, name.path),
                             .reason = "the creator of a table held this name and made no version; "
                                       "while it is there, no table can be made"});
    }
    return std::move(plan_);
  }

  // The newest manifest that can be read; those above it that are damaged go aside.
  arrow::Status FindHead(const std::vector<table::VersionEntry>& entries) {
    for (const table::VersionEntry& entry : entries | std::views::reverse) {
      auto manifest = table::ReadManifest(table_, entry);
      if (manifest.ok()) {
        manifest_ = *std::move(manifest);
        plan_.version = entry.version;
        return arrow::Status::OK();
      }
      if (!IsCorrupt(manifest.status())) return manifest.status();
      plan_.steps.push_back({.kind = Kind::kMoveManifestAside,
                             .path = RelativeTo(table_, entry.path),
                             .new_path = RelativeTo(table_, entry.path) + "-" + table::NewUuid(),
                             .reason = manifest.status().message()});
    }
    return Corrupt({entries.back().path}, "none of the {} versions of {} is readable",
                   entries.size(), table_.uri);
  }

  arrow::Status FindFragments() {
    ARROW_ASSIGN_OR_RAISE(
        const VerifyReport report,
        Verify(uri_, {.version = plan_.version,
                      .depth = options_.read_values ? VerifyDepth::kRows : VerifyDepth::kFooters,
                      .survey_files = false,
                      .progress = options_.version.progress}));
    std::map<uint64_t, const Finding*> proofs;
    for (const Finding& finding : report.findings) {
      if (finding.fragment_id && IsProof(finding, table_, *manifest_)) {
        proofs.emplace(*finding.fragment_id, &finding);
      } else if (finding.kind == ErrorKind::kIO ||
                 (finding.kind == ErrorKind::kFileNotFound && finding.fragment_id)) {
        plan_.unread.push_back(finding.message);
      } else if (finding.severity == Severity::kError && !IsPlanned(finding)) {
        plan_.left_alone.push_back(finding.message);
      }
    }
    for (const auto& [id, finding] : proofs) {
      ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment,
                            manifest_->fragments.Find(id)->Parse());
      const uint64_t deleted =
          fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0;
      plan_.steps.push_back(
          {.kind = Kind::kDropFragment,
           .path = RelativeTo(table_, finding->path),
           .fragment_id = id,
           .rows_lost = fragment.physical_rows - std::min(deleted, fragment.physical_rows),
           .reason = finding->message});
    }
    return arrow::Status::OK();
  }

  bool IsPlanned(const Finding& finding) const {
    return std::ranges::any_of(
               plan_.steps,
               [&](const RepairStep& step) { return finding.path.ends_with(step.path); }) ||
           finding.path.find("_indices/") != std::string::npos;
  }

  arrow::Status FindIndices() {
    ARROW_ASSIGN_OR_RAISE(const auto missing, inspect::IndicesWithoutFiles(table_, *manifest_));
    for (const inspect::StoredIndex& index : missing) {
      plan_.steps.push_back({.kind = Kind::kDropIndex,
                             .path = RelativeTo(table_, index.folder),
                             .index_uuid = index.entry.uuid,
                             .reason = fmt::format("index '{}' has no files", index.entry.name)});
    }
    return arrow::Status::OK();
  }

  std::string_view uri_;
  table::TableLocation table_;
  const RepairOptions& options_;
  table::ManifestPtr manifest_;
  RepairPlan plan_;
};

class Repairer {
 public:
  Repairer(table::TableLocation table, const RepairPlan& plan, const RepairOptions& options)
      : table_(std::move(table)), plan_(plan), options_(options) {}

  arrow::Result<std::optional<Dataset>> Run() {
    if (plan_.version == 0) {
      ARROW_RETURN_NOT_OK(ReleaseNames());
      return std::nullopt;
    }
    ARROW_ASSIGN_OR_RAISE(durability_, dataset::Resolve(options_.version.durability));
    ARROW_ASSIGN_OR_RAISE(manifest_, table::ReadManifest(table_, plan_.version));
    const auto session = std::make_shared<Session>(kSessionBytes);
    ARROW_ASSIGN_OR_RAISE(const Dataset dataset, dataset::MakeDataset(table_, manifest_, session));
    ARROW_RETURN_NOT_OK(CheckAgain(dataset));
    for (const RepairStep& step : plan_.steps) {
      if (step.kind == Kind::kMoveManifestAside) ARROW_RETURN_NOT_OK(MoveAside(step));
    }
    if (!drop_.deleted_fragment_ids.empty()) ARROW_RETURN_NOT_OK(Commit(std::move(drop_)));
    if (!unlist_.removed_indices.empty()) ARROW_RETURN_NOT_OK(Commit(std::move(unlist_)));
    return dataset::MakeDataset(table_, manifest_, options_.session);
  }

 private:
  // As long as there is no version, and they are held.
  arrow::Status ReleaseNames() {
    std::vector<table::VersionEntry> names;
    ARROW_ASSIGN_OR_RAISE(const auto versions, table::ListVersions(table_, &names));
    for (const RepairStep& step : plan_.steps) {
      const auto name =
          std::ranges::find(names, table_.Path(step.path), &table::VersionEntry::path);
      const bool is_held = step.kind == Kind::kReleaseName && name != names.end();
      if (!versions.empty() || !is_held) return NoLonger(step);
      ARROW_RETURN_NOT_OK(
          table_.store->DeleteIf({name->path, name->size_bytes, name->modified_ns, name->file_id})
              .status());
    }
    return arrow::Status::OK();
  }

  static arrow::Status NoLonger(const RepairStep& step) {
    return InvalidInput("{} is no longer as the plan found it ({}): plan again", step.path,
                        step.reason);
  }

  arrow::Status CheckAgain(const Dataset& dataset) {
    const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
    ARROW_ASSIGN_OR_RAISE(const auto columns, read::Projection::Make(manifest_->schema, {}));
    ARROW_ASSIGN_OR_RAISE(const auto indices, inspect::IndicesWithoutFiles(table_, *manifest_));
    ARROW_ASSIGN_OR_RAISE(const auto versions, table::ListVersions(table_));
    for (const RepairStep& step : plan_.steps) {
      bool holds = false;
      if (step.kind == Kind::kMoveManifestAside) {
        ARROW_ASSIGN_OR_RAISE(holds, IsTorn(versions, step));
      } else if (step.kind == Kind::kDropFragment) {
        ARROW_ASSIGN_OR_RAISE(holds, IsUnreadable(snapshot, columns, step.fragment_id));
        drop_.deleted_fragment_ids.push_back(step.fragment_id);
      } else {
        const auto index = std::ranges::find(indices, step.index_uuid,
                                             [](const auto& each) { return each.entry.uuid; });
        holds = index != indices.end();
        if (holds) unlist_.removed_indices.push_back(index->entry);
      }
      if (!holds) return NoLonger(step);
    }
    return arrow::Status::OK();
  }

  arrow::Result<bool> IsTorn(const std::vector<table::VersionEntry>& versions,
                             const RepairStep& step) const {
    const auto entry =
        std::ranges::find(versions, table_.Path(step.path), &table::VersionEntry::path);
    if (entry == versions.end() || entry->version <= plan_.version) return false;
    return IsCorrupt(table::ReadManifest(table_, *entry).status());
  }

  arrow::Result<bool> IsUnreadable(const read::Snapshot& snapshot,
                                   const std::shared_ptr<const read::Projection>& columns,
                                   uint64_t id) const {
    const auto view = manifest_->fragments.Find(id);
    if (!view) return false;
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view->Parse());
    ARROW_ASSIGN_OR_RAISE(inspect::FragmentCheck check,
                          inspect::CheckFragment(snapshot, fragment, columns));
    for (uint64_t row = 0;
         check.findings.empty() && options_.read_values && row < check.physical_rows;
         row += kRowsAtATime) {
      const RowRange rows = {row, std::min(row + kRowsAtATime, check.physical_rows)};
      ARROW_RETURN_NOT_OK(inspect::DecodeRows(snapshot, fragment, columns, rows, &check.findings));
      if (options_.version.progress) ARROW_RETURN_NOT_OK(options_.version.progress({}));
    }
    return std::ranges::any_of(check.findings, [&](const Finding& finding) {
      return IsProof(finding, table_, *manifest_);
    });
  }

  // Under its new name first, so that at no time there is none.
  arrow::Status MoveAside(const RepairStep& step) {
    const std::string to = table_.Path(step.new_path);
    ARROW_RETURN_NOT_OK(table_.store->Link(table_.Path(step.path), to).status());
    ARROW_RETURN_NOT_OK(table_.store->Delete(table_.Path(step.path)));
    return table::SyncFiles(table_, durability_, {to});
  }

  arrow::Status Commit(Operation operation) {
    const dataset::CommitPlace place = {table_, manifest_, options_.session, /*cleans_up=*/false};
    ARROW_ASSIGN_OR_RAISE(const Dataset made,
                          dataset::CommitVerb(place, std::move(operation), options_.version));
    manifest_ = StateOf(made)->manifest;
    return arrow::Status::OK();
  }

  table::TableLocation table_;
  const RepairPlan& plan_;
  const RepairOptions& options_;
  table::ManifestPtr manifest_;
  table::Durability durability_ = table::Durability::kCommit;
  table::Delete drop_;
  table::CreateIndex unlist_;
};

}  // namespace

arrow::Result<RepairPlan> PlanRepair(std::string_view uri, const RepairOptions& options) {
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(uri));
  return Planner(uri, std::move(table), options).Run();
}

arrow::Result<std::optional<Dataset>> Repair(std::string_view uri, const RepairPlan& plan,
                                             const RepairOptions& options) {
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(uri));
  return Repairer(std::move(table), plan, options).Run();
}

}  // namespace glaive
