#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "read/snapshot.h"

namespace glaive::read {

// A version for every physical row of a fragment.
class RowVersions {
 public:
  // The versions of these rows, one after the other. REQUIRES: ascending rows of the fragment
  void Get(std::span<const RowRange> rows, uint64_t* versions) const;

 private:
  friend arrow::Result<RowVersions> CreatedAtVersions(const Snapshot&, const wire::DataFragment&,
                                                      uint64_t);
  friend arrow::Result<RowVersions> LastUpdatedAtVersions(const Snapshot&,
                                                          const wire::DataFragment&, uint64_t);
  explicit RowVersions(const std::vector<table::VersionRun>& runs);

  std::vector<uint64_t> ends_;      // of each run of rows of one version
  std::vector<uint64_t> versions_;  // of the same runs
};

// Which version brought each row: 1 where the table does not record it.
arrow::Result<RowVersions> CreatedAtVersions(const Snapshot& snapshot,
                                             const wire::DataFragment& fragment,
                                             uint64_t physical_rows);
// Which version changed each row last: the one that brought it where the table does not record it.
arrow::Result<RowVersions> LastUpdatedAtVersions(const Snapshot& snapshot,
                                                 const wire::DataFragment& fragment,
                                                 uint64_t physical_rows);

}  // namespace glaive::read
