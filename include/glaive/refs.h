#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_RETURN_NOT_OK(CreateTag(dataset, "release"));
//     ARROW_ASSIGN_OR_RAISE(const Dataset branch, CreateBranch(dataset, "experiment"));
//     ARROW_ASSIGN_OR_RAISE(const Dataset copy,
//                           DeepClone(dataset, "/data/copy.lance", TagName{"release"}));
namespace glaive {

/// The branch of a handle; absent on the main branch.
std::optional<std::string> BranchOf(const Dataset& dataset);

/// Makes a new version with the content of the handle's version: rows, schema and config. The
/// versions in between stay in the history.
arrow::Result<Dataset> Restore(const Dataset& dataset, const VersionOptions& options = {});

/// A name for a version. A cleanup keeps tagged versions. Tags belong to the table, on all
/// branches.
struct TagInfo {
  std::optional<std::string> branch;
  uint64_t version = 0;
  std::optional<int64_t> created_at_ns;  ///< since the Unix epoch, UTC
  std::optional<int64_t> updated_at_ns;
  uint64_t manifest_size = 0;
  std::map<std::string, std::string> metadata;
};

/// A tag name has letters, digits, '.', '-' and '_', no dot at either end, no ".." and no final
/// ".lock". An absent reference means the version of the handle. Errors: InvalidInput for other
/// names; NotFound for tags and versions that do not exist.
arrow::Result<std::map<std::string, TagInfo>> ListTags(const Dataset& dataset);
arrow::Result<TagInfo> GetTag(const Dataset& dataset, const std::string& tag);
/// Errors: InvalidInput for a tag that exists.
arrow::Status CreateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference = std::nullopt);
arrow::Status UpdateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference = std::nullopt);
arrow::Status ReplaceTagMetadata(const Dataset& dataset, const std::string& tag,
                                 const std::map<std::string, std::string>& metadata);
arrow::Status DeleteTag(const Dataset& dataset, const std::string& tag);

/// A branch: a line of versions that begins with a copy of one version, in tree/<name> below the
/// table.
struct BranchInfo {
  std::optional<std::string> parent_branch;
  uint64_t parent_version = 0;
  /// Its origin, from the main branch down: each version with the id of the branch.
  std::vector<std::pair<uint64_t, std::string>> identifier;
  uint64_t created_at_s = 0;  ///< since the Unix epoch, UTC
  uint64_t manifest_size = 0;
  std::map<std::string, std::string> metadata;
};

/// Branch names are like tag names, and may have parts joined by '/'; "main" is reserved. A branch
/// copies no data file and refers to the files of its parent.
arrow::Result<std::map<std::string, BranchInfo>> ListBranches(const Dataset& dataset);
/// Returns a handle on the new branch. Errors: AlreadyExists if the branch, or the rest of a failed
/// attempt, exists.
arrow::Result<Dataset> CreateBranch(const Dataset& dataset, const std::string& branch,
                                    const std::optional<Reference>& reference = std::nullopt,
                                    const VersionOptions& options = {});
arrow::Status ReplaceBranchMetadata(const Dataset& dataset, const std::string& branch,
                                    const std::map<std::string, std::string>& metadata);
/// Deletes a branch with its versions and files. `force` also removes the rest of a failed attempt
/// to create it. Errors: InvalidInput while a tag or another branch refers to it.
arrow::Status DeleteBranch(const Dataset& dataset, const std::string& branch, bool force = false);

/// Makes a new table whose first version is a copy of a version, with the same number. A shallow
/// clone refers to the original files, which must stay; a deep clone has copies. The returned
/// handle shares the session of `dataset`. Errors: AlreadyExists if there is a table.
arrow::Result<Dataset> ShallowClone(const Dataset& dataset, std::string_view uri,
                                    const Reference& reference, const VersionOptions& options = {});
arrow::Result<Dataset> DeepClone(const Dataset& dataset, std::string_view uri,
                                 const Reference& reference, const VersionOptions& options = {});

struct LinkOptions {
  /// Takes leading fragments while their data files together stay below this size.
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
};

/// The content of a linked table.
struct LinkPlan {
  uint64_t num_fragments = 0;
  uint64_t num_rows = 0;
  uint64_t num_files = 0;  ///< data and deletion files
  uint64_t size_bytes = 0;
  uint64_t fragments_left_out = 0;
};

struct LinkResult {
  Dataset dataset;
  uint64_t files_linked = 0;  ///< share their bytes with the files of the source
  uint64_t files_copied = 0;
};

/// Errors: InvalidInput when not even the first fragment is small enough; Unsupported for fragments
/// that lie under several base paths, have overlays, or keep row lineage in their files.
arrow::Result<LinkPlan> PlanLink(const Dataset& dataset, const LinkOptions& options = {});

/// Makes a table at `uri` of the leading fragments of `dataset`, to try things on: its data and
/// deletion files are hard links, or copies where the store cannot link, and `dataset` is not
/// written to. Row ids, tags, indices and older versions are not taken along. The handle given
/// shares the session of `dataset`.
///
/// Errors: as of PlanLink; AlreadyExists where there is a table.
arrow::Result<LinkResult> LinkTable(const Dataset& dataset, std::string_view uri,
                                    const LinkOptions& options = {});

}  // namespace glaive
