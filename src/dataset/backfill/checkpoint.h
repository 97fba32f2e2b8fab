#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "glaive/staged_columns.h"
#include "io/object_store.h"

namespace glaive::dataset {

// What a backfill has done, in a folder of small files, one for each fragment and one that says
// which backfill it is:
//
//   backfill.json       the table, the columns and what they are computed of
//   fragment-17.json    staged: a StagedColumns; or committed
//
// A file is written whole and renamed, so that a killed process leaves the old one or the new one.
class BackfillCheckpoint {
 public:
  // Without a folder nothing is kept. Errors: InvalidInput for the checkpoint of another job, and
  // for files that are none of ours by what they hold.
  static arrow::Result<BackfillCheckpoint> Open(const std::optional<std::string>& folder,
                                                const std::string& job);

  // As the folder has it when it is opened.
  std::vector<StagedColumns> TakeStaged() { return std::move(staged_); }
  const std::set<uint64_t>& committed() const { return committed_; }
  bool is_kept() const { return !folder_.empty(); }

  // On any thread, for a fragment each.
  arrow::Status KeepStaged(const StagedColumns& staged) const;
  arrow::Status KeepCommitted(const std::vector<uint64_t>& fragment_ids);
  arrow::Status Forget(uint64_t fragment_id);
  // The job is done.
  arrow::Status Remove();

 private:
  std::string PathOf(uint64_t fragment_id) const;
  arrow::Status Load(const std::string& job);
  arrow::Status LoadFragment(const std::string& path);
  arrow::Status Write(const std::string& path, const std::string& text) const;

  std::shared_ptr<io::ObjectStore> store_;
  std::string folder_;
  std::vector<StagedColumns> staged_;
  std::set<uint64_t> committed_;
};

}  // namespace glaive::dataset
