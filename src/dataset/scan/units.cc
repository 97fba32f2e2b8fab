#include "dataset/scan/units.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/too_large.h"
#include "read/row_pieces.h"
#include "read/row_ranges.h"

namespace glaive::dataset {
namespace {

using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kMaxUnitRows = uint64_t{1} << 20;
constexpr uint64_t kLeastUnitBytes = uint64_t{512} << 10;
constexpr uint64_t kLikelyFactor = 4;  // of decoded bytes to those of a file

// An upper bound from the manifest alone; nothing where it does not say.
std::optional<uint64_t> BytesToRead(const wire::DataFragment& fragment,
                                    const read::ScanColumns& columns) {
  if (fragment.physical_rows == 0) return std::nullopt;
  uint64_t bytes = 0;
  for (const wire::DataFile& file : fragment.files) {
    if (file.file_size_bytes == 0) return std::nullopt;
    bytes += std::min(file.file_size_bytes, UINT64_MAX / 2 - bytes);
  }
  auto fixed = static_cast<uint64_t>(columns.output->fixed_bytes_per_row);
  if (columns.filtered != nullptr) {
    fixed += static_cast<uint64_t>(columns.filtered->fixed_bytes_per_row);
  }
  if (fixed != 0 && fragment.physical_rows > UINT64_MAX / 2 / fixed) return std::nullopt;
  return std::max(bytes, fixed * fragment.physical_rows);
}

std::vector<RowRange> RowsOf(const read::FragmentReader& reader, bool include_deleted,
                             std::optional<RowRange> window) {
  if (include_deleted) return {window.value_or(RowRange{0, reader.physical_rows()})};
  if (!window) return reader.LiveRanges();
  return read::LiveWindow(reader.deletions(), *window);
}

}  // namespace

struct ScanUnits::Shared {
  // Batches of few rows are asked for to have little in memory: then a unit is no more than one, or
  // as many as make it worth its while.
  read::PieceLimits LimitsFrom(const read::FragmentScan& scan, uint64_t row) const {
    read::PieceLimits limits{
        .bytes = plan.unit_bytes, .max_rows = max_rows, .multiple = plan.batch_size};
    if (!plan.small_units) return limits;
    const double batch = scan.SizeFrom(row).bytes * static_cast<double>(plan.batch_size);
    const uint64_t least = std::min(plan.unit_bytes, kLeastUnitBytes);
    limits.bytes = static_cast<uint64_t>(
        std::clamp(batch, static_cast<double>(least), static_cast<double>(plan.unit_bytes)));
    return limits;
  }

  const ScanPlan plan;
  // Where a function made too much of rows, it is likely to do so of those behind.
  std::atomic<uint64_t> max_rows = kMaxUnitRows;
};

// Some rows of a fragment, read a piece at a time.
class ScanUnits::Unit {
 public:
  // Of a fragment that is open.
  Unit(std::shared_ptr<Shared> shared, std::shared_ptr<const read::FragmentScan> scan,
       std::vector<RowRange> rows)
      : shared_(std::move(shared)) {
    Start(std::move(scan), std::move(rows));
  }
  // Of one that is yet to be opened.
  Unit(std::shared_ptr<Shared> shared, wire::DataFragment fragment, uint64_t live_rows_before,
       std::optional<RowRange> window)
      : shared_(std::move(shared)),
        open_([this, fragment = std::move(fragment), live_rows_before, window] {
          return Open(fragment, live_rows_before, window);
        }) {}

  arrow::Status Run() {
    if (open_) ARROW_RETURN_NOT_OK(std::exchange(open_, nullptr)());
    if (pieces_->at_end()) return arrow::Status::OK();
    bool makes_too_much = false;
    const auto finish = [&](RecordBatchPtr batch) -> arrow::Result<RecordBatchPtr> {
      if (!shared_->plan.transform) return batch;
      auto made = shared_->plan.transform(batch);
      makes_too_much = makes_too_much || IsTooLarge(made.status());
      return made;
    };
    ARROW_ASSIGN_OR_RAISE(result_, pieces_->Next(finish));
    if (makes_too_much) shared_->max_rows = pieces_->largest();
    return arrow::Status::OK();
  }

  bool has_more() const { return !pieces_->at_end(); }
  RecordBatchPtr TakeResult() { return std::exchange(result_, nullptr); }

 private:
  arrow::Status Open(const wire::DataFragment& fragment, uint64_t live_rows_before,
                     std::optional<RowRange> window) {
    const ScanPlan& plan = shared_->plan;
    ARROW_ASSIGN_OR_RAISE(auto scan, read::FragmentScan::Open(plan.snapshot, fragment, plan.columns,
                                                              live_rows_before));
    auto rows = RowsOf(scan->reader(), plan.include_deleted_rows, window);
    Start(std::move(scan), std::move(rows));
    return arrow::Status::OK();
  }

  void Start(std::shared_ptr<const read::FragmentScan> scan, std::vector<RowRange> rows) {
    scan_ = std::move(scan);
    read::PieceLimits limits;
    if (!rows.empty()) limits = shared_->LimitsFrom(*scan_, rows.front().begin);
    pieces_.emplace(*scan_, std::move(rows), limits);
  }

  std::shared_ptr<Shared> shared_;
  std::function<arrow::Status()> open_;  // nothing once it is
  std::shared_ptr<const read::FragmentScan> scan_;
  std::optional<read::RowPieces<read::FragmentScan>> pieces_;
  RecordBatchPtr result_;
};

ScanUnits::ScanUnits(ScanPlan plan, Sink sink)
    : shared_(std::make_shared<Shared>(std::move(plan))),
      plan_(shared_->plan),
      sink_(std::move(sink)),
      skip_rows_(plan_.skip_rows),
      max_rows_(plan_.max_rows) {}

arrow::Result<std::optional<WorkUnit>> ScanUnits::Next() {
  while (true) {
    if (open_) return NextOfFragment();
    if (whole_fragment_) return std::exchange(whole_fragment_, std::nullopt);
    if (max_rows_ == 0) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const auto fragment, NextFragment());
    if (!fragment) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment->Parse());
    const auto& index = plan_.row_index;
    ARROW_RETURN_NOT_OK(Begin(parsed, index == nullptr ? 0 : index->RowsBefore(parsed.id)));
  }
}

arrow::Result<std::optional<table::Fragment>> ScanUnits::NextFragment() {
  const table::Manifest& manifest = *plan_.snapshot.manifest;
  if (!plan_.fragment_ids) {
    if (next_fragment_ == manifest.fragments.totals().num_fragments) return std::nullopt;
    return manifest.fragments.At(next_fragment_++);
  }
  if (next_fragment_ == plan_.fragment_ids->size()) return std::nullopt;
  const uint64_t id = (*plan_.fragment_ids)[next_fragment_++];
  auto fragment = manifest.fragments.Find(id);
  if (!fragment) return InvalidInput("version {} has no fragment {}", manifest.version, id);
  return fragment;
}

arrow::Status ScanUnits::Begin(const wire::DataFragment& fragment, uint64_t live_rows_before) {
  ARROW_ASSIGN_OR_RAISE(const auto window, WindowOf(fragment));
  if (window && window->size() == 0) return arrow::Status::OK();
  const auto bytes = BytesToRead(fragment, *plan_.columns);
  if (bytes && *bytes <= plan_.unit_bytes && fragment.physical_rows <= kMaxUnitRows) {
    // What its rows decode to is not known before it is open.
    const auto unit = std::make_shared<Unit>(shared_, fragment, live_rows_before, window);
    whole_fragment_ = WorkOf(std::min(*bytes * kLikelyFactor, plan_.unit_bytes), unit);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(auto scan, read::FragmentScan::Open(plan_.snapshot, fragment, plan_.columns,
                                                            live_rows_before));
  auto rows = RowsOf(scan->reader(), plan_.include_deleted_rows, window);
  if (CountRows(rows) == 0) return arrow::Status::OK();
  open_ = OpenFragment{std::move(scan), std::move(rows)};
  return arrow::Status::OK();
}

arrow::Result<std::optional<RowRange>> ScanUnits::WindowOf(const wire::DataFragment& fragment) {
  if (skip_rows_ == 0 && max_rows_ == UINT64_MAX) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, plan_.include_deleted_rows
                                                 ? read::PhysicalRows(plan_.snapshot, fragment)
                                                 : read::LiveRows(plan_.snapshot, fragment));
  const uint64_t begin = std::min(skip_rows_, rows);
  const uint64_t size = std::min(max_rows_, rows - begin);
  skip_rows_ -= begin;
  if (max_rows_ != UINT64_MAX) max_rows_ -= size;
  return RowRange{begin, begin + size};
}

arrow::Result<std::optional<WorkUnit>> ScanUnits::NextOfFragment() {
  const uint64_t first = open_->rows.front().begin;
  const auto size_from = [this](uint64_t row) { return open_->scan->SizeFrom(row); };
  const read::PieceLimits limits = shared_->LimitsFrom(*open_->scan, first);
  const uint64_t num_rows = read::RowsWithin(open_->rows, limits, size_from);
  auto rows = read::Window(open_->rows, 0, num_rows);
  const uint64_t num_taken = CountRows(rows);
  const double bytes = static_cast<double>(num_taken) * size_from(first).bytes;
  WorkUnit unit =
      WorkOf(static_cast<uint64_t>(std::min(bytes, static_cast<double>(plan_.unit_bytes))),
             std::make_shared<Unit>(shared_, open_->scan, std::move(rows)));
  open_->rows = read::Window(open_->rows, num_taken, UINT64_MAX);
  if (open_->rows.empty()) open_.reset();
  return unit;
}

WorkUnit ScanUnits::WorkOf(uint64_t bytes, std::shared_ptr<Unit> unit) const {
  return {bytes, [unit] { return unit->Run(); },
          [unit, sink = sink_] {
            auto batch = unit->TakeResult();
            return batch == nullptr ? arrow::Status::OK() : sink(std::move(batch));
          },
          [unit] { return unit->has_more(); }};
}

}  // namespace glaive::dataset
