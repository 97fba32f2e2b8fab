#include "dataset/merge/attempt.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "core/pieces.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/merge/inserted_keys.h"
#include "dataset/merge/match.h"
#include "dataset/merge/plan.h"
#include "dataset/merge/rows.h"
#include "dataset/rows/carrier.h"
#include "dataset/rows/deleted_rows.h"
#include "dataset/scan/addressed_rows.h"
#include "dataset/scan/plan.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr size_t kConditionRows = 16 << 10;

void CollectIds(const std::vector<wire::Field>& fields, std::vector<uint32_t>* ids) {
  for (const wire::Field& field : fields) {
    ids->push_back(static_cast<uint32_t>(field.id));
    CollectIds(field.children, ids);
  }
}

class MergeAttempt {
 public:
  MergeAttempt(const Dataset& dataset, const MergeInsertOptions& options, MergePlan plan,
               MergeSource source)
      : dataset_(dataset),
        options_(options),
        plan_(std::move(plan)),
        source_(std::move(source)),
        snapshot_(SnapshotOf(dataset)) {}

  arrow::Result<StagedMerge> Run() {
    ARROW_ASSIGN_OR_RAISE(MergeMatches matches, Match());
    ARROW_RETURN_NOT_OK(ActOnMatches(std::move(matches.matched)));
    ARROW_RETURN_NOT_OK(DeleteUnmatched(std::move(matches.only_in_target)));
    if (options_.insert_not_matched) inserted_ = std::move(matches.only_in_source);
    return Write(matches.num_repeated);
  }

 private:
  arrow::Result<MergeMatches> Match() const {
    return MatchRows(
        dataset_, source_,
        {.on = plan_.on,
         .first_of_each_key = options_.source_duplicates == SourceDuplicates::kFirstSeen,
         .only_in_target = options_.delete_not_matched_by_source && !options_.delete_condition,
         .progress = options_.version.progress});
  }

  arrow::Status ActOnMatches(std::vector<MatchedRow> matched) {
    for (const MatchedRow& row : matched) matched_.push_back(row.address);
    matched_.erase(std::ranges::unique(matched_).begin(), matched_.end());
    switch (options_.when_matched) {
      case WhenMatched::kDoNothing: return arrow::Status::OK();
      case WhenMatched::kFail: {
        if (matched.empty()) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const std::string key, KeyOf(matched.front().source_row));
        return AlreadyExists("Merge insert failed: found matching row with key values: {}", key);
      }
      case WhenMatched::kDelete:
        ARROW_RETURN_NOT_OK(CheckUnambiguous(matched));
        deleted_ = matched_;
        return arrow::Status::OK();
      case WhenMatched::kUpdateAll: break;
    }
    if (plan_.update_condition) ARROW_RETURN_NOT_OK(KeepTrue(matched));
    updated_ = std::move(matched);
    return CheckUnambiguous(updated_);
  }

  arrow::Status CheckUnambiguous(const std::vector<MatchedRow>& rows) const {
    const auto twice = std::ranges::adjacent_find(rows, {}, &MatchedRow::address);
    if (twice == rows.end()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const std::string key, KeyOf(twice->source_row));
    return InvalidInput(
        "Ambiguous merge inserts are prohibited: multiple source rows match the same target row on "
        "({})",
        key);
  }

  // "id = 2, name = "x"", for people.
  arrow::Result<std::string> KeyOf(uint32_t source_row) const {
    ARROW_ASSIGN_OR_RAISE(const auto row, source_.Take({&source_row, 1}));
    std::vector<std::string> parts;
    for (const std::string& name : plan_.on) {
      ARROW_ASSIGN_OR_RAISE(const auto value, row->GetColumnByName(name)->GetScalar(0));
      const bool is_text = arrow::is_string(value->type->id());
      parts.push_back(is_text ? fmt::format("{} = \"{}\"", name, value->ToString())
                              : fmt::format("{} = {}", name, value->ToString()));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  // Leaves the rows for which the condition is true.
  arrow::Status KeepTrue(std::vector<MatchedRow>& rows) const {
    const MergeCondition& condition = *plan_.update_condition;
    std::shared_ptr<const read::Projection> projection;
    if (!condition.target_columns().empty()) {
      ARROW_ASSIGN_OR_RAISE(projection,
                            read::Projection::Make(snapshot_.manifest->schema,
                                                   {.columns = condition.target_columns()}));
    }
    std::vector<MatchedRow> kept;
    Pieces pieces(rows.size(), [](uint64_t) { return kConditionRows; });
    while (!pieces.at_end()) {
      ARROW_RETURN_NOT_OK(pieces.Next([&](Piece piece) -> arrow::Status {
        const auto part = std::span(rows).subspan(piece.begin, piece.size);
        std::vector<uint32_t> source_rows;
        std::vector<uint64_t> addresses;
        for (const MatchedRow& row : part) {
          source_rows.push_back(row.source_row);
          addresses.push_back(row.address);
        }
        ARROW_ASSIGN_OR_RAISE(const auto source, source_.Take(source_rows));
        std::shared_ptr<arrow::RecordBatch> target = source;
        if (projection != nullptr) {
          ARROW_ASSIGN_OR_RAISE(target, ReadRows(snapshot_, projection, addresses));
        }
        ARROW_ASSIGN_OR_RAISE(const auto passed, condition.Select(*source, *target));
        for (const uint32_t position : passed) kept.push_back(part[position]);
        return arrow::Status::OK();
      }));
      if (options_.version.progress)
        ARROW_RETURN_NOT_OK(options_.version.progress({.rows = pieces.done()}));
    }
    rows = std::move(kept);
    return arrow::Status::OK();
  }

  // Adds the rows to delete that no row of the source matches.
  arrow::Status DeleteUnmatched(std::vector<uint64_t> unmatched) {
    if (!options_.delete_not_matched_by_source) return arrow::Status::OK();
    if (options_.delete_condition) {
      ARROW_ASSIGN_OR_RAISE(const std::vector<uint64_t> asked, RowsWhere());
      std::ranges::set_difference(asked, matched_, std::back_inserter(unmatched));
    }
    deleted_.insert(deleted_.end(), unmatched.begin(), unmatched.end());
    std::ranges::sort(deleted_);
    return arrow::Status::OK();
  }

  arrow::Result<std::vector<uint64_t>> RowsWhere() const {
    ScanOptions scan;
    scan.columns = std::vector<std::string>{"_rowaddr"};
    scan.filter = options_.delete_condition;
    ARROW_ASSIGN_OR_RAISE(ScanPlan plan, PlanScan(dataset_, scan));
    std::vector<uint64_t> rows;
    MemoryBudget budget(kBudget);
    ScanUnits units(std::move(plan), [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
      const auto& values = static_cast<const arrow::UInt64Array&>(*batch->column(0));
      rows.insert(rows.end(), values.raw_values(), values.raw_values() + values.length());
      return options_.version.progress ? options_.version.progress({.rows = rows.size()})
                                       : arrow::Status::OK();
    });
    ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }));
    return rows;
  }

  arrow::Result<StagedMerge> Write(uint64_t num_repeated) {
    const table::Manifest& manifest = *snapshot_.manifest;
    ARROW_ASSIGN_OR_RAISE(std::string keys, InsertedKeys(manifest, source_, plan_.on, inserted_));
    ARROW_ASSIGN_OR_RAISE(const MergedRows rows, MergedRows::Make(snapshot_, source_));
    ARROW_ASSIGN_OR_RAISE(
        WrittenFragments written,
        WriteMergedRows(snapshot_, rows, updated_, inserted_,
                        {.version = plan_.version, .progress = options_.version.progress}));
    std::vector<uint64_t> moved;
    for (const MatchedRow& row : updated_) moved.push_back(row.address);
    ARROW_RETURN_NOT_OK(CarryRowIds(snapshot_, moved, written.fragments));
    std::vector<uint64_t> hidden_rows;
    std::ranges::merge(moved, deleted_, std::back_inserter(hidden_rows));
    ARROW_ASSIGN_OR_RAISE(HiddenRows hidden, HideRows(snapshot_, hidden_rows));
    written.files.Take(hidden.files);
    table::Update operation{
        .removed_fragment_ids = std::move(hidden.removed_fragment_ids),
        .updated_fragments = table::FragmentsOf(std::move(hidden.updated_fragments)),
        .new_fragments = table::FragmentsOf(std::move(written.fragments)),
        .inserted_rows = std::move(keys),
        .affected_rows = std::move(hidden_rows)};
    CollectIds(manifest.schema.fields, &operation.fields_for_preserving_frag_bitmap);
    return StagedMerge{.operation = std::move(operation),
                       .files = std::move(written.files),
                       .stats = {.num_inserted_rows = inserted_.size(),
                                 .num_updated_rows = updated_.size(),
                                 .num_deleted_rows = deleted_.size(),
                                 .num_skipped_duplicates = num_repeated,
                                 .num_files_written = written.summary.files,
                                 .bytes_written = written.summary.bytes}};
  }

  const Dataset& dataset_;
  const MergeInsertOptions& options_;
  MergePlan plan_;
  MergeSource source_;
  read::Snapshot snapshot_;
  std::vector<uint64_t> matched_;    // addresses, whatever becomes of them
  std::vector<MatchedRow> updated_;  // one for each row of the table
  std::vector<uint64_t> deleted_;    // ascending addresses
  std::vector<uint32_t> inserted_;   // rows of the source
};

}  // namespace

arrow::Result<StagedMerge> StageMerge(const Dataset& dataset, const MergeSource& source,
                                      const MergeInsertOptions& options) {
  ARROW_ASSIGN_OR_RAISE(MergePlan plan, MergePlan::Make(dataset, *source.schema(), options));
  ARROW_ASSIGN_OR_RAISE(MergeSource converted, source.As(plan.fields));
  return MergeAttempt(dataset, options, std::move(plan), std::move(converted)).Run();
}

}  // namespace glaive::dataset
