#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

#include "core/ranges.h"
#include "wire/file_metadata.h"

namespace glaive::file {

inline uint64_t NumRows(const wire::ColumnMetadata& column) {
  if (column.pages.empty()) return 0;
  return column.pages.back().priority + column.pages.back().num_rows;
}

// Calls `visit(page index, its rows counted from its first)` for each page that holds some of
// `rows`. REQUIRES: rows ascending, disjoint and within the column.
template <typename Visit>
arrow::Status VisitPages(const std::vector<wire::Page>& pages, std::span<const RowRange> rows,
                         Visit&& visit) {
  std::vector<RowRange> of_page;
  auto page = pages.begin();
  uint64_t row = 0;  // the next one of rows.front()
  while (true) {
    while (!rows.empty() && std::max(row, rows.front().begin) >= rows.front().end) {
      rows = rows.subspan(1);
    }
    if (rows.empty()) return arrow::Status::OK();
    row = std::max(row, rows.front().begin);
    // The page with that row is the last to begin at or before it; empty pages share their first
    // row with the page behind them.
    page = std::upper_bound(
               page, pages.end(), row,
               [](uint64_t wanted, const wire::Page& other) { return wanted < other.priority; }) -
           1;
    const uint64_t page_end = page->priority + page->num_rows;
    of_page.clear();
    while (!rows.empty() && rows.front().begin < page_end) {
      const uint64_t begin = std::max(row, rows.front().begin);
      const uint64_t end = std::min(rows.front().end, page_end);
      if (begin < end) of_page.push_back({begin - page->priority, end - page->priority});
      row = std::max(row, end);
      if (rows.front().end > page_end) break;
      rows = rows.subspan(1);
    }
    ARROW_RETURN_NOT_OK(
        visit(static_cast<size_t>(page - pages.begin()), std::span<const RowRange>(of_page)));
  }
}

}  // namespace glaive::file
