#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"

// Example:
//
//     const uint64_t week = uint64_t{7} * 24 * 3600 * 1'000'000'000;
//     ARROW_ASSIGN_OR_RAISE(const RemovalStats removed, CleanUp(dataset, {.older_than_ns = week}));
//     std::cout << removed.old_versions << " versions, " << removed.bytes_removed << " bytes\n";
namespace glaive {

/// The versions that a cleanup removes. A version is removed if all given conditions hold for it;
/// without a condition every older version is. The version of the handle and newer ones stay, and
/// so do tagged and detached versions and the sources of branches.
struct CleanupOptions {
  std::optional<uint64_t> older_than_ns;          ///< made so long ago
  std::optional<uint64_t> retain_versions;        ///< not among so many newest ones; at least 1
  std::optional<std::vector<uint64_t>> versions;  ///< one of these
  /// The age at which unverified files are removed: files that no version refers to, and which may
  /// belong to a writer that has not committed yet. With `delete_unverified` their age does not
  /// count.
  uint64_t unverified_age_ns = uint64_t{7} * 24 * 3600 * 1'000'000'000;
  bool delete_unverified = false;
  bool error_if_tagged_old_versions = true;  ///< else tagged versions are passed over
  /// First cleans the branches that refer to old versions, by their own configs.
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

/// Deletes versions, and the files that only they refer to. Never deletes files in base paths. If
/// another writer makes a tag, a branch or a restored version of a version that is to be removed,
/// either the version stays or that call is refused.
///
/// Errors: InvalidInput for invalid options, for a handle on a detached version, and if a tagged
/// version would be removed; a retryable CommitConflict if the handle's version no longer exists or
/// belongs to another table.
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

/// The files that CleanUp would delete now. Deletes nothing.
arrow::Result<CleanupExplanation> ExplainCleanUp(const Dataset& dataset,
                                                 const CleanupOptions& options = {},
                                                 uint64_t max_candidates = 1000);

/// Seconds in the notation of the config "lance.auto_cleanup.older_than": "14days", "1h 30m".
std::string FormatDuration(uint64_t seconds);

/// Checks that the parts of a version exist and fit each other: ids, row counts, deletion files,
/// row ids, files and their sizes. Reads the footer of every file. Errors: Corrupt, with the name
/// of the part that does not fit.
arrow::Status Validate(const Dataset& dataset);

/// Renames manifests from the older naming scheme to the newer one. No other writer may be active.
arrow::Status MigrateManifestPathsV2(const Dataset& dataset);

/// Deletes a table and all files in its folder. Looks at the store, not at a session. Errors:
/// InvalidInput for a folder with files but without a readable version or the marker of a catalog;
/// FileNotFound if nothing is there, unless `ignore_not_found`.
arrow::Status DropDataset(std::string_view uri, bool ignore_not_found = false);

}  // namespace glaive
