#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/progress.h"

namespace glaive {

/// Which versions go. A version goes when all conditions that are given hold for it: with none,
/// every older one. The version of the handle and what came after it never go, nor do tagged,
/// branched-off and detached ones.
struct CleanupOptions {
  std::optional<uint64_t> older_than_ns;          ///< made so long ago
  std::optional<uint64_t> retain_versions;        ///< not among so many newest ones; at least 1
  std::optional<std::vector<uint64_t>> versions;  ///< one of these
  /// Files that no version refers to may be another writer's work in progress: they go when they
  /// are so old, seven days by default, or with `delete_unverified` at once.
  uint64_t unverified_age_ns = uint64_t{7} * 24 * 3600 * 1'000'000'000;
  bool delete_unverified = false;
  bool error_if_tagged_old_versions = true;  ///< else tagged versions are passed over
  /// First cleans the branches that hold old versions, as their own configs say.
  bool clean_referenced_branches = false;
  std::optional<uint64_t> delete_rate_limit;  ///< files a second
  ProgressCallback progress;
};

struct RemovalStats {
  uint64_t bytes_removed = 0;
  uint64_t old_versions = 0;
  uint64_t data_files_removed = 0;
  uint64_t transaction_files_removed = 0;
  uint64_t index_files_removed = 0;
  uint64_t deletion_files_removed = 0;
  uint64_t failed_deletes = 0;  ///< files that the store did not delete; they are found again
};

/// Deletes versions, and whatever files only they referred to. Files of bases are never touched.
/// What others make meanwhile of a version that is to go, a tag, a branch or a restored version,
/// keeps it or is refused.
///
/// Errors: InvalidInput for options that cannot be, for a handle on a detached version, and where a
/// tagged version would go; a retryable CommitConflict where the handle's version is not there any
/// more, or is another table's.
arrow::Result<RemovalStats> CleanUp(const Dataset& dataset, const CleanupOptions& options = {});

enum class CleanupFileKind : uint8_t {
  kManifest,
  kData,
  kTransaction,
  kIndex,
  kDeletion,
  kTemporaryManifest,
};

struct CleanupCandidate {
  std::string path;  ///< in the store
  CleanupFileKind kind = CleanupFileKind::kData;
  bool unverified = false;  ///< no version ever referred to it
  uint64_t size_bytes = 0;
};

struct ReferencedBranch {
  std::string name;
  uint64_t referenced_version = 0;
  bool cleanup_candidate = false;  ///< it would be cleaned too
};

struct CleanupExplanation {
  uint64_t read_version = 0;
  RemovalStats stats;  ///< of all files
  std::vector<CleanupCandidate> candidates;
  uint64_t candidate_limit = 0;
  bool is_truncated = false;  ///< there are more candidates than the limit
  std::vector<ReferencedBranch> referenced_branches;
  std::vector<std::string> warnings;  ///< for people: what the explanation leaves out
};

/// What CleanUp would delete now. Deletes nothing.
arrow::Result<CleanupExplanation> ExplainCleanUp(const Dataset& dataset,
                                                 const CleanupOptions& options = {},
                                                 uint64_t max_candidates = 1000);

/// Seconds as the config "lance.auto_cleanup.older_than" has them: "14days", "1h 30m".
std::string FormatDuration(uint64_t seconds);

/// Whether the version's parts are there and fit each other: ids, row counts, deletion vectors, row
/// ids, files and their sizes. Reads the footer of every file. Corrupt names what does not fit.
arrow::Status Validate(const Dataset& dataset);

/// Gives manifests named by the older scheme their newer names. No other writer may be at work.
arrow::Status MigrateManifestPathsV2(const Dataset& dataset);

/// Deletes a table and whatever else lies in its folder. InvalidInput where files, but no version
/// that can be read and no marker of a catalog lie; FileNotFound where nothing is, unless
/// `ignore_not_found`. That is looked up in the store, whatever a session has of the table.
arrow::Status DropDataset(std::string_view uri, bool ignore_not_found = false);

}  // namespace glaive
