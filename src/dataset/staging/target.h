#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/ranges.h"
#include "dataset/staging/state.h"
#include "table/operation/operation.h"
#include "table/versions/row_moves.h"

namespace glaive::dataset {

// Staged columns, and what they were computed from.
struct ColumnWrite {
  const dataset::StagedColumnsState* staged;
  std::set<int32_t> read_fields;
  Witnesses read;
};

// Rows that values of any fragment were computed from: what their fragment was in the version that
// was read, with the witnesses of no other rows.
struct RowRead {
  dataset::StagedColumnsState from;  // without a file
  std::optional<std::vector<RowRange>> rows;

  const std::vector<RowRange>* restricted() const { return rows ? &*rows : nullptr; }
};

// The operation that publishes the writes as the version after `latest`, or a ColumnWriteConflict
// with what was committed since they were staged: new columns as a Merge, others as a
// DataReplacement where one list of fields will do. Looks at the fragments that are written or
// read, and at no other. `moves`, which has to know of those, is read as far as the manifest leaves
// it open what became of rows.
arrow::Result<table::Change> MakeColumnCommit(std::span<const ColumnWrite> writes,
                                              std::span<const RowRead> reads,
                                              const table::Manifest& latest, RowMoves& moves);

}  // namespace glaive::dataset
