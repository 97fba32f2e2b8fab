#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "glaive/refs.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

// Tags and branches as files: _refs/tags/<tag>.json and _refs/branches/<branch>.json below the
// table's root, the same for all its branches.
namespace glaive::dataset {

enum class RefKind : uint8_t { kTag, kBranch };

// The root of the table that the handle's branch is of.
table::TableLocation MainLocation(const Dataset& dataset);
// The root of one of its branches. InvalidInput for names that none can have.
arrow::Result<table::TableLocation> BranchLocation(const table::TableLocation& main,
                                                   const std::optional<std::string>& branch);
// "main" is no branch, but the lack of one.
std::optional<std::string> Standardized(const std::optional<std::string>& branch);

arrow::Status CheckTagName(std::string_view name);
arrow::Status CheckBranchName(std::string_view name);

std::string RefPath(const table::TableLocation& main, RefKind kind, std::string_view name);
arrow::Result<std::vector<std::string>> ListRefNames(const table::TableLocation& main,
                                                     RefKind kind);

// NotFound names the tag or the branch; Corrupt the file.
arrow::Result<TagInfo> ReadTag(const table::TableLocation& main, const std::string& name);
arrow::Result<BranchInfo> ReadBranch(const table::TableLocation& main, const std::string& name);

// Where there is none. AlreadyExists leaves the other as it is.
arrow::Status CreateRef(const table::TableLocation& main, const std::string& name,
                        const TagInfo& tag);
arrow::Status CreateRef(const table::TableLocation& main, const std::string& name,
                        const BranchInfo& branch);
// In the place of the one that is there; entries of its JSON that this build does not know stay.
arrow::Status ReplaceRef(const table::TableLocation& main, const std::string& name,
                         const TagInfo& tag);
arrow::Status ReplaceRef(const table::TableLocation& main, const std::string& name,
                         const BranchInfo& branch);

// What a tag on this reference points to.
struct ResolvedReference {
  std::optional<std::string> branch;
  table::TableLocation location;  // of the branch
  table::ManifestPtr manifest;
};
// A version that a clean-up has taken, and may still have to put back, is found for tags and
// branches, but nothing new can be made of it.
arrow::Result<ResolvedReference> ResolveReference(const Dataset& dataset,
                                                  const Reference& reference);

// Whether what was resolved is still there under its own name. A retryable conflict where a
// clean-up took it: `what` was made of it meanwhile, is nothing, and can be tried again.
arrow::Status CheckStillThere(const ResolvedReference& source, std::string_view what);

// Takes back what CreateRef put, unless another one has put something else there since.
arrow::Status TakeBackRef(const table::TableLocation& main, const std::string& name,
                          const TagInfo& tag);
arrow::Status TakeBackRef(const table::TableLocation& main, const std::string& name,
                          const BranchInfo& branch);

}  // namespace glaive::dataset
