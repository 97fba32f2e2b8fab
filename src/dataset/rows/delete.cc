#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/commit/retry.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/rows/deleted_rows.h"
#include "dataset/scan/plan.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/write.h"

namespace glaive {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20;

// One attempt, on one version.
class DeleteAttempt {
 public:
  DeleteAttempt(const Dataset& dataset, const Predicate& predicate, const DeleteOptions& options)
      : dataset_(dataset),
        predicate_(predicate),
        options_(options),
        snapshot_(dataset::SnapshotOf(dataset)) {}

  arrow::Result<DeleteResult> Run() {
    ARROW_RETURN_NOT_OK(FindRows());
    ARROW_ASSIGN_OR_RAISE(auto hidden, dataset::HideRows(snapshot_, rows_));
    const uint64_t num_deleted_rows = rows_.size();
    ARROW_ASSIGN_OR_RAISE(
        Dataset after,
        dataset::CommitVerb(
            dataset::PlaceOf(dataset_),
            table::Delete{
                .updated_fragments = table::FragmentsOf(std::move(hidden.updated_fragments)),
                .deleted_fragment_ids = std::move(hidden.removed_fragment_ids),
                .predicate = predicate_text_,
                .affected_rows = std::move(rows_)},
            options_.version, &hidden.files));
    return DeleteResult{std::move(after), num_deleted_rows};
  }

 private:
  // Addresses of the rows to delete, ascending as the scan gives them.
  arrow::Status FindRows() {
    ScanOptions scan;
    scan.columns = std::vector<std::string>{"_rowaddr"};
    scan.filter = predicate_;
    ARROW_RETURN_NOT_OK(dataset::BindFilter(dataset_, predicate_).status());
    ARROW_ASSIGN_OR_RAISE(dataset::ScanPlan plan, dataset::PlanScan(dataset_, scan));
    predicate_text_ = plan.columns->filter->ToString();
    MemoryBudget budget(kBudget);
    dataset::ScanUnits units(
        std::move(plan), [this](const std::shared_ptr<arrow::RecordBatch>& batch) {
          const auto& values = static_cast<const arrow::UInt64Array&>(*batch->column(0));
          rows_.insert(rows_.end(), values.raw_values(), values.raw_values() + values.length());
          return options_.version.progress ? options_.version.progress({.rows = rows_.size()})
                                           : arrow::Status::OK();
        });
    return RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); });
  }

  const Dataset& dataset_;
  const Predicate& predicate_;
  const DeleteOptions& options_;
  read::Snapshot snapshot_;
  std::string predicate_text_;
  std::vector<uint64_t> rows_;
};

}  // namespace

arrow::Result<DeleteResult> Delete(const Dataset& dataset, const Predicate& predicate,
                                   const DeleteOptions& options) {
  return dataset::Persist(
      dataset, {options.conflict_retries, options.retry_timeout_ms, options.version.progress},
      [&](const Dataset& current) { return DeleteAttempt(current, predicate, options).Run(); });
}

}  // namespace glaive
