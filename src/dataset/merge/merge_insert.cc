#include "glaive/rows.h"

#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/commit/retry.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/merge/attempt.h"
#include "dataset/merge/plan.h"
#include "io/object_store.h"
#include "table/commit/publish.h"

namespace glaive {

using dataset::MergePlan;
using dataset::MergeSource;
using dataset::StagedMerge;

arrow::Result<MergeInsertResult> MergeInsert(const Dataset& dataset,
                                             std::shared_ptr<arrow::RecordBatchReader> source,
                                             const MergeInsertOptions& options) {
  // What cannot be is said before the source is read.
  ARROW_RETURN_NOT_OK(MergePlan::Make(dataset, *source->schema(), options).status());
  ARROW_ASSIGN_OR_RAISE(const MergeSource rows,
                        MergeSource::Read(source, options.version.progress));
  uint64_t num_attempts = 0;
  return dataset::Persist(
      dataset, {options.conflict_retries, options.retry_timeout_ms, options.version.progress},
      [&](const Dataset& current) -> arrow::Result<MergeInsertResult> {
        ++num_attempts;
        ARROW_ASSIGN_OR_RAISE(StagedMerge staged, dataset::StageMerge(current, rows, options));
        ARROW_ASSIGN_OR_RAISE(Dataset after, dataset::CommitVerb(dataset::PlaceOf(current),
                                                                 std::move(staged.operation),
                                                                 options.version, &staged.files));
        staged.stats.num_attempts = num_attempts;
        return MergeInsertResult{std::move(after), staged.stats};
      });
}

arrow::Result<StagedMergeInsert> StageMergeInsert(const Dataset& dataset,
                                                  std::shared_ptr<arrow::RecordBatchReader> source,
                                                  const MergeInsertOptions& options) {
  ARROW_RETURN_NOT_OK(MergePlan::Make(dataset, *source->schema(), options).status());
  ARROW_ASSIGN_OR_RAISE(const MergeSource rows,
                        MergeSource::Read(source, options.version.progress));
  ARROW_ASSIGN_OR_RAISE(StagedMerge staged, dataset::StageMerge(dataset, rows, options));
  StagedMergeInsert result{.transaction = {.read_version = dataset.version(),
                                           .uuid = table::NewUuid(),
                                           .properties = dataset::PropertiesOf(options.version)},
                           .stats = staged.stats};
  result.stats.num_attempts = 1;
  result.transaction.operation = std::move(staged.operation);
  ARROW_RETURN_NOT_OK(dataset::HandOver(*StateOf(dataset)->location.store, staged.files,
                                        options.version.durability));
  return result;
}

arrow::Status CheckMergeOptions(const MergeInsertOptions& options) {
  const bool changes = options.when_matched != WhenMatched::kDoNothing ||
                       options.insert_not_matched || options.delete_not_matched_by_source;
  if (changes) return arrow::Status::OK();
  return InvalidInput("The merge insert job is not configured to change the data in any way");
}

arrow::Result<std::vector<std::string>> MergeKeyColumns(const Dataset& dataset,
                                                        const std::vector<std::string>& on) {
  return dataset::KeyColumns(dataset, on);
}

arrow::Result<std::string> ExplainMergeInsert(const Dataset& dataset, const arrow::Schema& source,
                                              const MergeInsertOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const MergePlan plan, MergePlan::Make(dataset, source, options));
  const auto names = [](const std::vector<wire::Field>& fields) {
    std::vector<std::string> out;
    for (const wire::Field& field : fields) out.push_back(field.name);
    return fmt::format("{}", fmt::join(out, ", "));
  };
  std::string text = dataset::DescribeMerge(plan.on, options);
  text +=
      fmt::format("\n  WriteRows: columns=[{}]", names(StateOf(dataset)->manifest->schema.fields));
  if (plan.update_condition) {
    text += fmt::format("\n    MergeCondition: {}, target_columns=[{}]", *options.update_condition,
                        fmt::join(plan.update_condition->target_columns(), ", "));
  }
  text += fmt::format("\n    HashJoin: on=[{}]", fmt::join(plan.on, ", "));
  text += fmt::format("\n      LanceRead: uri={}, version={}, projection=[{}], num_fragments={}",
                      dataset.uri(), dataset.version(), fmt::join(plan.on, ", "),
                      dataset.num_fragments());
  text += fmt::format("\n      Source: projection=[{}]\n", names(plan.fields.fields));
  return text;
}

arrow::Result<std::string> AnalyzeMergeInsert(const Dataset& dataset,
                                              std::shared_ptr<arrow::RecordBatchReader> source,
                                              const MergeInsertOptions& options) {
  ARROW_ASSIGN_OR_RAISE(std::string text, ExplainMergeInsert(dataset, *source->schema(), options));
  ARROW_ASSIGN_OR_RAISE(const MergeSource rows,
                        MergeSource::Read(source, options.version.progress));
  ARROW_ASSIGN_OR_RAISE(const StagedMerge staged, dataset::StageMerge(dataset, rows, options));
  const MergeInsertStats& stats = staged.stats;
  const auto metrics = fmt::format(
      ", metrics=[bytes_written={}, num_deleted_rows={}, num_files_written={}, "
      "num_inserted_rows={}, num_skipped_duplicates={}, num_updated_rows={}]",
      stats.bytes_written, stats.num_deleted_rows, stats.num_files_written, stats.num_inserted_rows,
      stats.num_skipped_duplicates, stats.num_updated_rows);
  return text.insert(text.find('\n'), metrics);
}

}  // namespace glaive
