#include "table/rows/row_origins.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/error.h"
#include "table/rows/row_lineage.h"

namespace glaive::table {
namespace {

constexpr Location kOperation = {"(operation)"};

}  // namespace

arrow::Status RowOrigins::Add(const wire::DataFragment& fragment) {
  ARROW_ASSIGN_OR_RAISE(const RowIdSequence ids, RowIdsOf(fragment, kOperation));
  ARROW_ASSIGN_OR_RAISE(const auto versions, CreatedVersionsOf(fragment, kOperation));
  auto version = versions.begin();
  uint64_t left = version == versions.end() ? 0 : version->num_rows;
  for (RowIdSequence::Run run : ids.runs()) {
    while (run.length > 0) {
      while (left == 0) left = (++version)->num_rows;
      const uint64_t length = std::min(run.length, left);
      origins_.push_back({run.first, run.first + length, version->version, fragment.id});
      run.first += length;
      run.length -= length;
      left -= length;
    }
  }
  return arrow::Status::OK();
}

void RowOrigins::Append(const Origin& rows, std::vector<Origin>* origins) {
  if (rows.begin >= rows.end) return;
  if (!origins->empty() && origins->back().end == rows.begin &&
      origins->back().version == rows.version) {
    origins->back().end = rows.end;
  } else {
    origins->push_back(rows);
  }
}

// One sweep over the ids: of the origins that hold the next one, that of the newest fragment tells
// of it, up to where it ends or a newer one begins.
void RowOrigins::Finish() {
  std::ranges::stable_sort(origins_, {}, &Origin::begin);
  const auto is_older = [](const Origin& left, const Origin& right) {
    return left.fragment_id < right.fragment_id;
  };
  std::priority_queue<Origin, std::vector<Origin>, decltype(is_older)> open(is_older);
  std::vector<Origin> apart;
  uint64_t position = 0;
  auto next = origins_.cbegin();
  while (next != origins_.cend() || !open.empty()) {
    if (open.empty()) position = next->begin;
    while (next != origins_.cend() && next->begin <= position) open.push(*next++);
    const Origin& newest = open.top();
    if (newest.end <= position) {
      open.pop();
      continue;
    }
    const uint64_t end = next == origins_.cend() ? newest.end : std::min(newest.end, next->begin);
    Append({position, end, newest.version, newest.fragment_id}, &apart);
    position = end;
  }
  origins_ = std::move(apart);
}

void RowOrigins::Find(uint64_t first, uint64_t length, uint64_t inserted,
                      std::vector<VersionRun>* versions) const {
  const uint64_t end = first + length;
  while (first < end) {
    const auto next = std::ranges::upper_bound(origins_, first, {}, &Origin::begin);
    const auto origin = next == origins_.begin() ? origins_.end() : std::prev(next);
    const bool found = origin != origins_.end() && first < origin->end;
    uint64_t until = found ? origin->end : end;
    if (!found && next != origins_.end()) until = std::min(until, next->begin);
    until = std::min(until, end);
    const uint64_t version = found ? origin->version : inserted;
    if (versions->empty() || versions->back().version != version) versions->push_back({0, version});
    versions->back().num_rows += until - first;
    first = until;
  }
}

}  // namespace glaive::table
