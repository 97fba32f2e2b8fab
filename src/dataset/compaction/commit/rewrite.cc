#include "dataset/compaction/commit/rewrite.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/compaction/plan/options.h"
#include "dataset/handle/dataset_state.h"
#include "table/commit/publish.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20;  // of deletion vectors that are being written

template <typename Visit>
void VisitNewFiles(const RewriteResult& result, const Visit& visit) {
  for (const FragmentMetadata& fragment : result.new_fragments) {
    for (const wire::DataFile& file : StateOf(fragment)->fragment.files) visit(file);
  }
}

arrow::Status CheckResult(const RewriteResult& result) {
  if (result.original_fragments.empty()) {
    return InvalidInput("a compaction result that replaces no fragment");
  }
  for (const FragmentMetadata& fragment : result.new_fragments) {
    if (fragment.physical_rows() == 0 || fragment.deletion_file()) {
      return InvalidInput("a compaction result with a new fragment that {}",
                          fragment.deletion_file() ? "has deleted rows" : "tells no rows");
    }
  }
  return arrow::Status::OK();
}

// The versions that tasks read, as far as they are there.
class ReadVersions {
 public:
  explicit ReadVersions(const Dataset& dataset) : dataset_(dataset) {}

  // Of a version that was cleaned up, the result itself tells what was read.
  arrow::Result<std::vector<wire::DataFragment>> FragmentsOf(const RewriteResult& result,
                                                             std::optional<wire::Schema>* schema) {
    ARROW_ASSIGN_OR_RAISE(const table::ManifestPtr manifest, Find(result.read_version));
    if (manifest != nullptr) *schema = manifest->schema;
    std::vector<wire::DataFragment> fragments;
    for (const FragmentMetadata& original : result.original_fragments) {
      const wire::DataFragment& told = StateOf(original)->fragment;
      if (manifest == nullptr) {
        fragments.push_back(told);
        continue;
      }
      const auto view = manifest->fragments.Find(told.id);
      if (!view) return IsOfAnother(result, told.id);
      ARROW_ASSIGN_OR_RAISE(wire::DataFragment read, view->Parse());
      if (!std::ranges::equal(read.files, told.files, {}, &wire::DataFile::path,
                              &wire::DataFile::path)) {
        return IsOfAnother(result, told.id);
      }
      fragments.push_back(std::move(read));
    }
    return fragments;
  }

 private:
  arrow::Result<table::ManifestPtr> Find(uint64_t version) {
    if (version == dataset_.version()) return StateOf(dataset_)->manifest;
    const auto [found, is_new] = manifests_.try_emplace(version);
    if (!is_new) return found->second;
    const auto there = dataset_.Checkout(version);
    if (there.ok()) found->second = StateOf(*there)->manifest;
    if (!there.ok() && KindOf(there.status()) != ErrorKind::kNotFound) return there.status();
    return found->second;
  }

  static arrow::Status IsOfAnother(const RewriteResult& result, uint64_t id) {
    return InvalidInput(
        "a compaction result is of another table: version {} of this one has no such fragment {}",
        result.read_version, id);
  }

  const Dataset& dataset_;
  std::map<uint64_t, table::ManifestPtr> manifests_;
};

// A file of a result that travelled that was removed on its way.
arrow::Result<std::optional<std::string>> FindLostFile(const RewriteResult& result,
                                                       const table::TableLocation& table) {
  const bool has_travelled = result.summary.files == 0;  // which is not part of the JSON
  if (!has_travelled) return std::nullopt;
  for (const FragmentMetadata& fragment : result.new_fragments) {
    for (const wire::DataFile& file : StateOf(fragment)->fragment.files) {
      if (file.base_id) continue;
      ARROW_ASSIGN_OR_RAISE(const auto found, table.store->Head(table.Path("data/" + file.path)));
      const bool is_there =
          found && (file.file_size_bytes == 0 || file.file_size_bytes == found->size_bytes);
      if (!is_there) return file.path;
    }
  }
  return std::nullopt;
}

}  // namespace

RewriteCommit::RewriteCommit(read::Snapshot snapshot, RewriteHistory history,
                             std::vector<RewriteTask> tasks)
    : snapshot_(std::move(snapshot)),
      history_(std::move(history)),
      tasks_(std::move(tasks)),
      deletion_files_(snapshot_.location.store) {}

arrow::Result<RewriteCommit> RewriteCommit::Make(const Dataset& dataset,
                                                 std::span<const RewriteResult> results) {
  read::Snapshot snapshot = SnapshotOf(dataset);
  ReadVersions versions(dataset);
  std::vector<RewriteTask> tasks;
  std::set<uint64_t> old_ids;
  std::set<std::string> new_paths;
  for (const RewriteResult& result : results) {
    ARROW_RETURN_NOT_OK(CheckResult(result));
    RewriteTask& task = tasks.emplace_back(RewriteTask{.result = &result});
    ARROW_ASSIGN_OR_RAISE(task.read, versions.FragmentsOf(result, &task.schema));
    ARROW_ASSIGN_OR_RAISE(task.lost_file, FindLostFile(result, snapshot.location));
    for (const wire::DataFragment& fragment : task.read) old_ids.insert(fragment.id);
    VisitNewFiles(result, [&](const wire::DataFile& file) { new_paths.insert(file.path); });
  }
  RewriteHistory history(snapshot.location, std::move(old_ids), std::move(new_paths));
  return RewriteCommit(std::move(snapshot), std::move(history), std::move(tasks));
}

arrow::Result<table::Change> RewriteCommit::MakeChange(const table::ManifestPtr& latest) {
  snapshot_.manifest = latest;
  ARROW_RETURN_NOT_OK(CheckCanRewrite(*latest));
  uint64_t first_read = UINT64_MAX;
  for (const RewriteTask& task : tasks_) {
    if (task.result->read_version > latest->version) {
      return InvalidInput("a compaction result was read from version {}, which is not there",
                          task.result->read_version);
    }
    first_read = std::min(first_read, task.result->read_version);
  }
  ARROW_RETURN_NOT_OK(history_.Read(first_read, latest->version));
  ARROW_RETURN_NOT_OK(MeetAll());
  leaves_all_ = std::ranges::none_of(tasks_, [](const auto& task) { return task.verdict.ok(); });
  if (leaves_all_) return FirstVerdict();
  GiveIds();
  ARROW_RETURN_NOT_OK(WriteDeletions());
  return Operation();
}

arrow::Status RewriteCommit::MeetAll() {
  std::set<uint64_t> replaced;
  for (RewriteTask& task : tasks_) {
    ARROW_RETURN_NOT_OK(Meet(snapshot_, history_, task));
    if (!task.verdict.ok()) continue;
    if (task.lost_file) {
      task.verdict =
          InvalidInput("{}, which a compaction task wrote, is not there any more", *task.lost_file);
      continue;
    }
    const auto twice = std::ranges::find_if(
        task.read, [&](const auto& fragment) { return replaced.contains(fragment.id); });
    if (twice != task.read.end()) {
      task.verdict = CommitConflict(Retry::kNo, snapshot_.manifest->version,
                                    "another of the results replaces fragment {}", twice->id);
      continue;
    }
    for (const wire::DataFragment& fragment : task.read) replaced.insert(fragment.id);
  }
  return arrow::Status::OK();
}

arrow::Status RewriteCommit::FirstVerdict() const {
  const auto retryable =
      std::ranges::find_if(tasks_, [](const auto& task) { return IsRetryable(task.verdict); });
  return retryable != tasks_.end() ? retryable->verdict : tasks_.front().verdict;
}

// The next ones of the version, since the operation is made for it alone: nothing needs to be
// reserved. A deletion file is named by its fragment's id.
void RewriteCommit::GiveIds() {
  const auto& last = snapshot_.manifest->max_fragment_id;
  uint64_t next = last ? uint64_t{*last} + 1 : 0;
  for (RewriteTask& task : tasks_) {
    if (!task.verdict.ok()) continue;
    for (size_t i = 0; i < task.made.size(); ++i) {
      RewriteTask::NewFragment& made = task.made[i];
      if (task.IsEmpty(i)) continue;
      if (made.id != next) made.file.reset();
      made.id = next++;
    }
  }
}

arrow::Status RewriteCommit::WriteDeletions() {
  const table::TableLocation& table = snapshot_.location;
  std::vector<RewriteTask::NewFragment*> changed;
  for (RewriteTask& task : tasks_) {
    for (size_t i = 0; task.verdict.ok() && i < task.made.size(); ++i) {
      if (!task.made[i].deleted.empty() && !task.IsEmpty(i)) changed.push_back(&task.made[i]);
    }
  }
  // What an earlier attempt wrote is as good for this one, unless the fragment got another id.
  std::vector<RewriteTask::NewFragment*> unwritten;
  std::ranges::copy_if(changed, std::back_inserter(unwritten),
                       [](const auto* made) { return !made->file; });
  MemoryBudget budget(kBudget);
  auto next = unwritten.begin();
  const auto source = [&]() -> arrow::Result<std::optional<WorkUnit>> {
    if (next == unwritten.end()) return std::nullopt;
    RewriteTask::NewFragment& made = **next++;
    const auto run = [&table, &made, version = snapshot_.manifest->version] {
      return table::WriteDeletionFile(table, made.id, version, made.deleted).Value(&made.file);
    };
    return WorkUnit{made.deleted.size() * sizeof(uint32_t), run};
  };
  const arrow::Status status = RunInOrder(IoExecutor(), budget, source);

  NewFiles needed(table.store);
  for (const auto* made : changed) {
    if (made->file) needed.Add(table.Path(table::DeletionFilePath(made->id, *made->file)));
  }
  for (const std::string& path : deletion_files_.paths()) {
    if (std::ranges::count(needed.paths(), path) == 0) static_cast<void>(table.store->Delete(path));
  }
  deletion_files_.Keep();
  deletion_files_.Take(needed);
  return status;
}

table::Rewrite RewriteCommit::Operation() const {
  table::Rewrite rewrite;
  for (const RewriteTask& task : tasks_) {
    if (!task.verdict.ok()) continue;
    table::Rewrite::Group& group = rewrite.groups.emplace_back();
    group.old_fragments = table::FragmentsOf(task.current);
    for (size_t i = 0; i < task.made.size(); ++i) {
      if (task.IsEmpty(i)) continue;
      wire::DataFragment fragment = StateOf(task.result->new_fragments[i])->fragment;
      fragment.id = task.made[i].id;
      fragment.deletion_file = task.made[i].file;
      group.new_fragments.push_back(table::MakeFragmentMetadata(std::move(fragment)));
    }
  }
  return rewrite;
}

void RewriteCommit::RemoveUseless() {
  std::set<std::string> used;
  std::vector<std::pair<const RewriteTask*, std::string>> unused;
  for (const RewriteTask& task : tasks_) {
    for (size_t i = 0; i < task.result->new_fragments.size(); ++i) {
      const bool is_used = task.verdict.ok() && !task.IsEmpty(i);
      for (const wire::DataFile& file : StateOf(task.result->new_fragments[i])->fragment.files) {
        if (is_used) {
          used.insert(file.path);
        } else if (!file.base_id) {
          unused.emplace_back(&task, file.path);
        }
      }
    }
  }
  const table::TableLocation& table = snapshot_.location;
  for (const auto& [task, path] : unused) {
    // The same result may have been committed before, and be part of older versions only by now.
    const bool is_certain =
        history_.IsWholeAfter(task->result->read_version) && !history_.VersionWith(path);
    const bool is_plain = path.find('/') == std::string::npos && path != "..";
    if (!is_certain || !is_plain || used.contains(path)) continue;
    static_cast<void>(table.store->Delete(table.Path("data/" + path)));
  }
}

}  // namespace glaive::dataset
