#include "glaive/staged_columns.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/executor.h"
#include "dataset/backfill/checkpoint.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/computed_output.h"
#include "dataset/staging/state.h"
#include "dataset/staging/target.h"
#include "dataset/write/crew.h"
#include "glaive/schema.h"
#include "table/manifest/table_schema.h"

namespace glaive {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;

// What a function makes of the batches of a scan.
class FunctionReader final : public arrow::RecordBatchReader {
 public:
  FunctionReader(const ColumnFunction& function, std::unique_ptr<ScanStream> inputs)
      : function_(function), inputs_(std::move(inputs)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return function_.schema; }

  arrow::Status ReadNext(Batch* batch) override {
    ARROW_ASSIGN_OR_RAISE(const Batch input, inputs_->Next());
    *batch = nullptr;
    if (input == nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(*batch, function_.compute(input));
    if (*batch == nullptr) return InvalidInput("the function gave no batch");
    if ((*batch)->num_rows() != input->num_rows()) {
      return InvalidInput("the function was given {} rows and gave {}", input->num_rows(),
                          (*batch)->num_rows());
    }
    if (!(*batch)->schema()->Equals(*function_.schema, /*check_metadata=*/false)) {
      return InvalidInput("the function gave columns [{}], not [{}]",
                          (*batch)->schema()->ToString(), function_.schema->ToString());
    }
    return arrow::Status::OK();
  }

 private:
  const ColumnFunction& function_;
  std::unique_ptr<ScanStream> inputs_;
};

// What is to be computed, and of what.
struct Recipe {
  ScanOptions scan;  // of a fragment: the columns themselves, or the function's inputs
  const ColumnFunction* function = nullptr;
  std::shared_ptr<arrow::Schema> columns;
  std::vector<std::string> reads;
};

arrow::Result<Recipe> RecipeOf(const Dataset& dataset, const BackfillColumns& columns) {
  Recipe recipe;
  ARROW_ASSIGN_OR_RAISE(const TableSchema schema, SchemaOf(dataset));
  if (const auto* computed = std::get_if<std::vector<ComputedColumn>>(&columns)) {
    recipe.scan.computed = *computed;
    ARROW_ASSIGN_OR_RAISE(const auto output,
                          dataset::ComputedOutput::Make(*schema.arrow_schema(), recipe.scan));
    recipe.columns = output->schema();
    recipe.reads = output->inputs();
  } else {
    recipe.function = &std::get<ColumnFunction>(columns);
    if (recipe.function->checkpoint) {
      return InvalidInput("a backfill has its own checkpoint; the function must have none");
    }
    recipe.columns = recipe.function->schema;
    if (recipe.function->inputs) {
      recipe.reads = *recipe.function->inputs;
    } else {
      for (const auto& field : schema.arrow_schema()->fields()) {
        const bool is_written = recipe.columns->GetFieldIndex(field->name()) >= 0;
        if (!is_written) recipe.reads.push_back(field->name());
      }
    }
    recipe.scan.columns = recipe.reads;
    recipe.scan.batch_size = recipe.function->batch_rows;
  }
  if (recipe.columns->num_fields() == 0) return InvalidInput("there is no column to compute");
  return recipe;
}

// What must be the same for one call to go on from where another was broken off.
std::string DescribeJob(const Dataset& dataset, const BackfillColumns& columns,
                        const Recipe& recipe, const BackfillOptions& options) {
  nlohmann::ordered_json job = {{"table", dataset.uri()}, {"overwrite", options.overwrite}};
  for (const auto& field : recipe.columns->fields()) job["columns"].push_back(field->ToString());
  if (const auto* computed = std::get_if<std::vector<ComputedColumn>>(&columns)) {
    for (const ComputedColumn& column : *computed) job["expressions"][column.name] = column.sql;
  }
  job["reads"] = recipe.reads;
  return job.dump();
}

class BackfillJob {
 public:
  BackfillJob(const Dataset& dataset, Recipe recipe, const BackfillOptions& options)
      : recipe_(std::move(recipe)),
        options_(options),
        latest_(dataset),
        result_{.dataset = dataset} {}

  arrow::Result<BackfillResult> Run(dataset::BackfillCheckpoint checkpoint) {
    checkpoint_ = std::move(checkpoint);
    ARROW_RETURN_NOT_OK(Begin());
    const arrow::Status status = RunRounds();
    if (!status.ok()) {
      if (!checkpoint_.is_kept()) DiscardAll();
      return status;
    }
    ARROW_RETURN_NOT_OK(checkpoint_.Remove());
    result_.dataset = latest_;
    return std::move(result_);
  }

 private:
  arrow::Status Begin() {
    ARROW_ASSIGN_OR_RAISE(latest_, latest_.CheckoutLatest());
    committed_ = checkpoint_.committed();
    const table::TableLocation& location = StateOf(latest_)->location;
    for (StagedColumns& columns : checkpoint_.TakeStaged()) {
      const dataset::StagedColumnsState& state = *StateOf(columns);
      ARROW_ASSIGN_OR_RAISE(const auto file,
                            location.store->Head(location.Path("data/" + state.file.path)));
      if (!file || file->size_bytes != state.file.file_size_bytes) {
        ARROW_RETURN_NOT_OK(checkpoint_.Forget(state.fragment_id));  // swept by a clean-up
        continue;
      }
      if (!schema_) {
        ARROW_ASSIGN_OR_RAISE(schema_, table::MakeTableSchema(state.schema));
      }
      staged_.emplace(state.fragment_id, std::move(columns));
      ++result_.fragments_resumed;
    }
    return ChooseSchema();
  }

  // The ids of the columns are the same in every fragment, whenever it is computed.
  arrow::Status ChooseSchema() {
    ARROW_ASSIGN_OR_RAISE(const TableSchema table, SchemaOf(latest_));
    const arrow::Schema& there = *table.arrow_schema();
    std::vector<std::string> present;
    for (const auto& field : recipe_.columns->fields()) {
      if (there.GetFieldIndex(field->name()) >= 0) present.push_back(field->name());
    }
    const bool is_begun = schema_.has_value() || !committed_.empty();
    if (!present.empty() && !options_.overwrite && !is_begun) {
      return InvalidInput("column '{}' is there already; to overwrite is to compute it anew",
                          present.front());
    }
    if (present.empty() && options_.commit_every > 0) {
      for (const auto& field : recipe_.columns->fields()) {
        if (field->nullable()) continue;
        return InvalidInput(
            "column '{}' may hold no nulls, so it cannot be committed in several versions",
            field->name());
      }
    }
    if (schema_) return arrow::Status::OK();
    if (present.empty()) {
      ARROW_ASSIGN_OR_RAISE(schema_, NewColumnSchema(latest_, *recipe_.columns));
    } else if (present.size() == static_cast<size_t>(recipe_.columns->num_fields())) {
      ARROW_ASSIGN_OR_RAISE(schema_, ColumnSchema(latest_, *recipe_.columns));
    } else {
      return InvalidInput("column '{}' is there and others are not; compute them by a call each",
                          present.front());
    }
    return arrow::Status::OK();
  }

  // One fragment is computed twice only where what it was computed from has changed.
  arrow::Status RunRounds() {
    for (;;) {
      ARROW_RETURN_NOT_OK(Settle());
      const std::vector<uint64_t> open = OpenFragments();
      if (!open.empty()) {
        ARROW_RETURN_NOT_OK(Compute(open));
      } else if (!staged_.empty()) {
        ARROW_RETURN_NOT_OK(Commit());
      } else {
        return committed_.empty() ? AddNulls() : arrow::Status::OK();
      }
    }
  }

  // The progress is that of all versions together, which Compute tells.
  VersionOptions OfOneVersion() const {
    VersionOptions version = options_.version;
    version.progress = nullptr;
    return version;
  }

  // There is no row that a value could be of.
  arrow::Status AddNulls() {
    ARROW_ASSIGN_OR_RAISE(const TableSchema table, SchemaOf(latest_));
    if (table.arrow_schema()->GetFieldIndex(recipe_.columns->field(0)->name()) >= 0) {
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(latest_,
                          AddColumns(latest_, NullColumns{recipe_.columns}, OfOneVersion()));
    ++result_.versions;
    return arrow::Status::OK();
  }

  // Moves on to the newest version, and finds out what of that which is staged is committed, and
  // what can be no more.
  arrow::Status Settle() {
    ARROW_ASSIGN_OR_RAISE(latest_, latest_.CheckoutLatest());
    std::vector<uint64_t> done;
    std::vector<uint64_t> stale;
    std::set<uint64_t> fragments;
    for (const auto& entry : staged_) fragments.insert(entry.first);
    dataset::RowMoves moves(StateOf(latest_)->location, std::move(fragments));
    for (const auto& [id, columns] : staged_) {
      const dataset::StagedColumnsState& state = *StateOf(columns);
      const auto view = StateOf(latest_)->manifest->fragments.Find(id);
      if (!view) {
        stale.push_back(id);
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const auto fragment, view->Parse());
      if (std::ranges::count(fragment.files, state.file.path, &wire::DataFile::path) > 0) {
        done.push_back(id);
        continue;
      }
      if (state.read_version == latest_.version()) continue;
      const dataset::ColumnWrite write{&state, state.read_fields, state.read};
      const auto made =
          dataset::MakeColumnCommit({&write, 1}, {}, *StateOf(latest_)->manifest, moves);
      const ColumnWriteConflict* conflict = ColumnWriteConflict::Of(made.status());
      if (conflict != nullptr && conflict->fragment_id() == id) stale.push_back(id);
    }
    ARROW_RETURN_NOT_OK(Committed(done));
    for (const uint64_t id : stale) ARROW_RETURN_NOT_OK(Withdraw(id));
    return arrow::Status::OK();
  }

  arrow::Status Committed(const std::vector<uint64_t>& ids) {
    for (const uint64_t id : ids) {
      staged_.erase(id);
      committed_.insert(id);
    }
    result_.fragments_committed += ids.size();
    return checkpoint_.KeepCommitted(ids);
  }

  arrow::Status Withdraw(uint64_t id) {
    const auto found = staged_.find(id);
    const arrow::Status discarded = Discard(latest_, found->second);
    if (!discarded.ok() && KindOf(discarded) != ErrorKind::kInvalidInput) return discarded;
    staged_.erase(found);
    withdrawn_.insert(id);
    return checkpoint_.Forget(id);
  }

  void DiscardAll() {
    // The error that ended the call is the one to tell; what cannot be removed now is an orphan.
    for (const auto& entry : staged_) static_cast<void>(Discard(latest_, entry.second));
  }

  std::vector<uint64_t> OpenFragments() const {
    std::vector<uint64_t> open;
    for (const uint64_t id : FragmentIds(latest_)) {
      if (!committed_.contains(id) && !staged_.contains(id)) open.push_back(id);
    }
    return open;
  }

  // Each thread takes the next fragment when it is done with one; this one keeps what they finish.
  arrow::Status Compute(const std::vector<uint64_t>& ids) {
    const Dataset snapshot = latest_;
    const uint64_t num_fragments = committed_.size() + staged_.size() + ids.size();
    const uint64_t rows_before = rows_done_;
    const ProgressCallback progress = [&](const Progress& rows) -> arrow::Status {
      KeepFinished();
      if (options_.commit_every > 0 && staged_.size() >= options_.commit_every) {
        ARROW_RETURN_NOT_OK(Commit());
      }
      if (!options_.version.progress) return arrow::Status::OK();
      return options_.version.progress({.rows = rows_before + rows.rows,
                                        .tasks = committed_.size() + staged_.size(),
                                        .total_tasks = num_fragments});
    };
    const size_t num_threads =
        std::clamp<size_t>(options_.num_threads.value_or(CpuThreads()), 1, ids.size());
    dataset::WriteCrew crew(num_threads, progress, {});
    std::atomic<size_t> next = 0;
    for (size_t i = 0; i < num_threads; ++i) {
      crew.Start([&]() -> arrow::Status {
        for (size_t at = next++; at < ids.size(); at = next++) {
          ARROW_RETURN_NOT_OK(ComputeFragment(crew, snapshot, ids[at]));
        }
        return arrow::Status::OK();
      });
    }
    arrow::Status status = crew.WaitForAtMost(0);
    crew.Stop();
    // The others were stopped since one failed.
    if (const auto failed = crew.FirstFailed(); failed && KindOf(status) == ErrorKind::kCancelled) {
      const arrow::Status& first = crew.results()[*failed];
      if (KindOf(first) != ErrorKind::kCancelled) status = first;
    }
    KeepFinished();
    return status;
  }

  arrow::Status ComputeFragment(dataset::WriteCrew& crew, const Dataset& snapshot, uint64_t id) {
    ScanOptions scan = recipe_.scan;
    scan.fragment_ids = {id};
    ARROW_ASSIGN_OR_RAISE(auto stream, Scan(snapshot, scan));
    std::shared_ptr<arrow::RecordBatchReader> reader;
    if (recipe_.function != nullptr) {
      reader = std::make_shared<FunctionReader>(*recipe_.function, std::move(stream));
    } else {
      reader = ToReader(std::move(stream));
    }
    ARROW_ASSIGN_OR_RAISE(auto staged, StageColumns(snapshot, id, std::move(reader), *schema_,
                                                    {.live_rows_only = true,
                                                     .reads = recipe_.reads,
                                                     .durability = options_.version.durability,
                                                     .progress = crew.JobProgress()}));
    // At once: who is killed now has lost nothing of it.
    ARROW_RETURN_NOT_OK(checkpoint_.KeepStaged(staged));
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(staged));
    return arrow::Status::OK();
  }

  // What the threads have finished is this thread's from here on.
  void KeepFinished() {
    std::vector<StagedColumns> finished;
    {
      const std::lock_guard lock(mutex_);
      finished.swap(finished_);
    }
    for (StagedColumns& columns : finished) {
      const uint64_t id = columns.fragment_id();
      const auto [entry, is_new] = staged_.emplace(id, std::move(columns));
      ++result_.fragments_computed;
      result_.fragments_recomputed += withdrawn_.erase(id);
      rows_done_ += entry->second.physical_rows();
    }
  }

  // All that is staged, unless something of it has come into conflict meanwhile: that is taken out
  // and left to the next round.
  arrow::Status Commit() {
    std::vector<StagedColumns> staged;
    std::vector<uint64_t> ids;
    for (const auto& [id, columns] : staged_) {
      staged.push_back(columns);
      ids.push_back(id);
    }
    auto committed = CommitColumns(latest_, staged, {.version = OfOneVersion()});
    if (committed.ok()) {
      latest_ = *std::move(committed);
      ++result_.versions;
      return Committed(ids);
    }
    const arrow::Status status = committed.status();
    const ColumnWriteConflict* conflict = ColumnWriteConflict::Of(status);
    const bool may_be_settled = KindOf(status) == ErrorKind::kCommitUnknown ||
                                (conflict != nullptr && conflict->fragment_id() &&
                                 staged_.contains(*conflict->fragment_id()));
    if (!may_be_settled) return status;
    const size_t num_staged = staged_.size();
    ARROW_RETURN_NOT_OK(Settle());
    return staged_.size() < num_staged ? arrow::Status::OK() : status;
  }

  const Recipe recipe_;
  const BackfillOptions& options_;
  dataset::BackfillCheckpoint checkpoint_;
  std::optional<TableSchema> schema_;
  Dataset latest_;
  std::map<uint64_t, StagedColumns> staged_;  // by fragment
  std::set<uint64_t> committed_;
  std::set<uint64_t> withdrawn_;  // to be computed again
  uint64_t rows_done_ = 0;
  BackfillResult result_;

  std::mutex mutex_;
  std::vector<StagedColumns> finished_;  // guarded by mutex_
};

}  // namespace

arrow::Result<BackfillResult> Backfill(const Dataset& dataset, const BackfillColumns& columns,
                                       const BackfillOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Recipe recipe, RecipeOf(dataset, columns));
  const std::string job = DescribeJob(dataset, columns, recipe, options);
  ARROW_ASSIGN_OR_RAISE(auto checkpoint,
                        dataset::BackfillCheckpoint::Open(options.checkpoint, job));
  return BackfillJob(dataset, std::move(recipe), options).Run(std::move(checkpoint));
}

}  // namespace glaive
