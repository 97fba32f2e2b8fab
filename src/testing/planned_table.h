#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "dataset/compaction/plan/outlook.h"
#include "dataset/compaction/plan/planned_files.h"
#include "glaive/compaction.h"

// Tables as the planning of a compaction sees them, and what a commit makes of them.
namespace glaive::testing {

using SourceFragments = std::vector<dataset::SourceFragment>;

inline CompactionOptions PlanOptions(CompactionOptions options = {}) {
  options.target_rows_per_fragment = options.target_rows_per_fragment.value_or(1024 * 1024);
  options.materialize_deletions = options.materialize_deletions.value_or(true);
  options.materialize_deletions_threshold = options.materialize_deletions_threshold.value_or(0.1);
  options.max_overlays_per_fragment = options.max_overlays_per_fragment.value_or(10);
  return options;
}

inline dataset::SourceFragment PlannedFragment(uint64_t rows, uint64_t bytes = 0,
                                               uint64_t deleted = 0) {
  return {.physical_rows = rows, .live_rows = rows - deleted, .bytes = bytes};
}

inline SourceFragments FragmentsOfRows(const std::vector<uint64_t>& rows) {
  SourceFragments fragments;
  for (const uint64_t number : rows) fragments.push_back(PlannedFragment(number));
  return fragments;
}

inline std::vector<uint64_t> LiveRowsOf(const SourceFragments& fragments) {
  std::vector<uint64_t> rows;
  for (const auto& fragment : fragments) rows.push_back(fragment.live_rows);
  return rows;
}

// The bytes of live rows [begin, begin + rows) of some fragments, were they all of equal size
// within each.
inline double BytesOfRows(std::span<const dataset::SourceFragment> sources, uint64_t begin,
                          uint64_t rows) {
  double bytes = 0;
  for (const auto& source : sources) {
    const uint64_t taken = std::min(rows, source.live_rows - std::min(begin, source.live_rows));
    if (taken > 0) {
      bytes += static_cast<double>(source.bytes) * static_cast<double>(taken) /
               static_cast<double>(source.physical_rows);
    }
    begin -= std::min(begin, source.live_rows);
    rows -= taken;
  }
  return bytes;
}

// A table with the ids of its fragments, in their order.
struct PlannedTable {
  SourceFragments fragments;
  std::vector<uint64_t> ids;
  uint64_t next_id = 0;
  double bytes_written = 0;

  void Append(dataset::SourceFragment fragment) {
    fragments.push_back(std::move(fragment));
    ids.push_back(next_id++);
  }

  // As the commit of a Rewrite does: the fragments of each task go, new ones get the next ids, and
  // the whole is ordered by id. An index follows a task that it can follow whole.
  void Commit(const std::vector<dataset::TaskMembers>& tasks, const CompactionOptions& options) {
    std::vector<std::pair<uint64_t, dataset::SourceFragment>> entries;
    std::vector<bool> is_replaced(fragments.size());
    for (const auto& task : tasks) {
      SourceFragments sources;
      for (const size_t member : task) {
        is_replaced.at(member) = true;
        sources.push_back(fragments.at(member));
      }
      uint64_t begin = 0;
      for (const dataset::Amount& file : dataset::PlanFiles(sources, options)) {
        const double bytes = BytesOfRows(sources, begin, file.rows);
        auto made = PlannedFragment(file.rows, static_cast<uint64_t>(std::llround(bytes)));
        for (size_t i = 0; i < sources[0].followed.size(); ++i) {
          const bool follows =
              std::ranges::all_of(sources, [&](const auto& source) { return source.followed[i]; });
          made.coverage.push_back(follows);
          made.followed.push_back(follows);
        }
        entries.emplace_back(next_id++, std::move(made));
        bytes_written += bytes;
        begin += file.rows;
      }
    }
    for (size_t i = 0; i < fragments.size(); ++i) {
      if (!is_replaced[i]) entries.emplace_back(ids[i], fragments[i]);
    }
    std::ranges::sort(entries, {}, [](const auto& entry) { return entry.first; });
    fragments.clear();
    ids.clear();
    for (auto& [id, fragment] : entries) {
      ids.push_back(id);
      fragments.push_back(std::move(fragment));
    }
  }
};

inline PlannedTable TableOf(const SourceFragments& fragments) {
  PlannedTable table;
  for (const auto& fragment : fragments) table.Append(fragment);
  return table;
}

}  // namespace glaive::testing
