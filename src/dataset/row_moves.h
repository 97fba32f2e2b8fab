#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <arrow/result.h>

#include "table/commit.h"

namespace glaive::dataset {

// What was done to the rows of fragments in between two versions, as far as their manifests do not
// show it: an update hides rows by a deletion file as a delete does, but they live on elsewhere,
// with the values that they had.
class RowMoves {
 public:
  explicit RowMoves(table::TableLocation table) : table_(std::move(table)) {}

  // The transactions of the versions after `after`, up to `version`. Those known are not read
  // again.
  arrow::Status Read(uint64_t after, uint64_t version);

  // The first version after `after` that may have moved rows out of the fragment, or that put other
  // rows in its place. `same_rows`: whether it is known that it did not do the former.
  struct Found {
    uint64_t version;
    const char* what;
  };
  std::optional<Found> FindFor(uint64_t fragment_id, uint64_t after, bool same_rows) const;

 private:
  struct Moves {
    bool is_known = false;
    bool replaces_all = false;
    std::set<uint64_t> fragments;  // that rows were moved out of
  };
  static Moves MovesOf(const std::optional<table::Transaction>& transaction);

  table::TableLocation table_;
  std::map<uint64_t, Moves> moves_;  // of versions that are gone, only the first of each gap
};

}  // namespace glaive::dataset
