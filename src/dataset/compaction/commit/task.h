#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/rows/deletion_vector.h"
#include "table/versions/rewrite_history.h"

namespace glaive::dataset {

// The result of one task, against a version that was made since.
struct RewriteTask {
  const RewriteResult* result;
  std::vector<wire::DataFragment> read;  // its old fragments, as the task read them
  std::optional<wire::Schema> schema;    // of the version that it read, if that is still there
  std::optional<std::string> lost_file;  // of those that it wrote

  // What the version has of them. OK where the result may take their place.
  arrow::Status verdict;
  std::vector<wire::DataFragment> current;  // those that are there

  struct OldState {
    bool is_gone = false;
    std::optional<wire::DeletionFile> deletions;

    bool operator==(const OldState&) const = default;
  };
  std::vector<OldState> states;

  // What that makes of the new fragments.
  struct NewFragment {
    table::DeletionVector deleted;
    uint64_t id = 0;                         // in the version to be made
    std::optional<wire::DeletionFile> file;  // once it is written
  };
  std::vector<NewFragment> made;

  uint64_t RowsOf(size_t new_fragment) const {
    return result->new_fragments[new_fragment].physical_rows();
  }
  bool IsEmpty(size_t new_fragment) const {
    return made[new_fragment].deleted.size() == RowsOf(new_fragment);
  }
};

// Gives `task` the verdict of the version. The task's fragments have to be there with the values
// that it read, or to have lost all their rows; what was deleted of them since is mapped to the new
// fragments, unless `task` has that already. An error is one of reading, and says nothing of the
// task.
arrow::Status Meet(const read::Snapshot& latest, const RewriteHistory& history, RewriteTask& task);

}  // namespace glaive::dataset
