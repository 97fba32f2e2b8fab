#include "glaive/scan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/batch_cutter.h"
#include "dataset/scan/nearest.h"
#include "dataset/scan/plan.h"
#include "dataset/scan/sorted.h"
#include "dataset/scan/units.h"

namespace glaive {
namespace {

constexpr uint64_t kDefaultBatchRows = 8192;

// Rows [skip, skip + max) of a stream of batches: the window that applies behind a filter.
class Window {
 public:
  Window(uint64_t skip, uint64_t max) : skip_(skip), max_(max) {}

  std::shared_ptr<arrow::RecordBatch> Apply(std::shared_ptr<arrow::RecordBatch> batch) {
    const auto rows = static_cast<uint64_t>(batch->num_rows());
    const uint64_t skip = std::min(skip_, rows);
    const uint64_t size = std::min(max_, rows - skip);
    skip_ -= skip;
    if (max_ != UINT64_MAX) max_ -= size;
    if (size == rows) return batch;
    return batch->Slice(static_cast<int64_t>(skip), static_cast<int64_t>(size));
  }

  bool exhausted() const { return max_ == 0; }

 private:
  uint64_t skip_;
  uint64_t max_;
};

Window FilteredWindow(const ScanOptions& options) {
  if (!options.filter) return {0, UINT64_MAX};
  return {options.offset, options.limit.value_or(UINT64_MAX)};
}

class UnitScanStream final : public ScanStream {
 public:
  UnitScanStream(dataset::ScanPlan plan, const ScanOptions& options)
      : schema_(plan.schema),
        budget_(options.read_ahead_bytes),
        window_(FilteredWindow(options)),
        cutter_(static_cast<int64_t>(
                    std::min<uint64_t>(options.batch_size.value_or(kDefaultBatchRows), INT64_MAX)),
                options.batch_size.has_value()),
        units_(std::in_place, ProcessExecutor(), budget_,
               [source = std::make_shared<dataset::ScanUnits>(
                    std::move(plan), [this](std::shared_ptr<arrow::RecordBatch> batch) {
                      cutter_.Add(window_.Apply(std::move(batch)));
                      return arrow::Status::OK();
                    })] { return source->Next(); }) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, cutter_.Next(/*is_last=*/!units_));
      if (batch != nullptr || !units_) return batch;
      auto more = window_.exhausted() ? false : units_->EmitNext();
      if (!more.ok() || !*more) units_.reset();
      ARROW_RETURN_NOT_OK(more.status());
    }
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  MemoryBudget budget_;
  Window window_;
  dataset::BatchCutter cutter_;
  std::optional<UnitStream> units_;  // nothing once all were emitted; ends before what it uses
};

class ScanReader final : public arrow::RecordBatchReader {
 public:
  explicit ScanReader(std::unique_ptr<ScanStream> stream)
      : schema_(stream->schema()), stream_(std::move(stream)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    if (stream_ == nullptr) {
      batch->reset();
      return arrow::Status::OK();
    }
    return stream_->Next().Value(batch);
  }

  arrow::Status Close() override {
    stream_.reset();
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<ScanStream> stream_;
};

}  // namespace

arrow::Result<std::unique_ptr<ScanStream>> Scan(const Dataset& dataset,
                                                const ScanOptions& options) {
  if (options.nearest) return dataset::NearestScan(dataset, options);
  if (!options.order_by.empty()) return dataset::SortedScan(dataset, options);
  ARROW_ASSIGN_OR_RAISE(dataset::ScanPlan plan, dataset::PlanScan(dataset, options));
  return std::make_unique<UnitScanStream>(std::move(plan), options);
}

arrow::Result<std::shared_ptr<arrow::Schema>> ScanSchema(const Dataset& dataset,
                                                         const ScanOptions& options) {
  if (options.nearest) return dataset::NearestSchema(dataset, options);
  ARROW_ASSIGN_OR_RAISE(const dataset::ScanPlan plan, dataset::PlanScan(dataset, options));
  return plan.schema;
}

std::shared_ptr<arrow::RecordBatchReader> ToReader(std::unique_ptr<ScanStream> stream) {
  return std::make_shared<ScanReader>(std::move(stream));
}

arrow::Result<uint64_t> CountRows(const Dataset& dataset, const ScanOptions& options) {
  const uint64_t limit = options.limit.value_or(UINT64_MAX);
  uint64_t rows = 0;
  if (options.nearest) {
    ARROW_ASSIGN_OR_RAISE(const auto nearest, dataset::NearestScan(dataset, options));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, nearest->Next());
      if (batch == nullptr) return rows;
      rows += static_cast<uint64_t>(batch->num_rows());
    }
  }
  if (!options.filter) {
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanPlan plan, dataset::PlanScan(dataset, options));
    if (!options.fragment_ids && !options.include_deleted_rows) {
      ARROW_ASSIGN_OR_RAISE(rows, dataset.CountRows());
    } else {
      const table::FragmentTable& fragments = plan.snapshot.manifest->fragments;
      for (const uint64_t id : options.fragment_ids ? *options.fragment_ids : fragments.Ids()) {
        ARROW_ASSIGN_OR_RAISE(const auto fragment, fragments.Find(id)->Parse());
        ARROW_ASSIGN_OR_RAISE(const uint64_t of_fragment,
                              options.include_deleted_rows
                                  ? read::PhysicalRows(plan.snapshot, fragment)
                                  : read::LiveRows(plan.snapshot, fragment));
        rows += of_fragment;
      }
    }
  } else {
    ScanOptions counting = options;
    counting.columns = std::vector<std::string>();
    counting.computed.reset();
    counting.with_row_address = false;
    counting.batch_size.reset();
    ARROW_ASSIGN_OR_RAISE(dataset::ScanPlan plan, dataset::PlanScan(dataset, counting));
    MemoryBudget budget(options.read_ahead_bytes);
    dataset::ScanUnits units(std::move(plan),
                             [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
                               rows += static_cast<uint64_t>(batch->num_rows());
                               return arrow::Status::OK();
                             });
    ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }));
  }
  return std::min(limit, rows - std::min(rows, options.offset));
}

}  // namespace glaive
