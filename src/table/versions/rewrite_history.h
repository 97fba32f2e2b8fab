#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <arrow/status.h>

#include "table/manifest/location.h"
#include "table/operation/operation.h"

namespace glaive::dataset {

// What versions did, while fragments were being rewritten, to the old fragments and with the new
// files, as far as the newest manifest does not show it.
class RewriteHistory {
 public:
  // Of these fragments and files only.
  RewriteHistory(table::TableLocation table, std::set<uint64_t> old_ids,
                 std::set<std::string> new_paths)
      : table_(std::move(table)), old_ids_(std::move(old_ids)), new_paths_(std::move(new_paths)) {}

  // Reads the transactions of the versions after `after`, up to `version`; those known are not read
  // again. A CommitConflict for good where one put other rows in the place of all, or did what this
  // build does not know.
  arrow::Status Read(uint64_t after, uint64_t version);

  // How a fragment that is gone went. Nothing where no version tells.
  struct End {
    uint64_t version;
    bool was_rewritten;  // its rows live on elsewhere; else all of them were deleted or moved
  };
  std::optional<End> EndOf(uint64_t fragment_id) const;

  // The version that has the data file, of those read.
  std::optional<uint64_t> VersionWith(const std::string& path) const;

  // Whether all versions after `after` told what they did.
  bool IsWholeAfter(uint64_t after) const { return !last_silent_ || *last_silent_ <= after; }

 private:
  void Add(const table::Operation& operation, uint64_t version);

  table::TableLocation table_;
  std::set<uint64_t> old_ids_;
  std::set<std::string> new_paths_;
  uint64_t known_up_to_ = 0;  // 0: nothing was read
  std::optional<uint64_t> last_silent_;
  std::map<uint64_t, End> ends_;
  std::map<std::string, uint64_t> brought_;
};

}  // namespace glaive::dataset
