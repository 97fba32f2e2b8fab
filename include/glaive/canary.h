#pragma once

#include <cstdint>
#include <span>

#include <arrow/result.h>

#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/progress.h"

namespace glaive {

/// What was found to be the same before and after.
struct CanaryReport {
  uint64_t rows = 0;           ///< compared, value by value
  uint64_t old_fragments = 0;  ///< whose rows these are
  uint64_t new_fragments = 0;
};

/// Commits the results of tasks to a detached version, which no reader of the table sees, and
/// compares it with the version that the tasks read: the schema, the rows in their order, with
/// stable row ids these and the versions that made and changed each row, and that the other
/// fragments are as they were. All is read back from the store, through no cache. The detached
/// version is removed again, whatever came out; the results' files stay.
///
/// Errors: Corrupt for the first row that differs, with the new file and both values; Unsupported
/// where the table's manifests have names of the older scheme, which no detached version can have.
arrow::Result<CanaryReport> CheckRewrites(const Dataset& dataset,
                                          std::span<const RewriteResult> results,
                                          const ProgressCallback& progress = {});

struct CheckedCompaction {
  CompactionResult compaction;
  CanaryReport canary;
};

/// CompactFiles, with CheckRewrites before the commit. Where that fails, no version is made and no
/// file is left.
arrow::Result<CheckedCompaction> CompactWithCanary(const Dataset& dataset,
                                                   const CompactionOptions& options = {});

}  // namespace glaive
