#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "read/snapshot.h"

namespace glaive::dataset {

// Which fragment holds the n-th live row of a version. Immutable.
class RowIndex {
 public:
  struct Place {
    size_t fragment;       // position among the version's fragments
    uint64_t live_offset;  // among the live rows of that fragment
  };

  static arrow::Result<RowIndex> Make(const read::Snapshot& snapshot);

  uint64_t num_rows() const { return ends_.empty() ? 0 : ends_.back(); }
  // REQUIRES: row < num_rows()
  Place Find(uint64_t row) const;
  uint64_t fragment_id(size_t fragment) const { return ids_[fragment]; }
  uint64_t rows_before(size_t fragment) const { return fragment == 0 ? 0 : ends_[fragment - 1]; }
  // The same by the fragment's id: the rows of all fragments with lower ids.
  uint64_t rows_before_id(uint64_t fragment_id) const;

 private:
  std::vector<uint64_t> ids_;
  std::vector<uint64_t> ends_;  // live rows up to and with each fragment
};

}  // namespace glaive::dataset
