#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/executor.h"
#include "dataset/handle/row_index.h"
#include "read/fragment_scan.h"
#include "read/snapshot.h"

namespace glaive::dataset {

struct ScanPlan {
  read::Snapshot snapshot;
  std::shared_ptr<const read::ScanColumns> columns;
  std::optional<std::vector<uint64_t>> fragment_ids;  // absent: all, in order of their ids
  // Tells the live rows of the version before a fragment; null where nothing asks for them.
  std::shared_ptr<const RowIndex> row_index;
  bool include_deleted_rows = false;
  std::shared_ptr<arrow::Schema> schema;  // of the result
  // Of all rows, before any filter. Rows outside are not decoded.
  uint64_t skip_rows = 0;
  uint64_t max_rows = UINT64_MAX;
  uint64_t unit_bytes = uint64_t{4} << 20;  // about what a unit decodes at a time
  uint64_t batch_size = 8192;               // units hold a multiple of it where they can
  bool small_units = false;                 // few batches each, so that little is decoded at a time
  // What becomes of a unit's rows, if anything does, on the thread that read them.
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
      const std::shared_ptr<arrow::RecordBatch>&)>
      transform;
};

// A scan as units of work: some rows of one fragment each, in order. Small fragments are opened
// where they are read, so that many of them are opened at the same time. Units are cut by what
// their rows are expected to decode to; one that comes to more does a part of them at a time.
class ScanUnits {
 public:
  using Sink = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;

  // `sink` gets the rows of each unit that pass, in order, on the calling thread.
  ScanUnits(ScanPlan plan, Sink sink);

  arrow::Result<std::optional<WorkUnit>> Next();

 private:
  struct OpenFragment {
    std::shared_ptr<const read::FragmentScan> scan;
    std::vector<RowRange> rows;  // that are left
  };
  class Unit;
  // What the units of a scan have in common. They may be in work on several threads, and beyond the
  // life of their source.
  struct Shared;

  // Nothing behind the last one.
  arrow::Result<std::optional<table::Fragment>> NextFragment();
  arrow::Result<std::optional<WorkUnit>> NextOfFragment();
  arrow::Status Begin(const wire::DataFragment& fragment, uint64_t live_rows_before);
  // The rows to read of a fragment, counted among those that the scan sees; nothing: all.
  arrow::Result<std::optional<RowRange>> WindowOf(const wire::DataFragment& fragment);
  WorkUnit WorkOf(uint64_t bytes, std::shared_ptr<Unit> unit) const;

  std::shared_ptr<Shared> shared_;
  const ScanPlan& plan_;  // the shared one
  Sink sink_;
  uint64_t skip_rows_;  // that are left of the plan's
  uint64_t max_rows_;
  size_t next_fragment_ = 0;
  std::optional<OpenFragment> open_;
  std::optional<WorkUnit> whole_fragment_;
};

}  // namespace glaive::dataset
