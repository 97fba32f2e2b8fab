#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"

// Row lineage of tables with stable row ids: per fragment the id of every physical row, deleted
// ones included, and the versions that made and last changed it.
namespace glaive::table {

// The ids of a fragment's rows, in order of the rows. Immutable.
class RowIdSequence {
 public:
  // Corrupt unless there are `num_rows` ids.
  static arrow::Result<RowIdSequence> Parse(std::span<const std::byte> message, uint64_t num_rows,
                                            Location where);
  // Of a fragment whose last rows have no ids yet. Corrupt above `num_rows` ids.
  static arrow::Result<RowIdSequence> ParseFirst(std::span<const std::byte> message,
                                                 uint64_t num_rows, Location where);

  uint64_t size() const { return runs_.empty() ? 0 : runs_.back().offset + runs_.back().length; }
  // The ids of these rows, one after the other. REQUIRES: ascending rows below size()
  void Get(std::span<const RowRange> rows, uint64_t* ids) const;
  // Appends the ids of some rows as ranges of ids, in the order of the rows.
  // REQUIRES: rows.end <= size()
  void AppendTo(RowRange rows, std::vector<RowRange>* ids) const;

  // Rows [offset, offset + length) have the ids from `first` on.
  struct Run {
    uint64_t offset;
    uint64_t first;
    uint64_t length;
  };
  std::span<const Run> runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

// A RowIdSequence of these ids, each range a run of ascending ones; the ranges come in any order,
// that of the rows. Takes the smallest form that says it: ranges, an interval with holes or with a
// bitmap, an array.
std::string SerializeRowIds(std::span<const RowRange> ids);

// So many rows, one after the other, are of one version.
struct VersionRun {
  uint64_t num_rows = 0;
  uint64_t version = 0;

  bool operator==(const VersionRun&) const = default;
};

// Corrupt unless there are `num_rows` versions.
arrow::Result<std::vector<VersionRun>> ParseRowVersions(std::span<const std::byte> message,
                                                        uint64_t num_rows, Location where);
// Runs of one version that follow each other are written as one.
std::string SerializeRowVersions(std::span<const VersionRun> runs);

}  // namespace glaive::table
