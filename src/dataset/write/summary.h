#pragma once

#include "glaive/write.h"

// Sums of what was written in parts.
namespace glaive {

inline PageCounts& operator+=(PageCounts& sum, const PageCounts& added) {
  sum.total += added.total;
  sum.by_page_bytes += added.by_page_bytes;
  sum.by_cache_bytes += added.by_cache_bytes;
  sum.by_row_limit += added.by_row_limit;
  sum.by_file_end += added.by_file_end;
  sum.by_format_limit += added.by_format_limit;
  return sum;
}

inline WriteSummary& operator+=(WriteSummary& sum, const WriteSummary& added) {
  sum.rows += added.rows;
  sum.files += added.files;
  sum.bytes += added.bytes;
  sum.pages += added.pages;
  return sum;
}

}  // namespace glaive
