#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/dataset_state.h"
#include "dataset/new_files.h"
#include "dataset/scan_plan.h"
#include "dataset/session_state.h"
#include "dataset/write_session.h"
#include "glaive/scan.h"
#include "glaive/write.h"
#include "table/commit.h"
#include "table/deletion_vector.h"

namespace glaive {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBudget = uint64_t{256} << 20;

// A fragment and what of it is deleted afterwards.
struct ChangedFragment {
  wire::DataFragment fragment;
  uint64_t physical_rows = 0;
  table::DeletionVector deletions;
  bool is_written = false;

  bool is_empty() const { return deletions.size() == physical_rows; }
};

// One attempt, on one version.
class DeleteAttempt {
 public:
  DeleteAttempt(const Dataset& dataset, const Predicate& predicate, const DeleteOptions& options)
      : dataset_(dataset),
        predicate_(predicate),
        options_(options),
        snapshot_(dataset::SnapshotOf(dataset)),
        files_(snapshot_.location.store) {}

  arrow::Result<DeleteResult> Run() {
    ARROW_RETURN_NOT_OK(FindRows());
    ARROW_RETURN_NOT_OK(ChangeFragments());
    ARROW_RETURN_NOT_OK(WriteFiles());
    return Commit();
  }

 private:
  // Addresses of the rows to delete, ascending as the scan gives them.
  arrow::Status FindRows() {
    ScanOptions scan;
    scan.columns = std::vector<std::string>{"_rowaddr"};
    scan.filter = predicate_;
    ARROW_ASSIGN_OR_RAISE(dataset::ScanPlan plan, dataset::PlanScan(dataset_, scan));
    predicate_text_ = plan.columns->filter->ToString();
    MemoryBudget budget(kBudget);
    dataset::ScanUnits units(
        std::move(plan), [this](const std::shared_ptr<arrow::RecordBatch>& batch) {
          const auto& values = static_cast<const arrow::UInt64Array&>(*batch->column(0));
          rows_.insert(rows_.end(), values.raw_values(), values.raw_values() + values.length());
          return options_.progress ? options_.progress({.rows = rows_.size()})
                                   : arrow::Status::OK();
        });
    return RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); });
  }

  arrow::Status ChangeFragments() {
    for (auto next = rows_.begin(); next != rows_.end();) {
      const uint64_t id = *next >> 32;
      std::vector<uint32_t> offsets;
      for (; next != rows_.end() && *next >> 32 == id; ++next) {
        offsets.push_back(static_cast<uint32_t>(*next));
      }
      ChangedFragment changed;
      ARROW_ASSIGN_OR_RAISE(changed.fragment, snapshot_.manifest->fragments.Find(id)->Parse());
      ARROW_ASSIGN_OR_RAISE(changed.physical_rows, read::PhysicalRows(snapshot_, changed.fragment));
      ARROW_ASSIGN_OR_RAISE(const auto before,
                            read::Deletions(snapshot_, changed.fragment, changed.physical_rows));
      changed.deletions = before->Union(table::DeletionVector(std::move(offsets)));
      changed_.push_back(std::move(changed));
    }
    return arrow::Status::OK();
  }

  arrow::Status WriteFiles() {
    MemoryBudget budget(kBudget);
    auto next = changed_.begin();
    const auto write_next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
      while (next != changed_.end() && next->is_empty()) ++next;
      if (next == changed_.end()) return std::nullopt;
      ChangedFragment& changed = *next++;
      const auto run = [this, &changed]() -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(
            changed.fragment.deletion_file,
            table::WriteDeletionFile(snapshot_.location, changed.fragment.id,
                                     snapshot_.manifest->version, changed.deletions));
        changed.is_written = true;
        return arrow::Status::OK();
      };
      return WorkUnit{changed.deletions.size() * sizeof(uint32_t), run};
    };
    const arrow::Status status = RunInOrder(ProcessExecutor(), budget, write_next);
    // No unit is running any more; those that came after one that failed may have written too.
    for (const ChangedFragment& changed : changed_) {
      if (!changed.is_written) continue;
      files_.Add(snapshot_.location.Path(
          table::DeletionFilePath(changed.fragment.id, *changed.fragment.deletion_file)));
    }
    return status;
  }

  arrow::Result<DeleteResult> Commit() {
    table::Delete operation;
    operation.predicate = predicate_text_;
    for (ChangedFragment& changed : changed_) {
      if (changed.is_empty()) {
        operation.deleted_fragment_ids.push_back(changed.fragment.id);
      } else {
        operation.updated_fragments.push_back(std::move(changed.fragment));
      }
    }
    const uint64_t num_deleted_rows = rows_.size();
    operation.affected_rows = std::move(rows_);
    table::CommitOptions commit;
    ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options_.durability));
    commit.transaction_properties = options_.transaction_properties;
    commit.files_to_sync = files_.paths();
    auto manifest =
        table::Commit(snapshot_.location, snapshot_.manifest, std::move(operation), commit);
    const bool may_be_committed =
        manifest.ok() || KindOf(manifest.status()) == ErrorKind::kCommitUnknown;
    if (may_be_committed) files_.Keep();
    ARROW_RETURN_NOT_OK(manifest.status());
    ARROW_ASSIGN_OR_RAISE(
        Dataset after,
        dataset::MakeDataset(snapshot_.location, *std::move(manifest), dataset_.state()->session));
    return DeleteResult{std::move(after), num_deleted_rows};
  }

  const Dataset& dataset_;
  const Predicate& predicate_;
  const DeleteOptions& options_;
  read::Snapshot snapshot_;
  std::string predicate_text_;
  std::vector<uint64_t> rows_;
  std::vector<ChangedFragment> changed_;
  dataset::NewFiles files_;
};

}  // namespace

arrow::Result<DeleteResult> Delete(const Dataset& dataset, const Predicate& predicate,
                                   const DeleteOptions& options) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(options.retry_timeout_ms);
  Dataset current = dataset;
  for (uint32_t attempt = 0;; ++attempt) {
    auto result = DeleteAttempt(current, predicate, options).Run();
    if (result.ok() || !IsRetryable(result.status())) return result;
    if (attempt == options.conflict_retries || Clock::now() >= deadline) return result;
    ARROW_ASSIGN_OR_RAISE(current, current.CheckoutLatest());
  }
}

}  // namespace glaive
