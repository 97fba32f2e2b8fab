#include "dataset/merge/match.h"

#include <atomic>
#include <optional>
#include <unordered_set>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/merge/key_sketch.h"
#include "dataset/merge/keys.h"
#include "dataset/scan/plan.h"

namespace glaive::dataset {
namespace {

using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kBudget = uint64_t{256} << 20;

arrow::Result<KeyIndex> MakeIndex(const Dataset& dataset, const std::vector<std::string>& on) {
  std::vector<std::shared_ptr<arrow::DataType>> types;
  for (const std::string& name : on)
    types.push_back(dataset.schema()->GetFieldByName(name)->type());
  return KeyIndex::Make(types);
}

arrow::ArrayVector ColumnsOf(const RecordBatchPtr& batch, const std::vector<std::string>& names) {
  arrow::ArrayVector columns;
  for (const std::string& name : names) columns.push_back(batch->GetColumnByName(name));
  return columns;
}

class Matcher {
 public:
  Matcher(const MatchOptions& options, KeyIndex index)
      : options_(options), index_(std::move(index)) {}

  arrow::Status AddSource(const MergeSource& source) {
    // Rows of the table that meet nothing are of no use, unless they are asked for.
    if (!options_.only_in_target) sketch_ = SketchOf(source);
    for (const RecordBatchPtr& batch : source.batches()) {
      const uint32_t known = index_.num_keys();
      ARROW_ASSIGN_OR_RAISE(auto keys, index_.Add(ColumnsOf(batch, options_.on)));
      if (options_.first_of_each_key) PassOverRepeated(known, keys);
      keys_.insert(keys_.end(), keys.begin(), keys.end());
    }
    GroupRows();
    return arrow::Status::OK();
  }

  arrow::Status ScanTarget(const Dataset& dataset) {
    ScanOptions scan;
    scan.columns = options_.on;
    scan.columns->emplace_back("_rowaddr");
    ARROW_ASSIGN_OR_RAISE(ScanPlan plan, PlanScan(dataset, scan));
    MemoryBudget budget(kBudget);
    plan.transform = [this](const RecordBatchPtr& rows) { return Narrow(rows); };
    ScanUnits units(std::move(plan), [this](const RecordBatchPtr& rows) { return Probe(*rows); });
    return RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); });
  }

  MergeMatches Finish() && {
    for (size_t row = 0; row < keys_.size(); ++row) {
      if (keys_[row] == kPassedOver) continue;
      const bool matched = keys_[row] != KeyIndex::kNoKey && was_found_[keys_[row]];
      if (!matched) matches_.only_in_source.push_back(static_cast<uint32_t>(row));
    }
    return std::move(matches_);
  }

 private:
  static constexpr uint32_t kPassedOver = KeyIndex::kNoKey - 1;

  // By the first of the key's columns.
  std::optional<KeySketch> SketchOf(const MergeSource& source) const {
    if (source.batches().empty()) return std::nullopt;
    const std::string& name = options_.on.front();
    const auto& type = *source.batches().front()->GetColumnByName(name)->type();
    std::optional<KeySketch> sketch = KeySketch::Make(type, source.num_rows());
    for (const RecordBatchPtr& batch : source.batches()) {
      if (sketch) sketch->Add(*batch->GetColumnByName(name));
    }
    return sketch;
  }

  // `known` keys were there before this batch; its new ones are numbered in order of its rows.
  void PassOverRepeated(uint32_t known, std::vector<uint32_t>& keys) {
    for (uint32_t& key : keys) {
      if (key == KeyIndex::kNoKey) continue;
      if (key < known || !seen_.insert(key).second) {
        key = kPassedOver;
        ++matches_.num_repeated;
      }
    }
    seen_.clear();
  }

  // rows_[first_[k]] ... rows_[first_[k + 1]] are the source's rows of key k.
  void GroupRows() {
    first_.assign(size_t{index_.num_keys()} + 1, 0);
    for (const uint32_t key : keys_) {
      if (key < index_.num_keys()) ++first_[key + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    rows_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (size_t row = 0; row < keys_.size(); ++row) {
      if (keys_[row] < next.size()) rows_[next[keys_[row]]++] = static_cast<uint32_t>(row);
    }
    was_found_.assign(index_.num_keys(), false);
  }

  // Thread safe.
  arrow::Result<RecordBatchPtr> Narrow(const RecordBatchPtr& rows) {
    num_scanned_ += static_cast<uint64_t>(rows->num_rows());
    if (!sketch_) return rows;
    return sketch_->Candidates(rows, 0);
  }

  arrow::Status Probe(const arrow::RecordBatch& rows) {
    const int addresses = rows.num_columns() - 1;
    arrow::ArrayVector columns = rows.columns();
    columns.pop_back();
    ARROW_ASSIGN_OR_RAISE(const auto keys, index_.Find(columns));
    const auto* address =
        static_cast<const arrow::UInt64Array&>(*rows.column(addresses)).raw_values();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == KeyIndex::kNoKey) {
        if (options_.only_in_target) matches_.only_in_target.push_back(address[i]);
        continue;
      }
      was_found_[keys[i]] = true;
      for (uint32_t at = first_[keys[i]]; at < first_[keys[i] + 1]; ++at) {
        matches_.matched.push_back({address[i], rows_[at]});
      }
    }
    return options_.progress ? options_.progress({.rows = num_scanned_}) : arrow::Status::OK();
  }

  const MatchOptions& options_;
  KeyIndex index_;
  std::optional<KeySketch> sketch_;
  std::vector<uint32_t> keys_;  // of the source's rows
  std::unordered_set<uint32_t> seen_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> rows_;
  std::vector<bool> was_found_;  // keys
  std::atomic<uint64_t> num_scanned_ = 0;
  MergeMatches matches_;
};

}  // namespace

arrow::Result<MergeMatches> MatchRows(const Dataset& dataset, const MergeSource& source,
                                      const MatchOptions& options) {
  ARROW_ASSIGN_OR_RAISE(KeyIndex index, MakeIndex(dataset, options.on));
  Matcher matcher(options, std::move(index));
  ARROW_RETURN_NOT_OK(matcher.AddSource(source));
  ARROW_RETURN_NOT_OK(matcher.ScanTarget(dataset));
  return std::move(matcher).Finish();
}

}  // namespace glaive::dataset
