#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "table/sets/fragment_set.h"

// The fragment reuse index: where the rows of compacted fragments went, for indices that still know
// them by their old addresses. FragmentReuseIndexDetails is
//
//   1 inline  {1 versions {1 dataset_version, 3 groups {1 changed_row_addrs, 2 old*, 3 new*}*}*}
//   2 external {1 path, 2 offset, 3 size}         of the bytes of `inline`
//
// with old and new as {1 id, 2 physical_rows, 3 num_deleted_rows}, and changed_row_addrs the old
// addresses of the rows that survived, a 64-bit Roaring treemap: the k-th of them in order is the
// k-th row of the new fragments laid end to end.
namespace glaive::table {

struct FragmentReuse {
  struct Group {
    std::vector<uint64_t> old_ids;
    std::vector<uint64_t> new_ids;
  };
  std::vector<Group> groups;  // of all versions, oldest first

  // Unsupported where the details do not lie in the manifest.
  static arrow::Result<FragmentReuse> Parse(const std::string& details, Location where);

  // An index that covers all of a group's old fragments covers its new ones; one that covers some
  // covers neither, since the new ones hold rows that it has not seen.
  void Translate(FragmentSet& covered) const;
};

}  // namespace glaive::table
