#include "dataset/scan_units.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "read/row_ranges.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kMaxUnitRows = uint64_t{1} << 20;

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

uint64_t RowsPerUnit(double bytes_per_row, uint64_t unit_bytes, uint64_t batch_size) {
  const double rows = static_cast<double>(unit_bytes) / std::max(bytes_per_row, 1e-3);
  const auto whole =
      static_cast<uint64_t>(std::clamp(rows, 1.0, static_cast<double>(kMaxUnitRows)));
  return whole > batch_size ? whole - whole % batch_size : whole;
}

}  // namespace

arrow::Result<std::optional<WorkUnit>> ScanUnits::Next() {
  while (true) {
    if (open_) return NextOfFragment();
    if (whole_fragment_) return std::exchange(whole_fragment_, std::nullopt);
    if (plan_.max_rows == 0) return std::nullopt;
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
    whole_fragment_ = UnitOf(
        *bytes,
        [snapshot = plan_.snapshot, columns = plan_.columns, fragment, window, live_rows_before,
         include_deleted =
             plan_.include_deleted_rows]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
          ARROW_ASSIGN_OR_RAISE(
              const auto scan,
              read::FragmentScan::Open(snapshot, fragment, columns, live_rows_before));
          return scan->Read(RowsOf(scan->reader(), include_deleted, window));
        });
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(auto scan, read::FragmentScan::Open(plan_.snapshot, fragment, plan_.columns,
                                                            live_rows_before));
  auto rows = RowsOf(scan->reader(), plan_.include_deleted_rows, window);
  if (CountRows(rows) == 0) return arrow::Status::OK();
  const double bytes_per_row = scan->BytesPerRow();
  open_ =
      OpenFragment{std::move(scan), std::move(rows),
                   RowsPerUnit(bytes_per_row, plan_.unit_bytes, plan_.batch_size), bytes_per_row};
  return arrow::Status::OK();
}

arrow::Result<std::optional<RowRange>> ScanUnits::WindowOf(const wire::DataFragment& fragment) {
  if (plan_.skip_rows == 0 && plan_.max_rows == UINT64_MAX) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, plan_.include_deleted_rows
                                                 ? read::PhysicalRows(plan_.snapshot, fragment)
                                                 : read::LiveRows(plan_.snapshot, fragment));
  const uint64_t begin = std::min(plan_.skip_rows, rows);
  const uint64_t size = std::min(plan_.max_rows, rows - begin);
  plan_.skip_rows -= begin;
  if (plan_.max_rows != UINT64_MAX) plan_.max_rows -= size;
  return RowRange{begin, begin + size};
}

arrow::Result<std::optional<WorkUnit>> ScanUnits::NextOfFragment() {
  auto rows = read::Window(open_->rows, 0, open_->rows_per_unit);
  const uint64_t num_rows = CountRows(rows);
  const auto bytes = static_cast<uint64_t>(static_cast<double>(num_rows) * open_->bytes_per_row);
  WorkUnit unit =
      UnitOf(bytes, [scan = open_->scan, rows = std::move(rows)] { return scan->Read(rows); });
  open_->rows = read::Window(open_->rows, num_rows, UINT64_MAX);
  if (open_->rows.empty()) open_.reset();
  return unit;
}

WorkUnit ScanUnits::UnitOf(
    uint64_t bytes,
    std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()> read) const {
  auto result = std::make_shared<std::shared_ptr<arrow::RecordBatch>>();
  const auto run = [result, read = std::move(read),
                    transform = plan_.transform]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(*result, read());
    if (!transform) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(*result, transform(*result));
    return arrow::Status::OK();
  };
  return {bytes, run, [result, sink = sink_] { return sink(std::move(*result)); }};
}

}  // namespace glaive::dataset
