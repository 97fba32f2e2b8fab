#pragma once

#include <cstdint>
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

namespace glaive {

struct TagName {
  std::string name;
};
struct BranchVersion {
  std::optional<std::string> branch;  ///< absent or "main": the table's own line of versions
  std::optional<uint64_t> version;    ///< absent: the newest
};
/// Which version is meant. A bare number counts on the branch of the handle.
using Reference = std::variant<uint64_t, TagName, BranchVersion>;

/// The branch of a handle; nothing on the main one.
std::optional<std::string> BranchOf(const Dataset& dataset);

/// Another version, of any branch.
arrow::Result<Dataset> Checkout(const Dataset& dataset, const Reference& reference);
/// The same from a table's path or URI; a bare number counts on the branch that lies there.
arrow::Result<Dataset> Open(std::string_view uri, const Reference& reference,
                            std::shared_ptr<Session> session = nullptr);

/// Makes the version of this handle the newest one again, with its rows, schema, config and all.
/// Nothing is taken away: the versions in between stay in the history.
arrow::Result<Dataset> Restore(const Dataset& dataset, const VersionOptions& options = {});

/// A name for a version, which clean-up then keeps. Tags are the table's, on whichever branch.
struct TagInfo {
  std::optional<std::string> branch;
  uint64_t version = 0;
  std::optional<int64_t> created_at_ns;  ///< since the Unix epoch, UTC
  std::optional<int64_t> updated_at_ns;
  uint64_t manifest_size = 0;
  std::map<std::string, std::string> metadata;
};

/// Names are letters, digits, '.', '-' and '_', without a dot at either end, ".." or a final
/// ".lock"; else InvalidInput. NotFound for tags and versions that are not there. Without a
/// reference the version of the handle is meant.
arrow::Result<std::map<std::string, TagInfo>> ListTags(const Dataset& dataset);
arrow::Result<TagInfo> GetTag(const Dataset& dataset, const std::string& tag);
/// InvalidInput for a tag that is there.
arrow::Status CreateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference = std::nullopt);
arrow::Status UpdateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference = std::nullopt);
arrow::Status ReplaceTagMetadata(const Dataset& dataset, const std::string& tag,
                                 const std::map<std::string, std::string>& metadata);
arrow::Status DeleteTag(const Dataset& dataset, const std::string& tag);

/// A line of versions of its own that began as a copy of one, in tree/<name> below the table.
struct BranchInfo {
  std::optional<std::string> parent_branch;
  uint64_t parent_version = 0;
  /// Where it came from, from the main branch down: version, and what tells two branches of one
  /// name apart.
  std::vector<std::pair<uint64_t, std::string>> identifier;
  uint64_t created_at_s = 0;  ///< since the Unix epoch, UTC
  uint64_t manifest_size = 0;
  std::map<std::string, std::string> metadata;
};

/// Names as of tags, and in parts joined by '/'; "main" is taken. Nothing is copied: files of the
/// parent are referred to where they lie.
arrow::Result<std::map<std::string, BranchInfo>> ListBranches(const Dataset& dataset);
/// A handle on the branch. Errors: AlreadyExists where it, or what a failed attempt left of it, is.
arrow::Result<Dataset> CreateBranch(const Dataset& dataset, const std::string& branch,
                                    const std::optional<Reference>& reference = std::nullopt,
                                    const VersionOptions& options = {});
arrow::Status ReplaceBranchMetadata(const Dataset& dataset, const std::string& branch,
                                    const std::map<std::string, std::string>& metadata);
/// With its versions and files. InvalidInput while a tag or another branch refers to it. `force`
/// also removes what a failed attempt to create one left.
arrow::Status DeleteBranch(const Dataset& dataset, const std::string& branch, bool force = false);

/// A new table whose first version is that version, with its number. A shallow one refers to the
/// files where they lie, so that these must stay; a deep one has copies. The handle given shares
/// the session of `dataset`. AlreadyExists where there is a table.
arrow::Result<Dataset> ShallowClone(const Dataset& dataset, std::string_view uri,
                                    const Reference& reference, const VersionOptions& options = {});
arrow::Result<Dataset> DeepClone(const Dataset& dataset, std::string_view uri,
                                 const Reference& reference, const VersionOptions& options = {});

}  // namespace glaive
