#pragma once

#include <cstdint>
#include <span>

#include <arrow/result.h>

#include "glaive/compaction.h"

namespace glaive::dataset {

// Who may have the results of tasks beside the one that commits them: several may be told to.
enum class ResultsOf : uint8_t { kThisCall, kAnyone };

// The public CommitCompaction. The files of results that no version needs are removed where nobody
// else can be about to commit them.
arrow::Result<CompactionResult> CommitCompaction(const Dataset& dataset,
                                                 std::span<const RewriteResult> results,
                                                 const CompactionOptions& options, ResultsOf whose);

}  // namespace glaive::dataset
