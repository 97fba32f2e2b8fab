#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "read/snapshot.h"

namespace glaive::dataset {

// Which fragment holds the n-th live row of a version. Immutable. Where the manifest tells of all
// fragments how many rows they have, as it nearly always does, it is the manifest that answers and
// nothing is computed; else all fragments are looked at once.
class RowIndex {
 public:
  struct Place {
    uint64_t fragment_id;
    uint64_t live_offset;  // among the live rows of that fragment
  };

  static arrow::Result<RowIndex> Make(const read::Snapshot& snapshot);

  uint64_t num_rows() const;
  // REQUIRES: row < num_rows()
  Place Find(uint64_t row) const;
  // Of all fragments with lower ids.
  uint64_t RowsBefore(uint64_t fragment_id) const;

 private:
  table::ManifestPtr manifest_;  // null where the two below are what is known
  std::vector<uint64_t> ids_;
  std::vector<uint64_t> ends_;  // live rows up to and with each fragment
};

}  // namespace glaive::dataset
