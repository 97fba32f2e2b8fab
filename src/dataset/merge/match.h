#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "dataset/merge/source.h"
#include "glaive/dataset.h"
#include "glaive/version_options.h"

namespace glaive::dataset {

// A row of the table and one of the source with the same key.
struct MatchedRow {
  uint64_t address;  // fragment id << 32 | physical row
  uint32_t source_row;
};

// How the rows of a source meet those of a table.
struct MergeMatches {
  std::vector<MatchedRow> matched;       // addresses ascend, then rows of the source
  std::vector<uint32_t> only_in_source;  // ascending
  std::vector<uint64_t> only_in_target;  // ascending; where it was asked for
  uint64_t num_repeated = 0;             // rows of the source that were passed over
};

struct MatchOptions {
  std::vector<std::string> on;     // columns of both sides
  bool first_of_each_key = false;  // rows of the source whose key came before are passed over
  bool only_in_target = false;
  ProgressCallback progress;
};

// Reads the key columns of the table, and nothing else of it.
arrow::Result<MergeMatches> MatchRows(const Dataset& dataset, const MergeSource& source,
                                      const MatchOptions& options);

}  // namespace glaive::dataset
