#include "glaive/maintain.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>

#include "core/error.h"
#include "dataset/compaction/run/run.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "inspect/row_comparison.h"
#include "table/commit/after_put.h"
#include "table/commit/publish.h"

namespace glaive {
namespace {

constexpr uint64_t kReadAheadBytes = uint64_t{8} << 20;

// A version outside of the history, which goes with this object.
class DetachedVersion {
 public:
  static arrow::Result<DetachedVersion> Commit(const Dataset& base, Operation operation) {
    const table::TableLocation& location = StateOf(base)->location;
    ARROW_ASSIGN_OR_RAISE(
        auto manifest,
        table::CommitDetached(location, StateOf(base)->manifest, std::move(operation),
                              {.durability = table::Durability::kNone, .detached = true}));
    return DetachedVersion(location, std::move(manifest));
  }
  DetachedVersion(DetachedVersion&&) = default;
  ~DetachedVersion() {
    // What cannot be removed keeps its files, and is in nobody's way.
    if (manifest_ != nullptr) static_cast<void>(table::TakeBack(location_, *manifest_));
  }

  uint64_t number() const { return manifest_->version; }

 private:
  DetachedVersion(table::TableLocation location, table::ManifestPtr manifest)
      : location_(std::move(location)), manifest_(std::move(manifest)) {}

  table::TableLocation location_;
  table::ManifestPtr manifest_;
};

// The version as the store has it now.
arrow::Result<Dataset> OpenUncached(const table::TableLocation& location, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(auto manifest, table::ReadManifest(location, version));
  return dataset::MakeDataset(location, std::move(manifest), std::make_shared<Session>());
}

// Fragments of one group, before and after.
struct Group {
  std::vector<uint64_t> old_ids;
  std::vector<uint64_t> new_ids;
};

table::Rewrite RewriteOf(const std::vector<const RewriteResult*>& results, uint64_t first_id,
                         std::vector<Group>* groups) {
  table::Rewrite rewrite;
  for (const RewriteResult* result : results) {
    table::Rewrite::Group& rewritten = rewrite.groups.emplace_back();
    Group& group = groups->emplace_back();
    for (const FragmentMetadata& fragment : result->original_fragments) {
      rewritten.old_fragments.push_back(fragment);
      group.old_ids.push_back(fragment.id());
    }
    for (const FragmentMetadata& fragment : result->new_fragments) {
      wire::DataFragment entry = StateOf(fragment)->fragment;
      entry.id = first_id;
      rewritten.new_fragments.push_back(table::MakeFragmentMetadata(std::move(entry)));
      group.new_ids.push_back(first_id++);
    }
  }
  return rewrite;
}

// All that a reader can see of the fragments' rows, in order.
arrow::Result<std::unique_ptr<ScanStream>> RowsOf(const Dataset& dataset,
                                                  std::vector<uint64_t> fragment_ids) {
  ScanOptions options;
  options.columns = dataset.schema()->field_names();
  if (dataset.has_stable_row_ids()) {
    for (const char* name : {"_rowid", "_row_created_at_version", "_row_last_updated_at_version"}) {
      options.columns->emplace_back(name);
    }
  }
  options.columns->emplace_back("_rowaddr");
  options.fragment_ids = std::move(fragment_ids);
  options.read_ahead_bytes = kReadAheadBytes;
  return Scan(dataset, options);
}

arrow::Status RefuseDifference(const Dataset& canary, const std::vector<uint64_t>& new_ids,
                               const inspect::RowDifference& found) {
  const uint64_t id = found.address_b ? *found.address_b >> 32 : new_ids.empty() ? 0 : new_ids[0];
  std::string path = "(no file)";
  ARROW_ASSIGN_OR_RAISE(const auto fragment, canary.GetFragment(id));
  if (fragment && !fragment->files().empty()) path = "data/" + fragment->files().front().path;
  const auto place = [](const std::optional<uint64_t>& address) {
    if (!address) return std::string("none");
    return fmt::format("fragment {} row {}", *address >> 32, *address & UINT32_MAX);
  };
  return Corrupt({path}, "row {} is not that of before, {}: {}",
                 found.address_b ? *found.address_b & UINT32_MAX : found.row,
                 place(found.address_a), found.what);
}

// One version that was read, and the detached one that the results make of it.
class Canary {
 public:
  Canary(const Dataset& before, const Dataset& after, const std::vector<Group>& groups)
      : before_(before), after_(after), groups_(groups) {}

  arrow::Status Check(const ProgressCallback& progress, CanaryReport* report) const {
    ARROW_RETURN_NOT_OK(CheckTable());
    ARROW_RETURN_NOT_OK(CheckOtherFragments());
    for (const Group& group : groups_) ARROW_RETURN_NOT_OK(CheckRows(group, progress, report));
    return arrow::Status::OK();
  }

 private:
  const std::string& path() const { return StateOf(after_)->manifest->path; }

  arrow::Status CheckTable() const {
    if (!before_.schema()->Equals(*after_.schema(), /*check_metadata=*/true)) {
      return Corrupt({path()}, "the schema is not that of version {}", before_.version());
    }
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows_before, before_.CountRows());
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows_after, after_.CountRows());
    if (rows_before == rows_after) return arrow::Status::OK();
    return Corrupt({path()}, "{} rows, where version {} has {}", rows_after, before_.version(),
                   rows_before);
  }

  // The records of the fragments that no task had are the same bytes.
  arrow::Status CheckOtherFragments() const {
    std::set<uint64_t> in_groups;
    for (const Group& group : groups_) {
      in_groups.insert(group.old_ids.begin(), group.old_ids.end());
      in_groups.insert(group.new_ids.begin(), group.new_ids.end());
    }
    const table::FragmentTable& before = StateOf(before_)->manifest->fragments;
    const table::FragmentTable& after = StateOf(after_)->manifest->fragments;
    uint64_t same = 0;
    ARROW_RETURN_NOT_OK(before.Visit([&](const table::Fragment& fragment) -> arrow::Status {
      if (in_groups.contains(fragment.id())) return arrow::Status::OK();
      const auto found = after.Find(fragment.id());
      ++same;
      if (found && std::ranges::equal(found->message(), fragment.message())) {
        return arrow::Status::OK();
      }
      return Corrupt({path()}, "fragment {}, which was not rewritten, is not that of version {}",
                     fragment.id(), before_.version());
    }));
    uint64_t num_new = 0;
    for (const Group& group : groups_) num_new += group.new_ids.size();
    if (after_.num_fragments() == same + num_new) return arrow::Status::OK();
    return Corrupt({path()}, "{} fragments, expected {}", after_.num_fragments(), same + num_new);
  }

  arrow::Status CheckRows(const Group& group, const ProgressCallback& progress,
                          CanaryReport* report) const {
    ARROW_ASSIGN_OR_RAISE(const auto rows_before, RowsOf(before_, group.old_ids));
    ARROW_ASSIGN_OR_RAISE(const auto rows_after, RowsOf(after_, group.new_ids));
    uint64_t rows = 0;
    ARROW_ASSIGN_OR_RAISE(const auto difference,
                          inspect::FirstDifference(*rows_before, *rows_after, [&](const auto& now) {
                            rows = now.rows;
                            return progress ? progress({.rows = report->rows + rows})
                                            : arrow::Status::OK();
                          }));
    if (difference) return RefuseDifference(after_, group.new_ids, *difference);
    report->rows += rows;
    report->old_fragments += group.old_ids.size();
    report->new_fragments += group.new_ids.size();
    return arrow::Status::OK();
  }

  const Dataset& before_;
  const Dataset& after_;
  const std::vector<Group>& groups_;
};

}  // namespace

arrow::Result<CanaryReport> CheckRewrites(const Dataset& dataset,
                                          std::span<const RewriteResult> results,
                                          const ProgressCallback& progress) {
  std::map<uint64_t, std::vector<const RewriteResult*>> by_version;
  for (const RewriteResult& result : results) by_version[result.read_version].push_back(&result);
  const table::TableLocation& location = StateOf(dataset)->location;
  CanaryReport report;
  for (const auto& [version, of_version] : by_version) {
    ARROW_ASSIGN_OR_RAISE(const Dataset before, OpenUncached(location, version));
    const uint64_t first_id = StateOf(before)->manifest->max_fragment_id.value_or(0) + uint64_t{1};
    std::vector<Group> groups;
    ARROW_ASSIGN_OR_RAISE(
        const DetachedVersion detached,
        DetachedVersion::Commit(before, RewriteOf(of_version, first_id, &groups)));
    ARROW_ASSIGN_OR_RAISE(const Dataset after, OpenUncached(location, detached.number()));
    ARROW_RETURN_NOT_OK(Canary(before, after, groups).Check(progress, &report));
  }
  return report;
}

arrow::Result<CheckedCompaction> CompactWithCanary(const Dataset& dataset,
                                                   const CompactionOptions& options) {
  CanaryReport report;
  const auto check = [&](std::span<const RewriteResult> results) {
    return CheckRewrites(dataset, results, options.version.progress).Value(&report);
  };
  ARROW_ASSIGN_OR_RAISE(CompactionResult compaction,
                        dataset::CompactFiles(dataset, options, check));
  return CheckedCompaction{.compaction = std::move(compaction), .canary = report};
}

}  // namespace glaive
