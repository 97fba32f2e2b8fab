#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <arrow/result.h>

#include "glaive/dataset.h"

namespace glaive {

struct LinkOptions {
  /// Leading fragments whose data files together stay below this are taken.
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
};

/// What a linked table would hold.
struct LinkPlan {
  uint64_t num_fragments = 0;
  uint64_t num_rows = 0;
  uint64_t num_files = 0;  ///< data and deletion files
  uint64_t size_bytes = 0;
  uint64_t fragments_left_out = 0;
};

struct LinkResult {
  Dataset dataset;
  uint64_t files_linked = 0;  ///< share their bytes with the files of the source
  uint64_t files_copied = 0;
};

/// Errors: InvalidInput when not even the first fragment is small enough; Unsupported for fragments
/// that lie under several base paths, have overlays, or keep row lineage in their files.
arrow::Result<LinkPlan> PlanLink(const Dataset& dataset, const LinkOptions& options = {});

/// Makes a table at `uri` of the leading fragments of `dataset`, to try things on: its data and
/// deletion files are hard links, or copies where the store cannot link, and `dataset` is not
/// written to. Row ids, tags, indices and older versions are not taken along. The handle given
/// shares the session of `dataset`.
///
/// Errors: as of PlanLink; AlreadyExists where there is a table.
arrow::Result<LinkResult> LinkTable(const Dataset& dataset, std::string_view uri,
                                    const LinkOptions& options = {});

}  // namespace glaive
