#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"

namespace glaive::cli {

struct PageExtent {
  uint64_t first_row = 0;  // counted over all fragments, deleted rows included
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;  // of its buffers in the file
};

// A column of values: a top-level field, or one leaf of a nested one.
struct ColumnPages {
  std::string name;  // "id", "box.corner.x"
  std::vector<PageExtent> pages;

  uint64_t size_bytes() const;
};

// How a table lies on disk.
struct PageLayout {
  uint64_t num_rows = 0;  // deleted ones included
  uint64_t num_fragments = 0;
  uint64_t file_bytes = 0;
  uint64_t fragments_left_out = 0;
  std::vector<uint64_t> fragment_starts;  // first row of each fragment looked at
  std::vector<ColumnPages> columns;

  uint64_t num_pages() const;
};

// Reads the footers of the data files of the first `max_fragments` fragments (0: of all).
arrow::Result<PageLayout> ReadPageLayout(const Dataset& dataset, uint64_t max_fragments);

}  // namespace glaive::cli
