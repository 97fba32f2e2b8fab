#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/table_identity.h"
#include "dataset/refs/file_references.h"
#include "dataset/refs/files.h"
#include "dataset/refs/restoration.h"
#include "dataset/refs/tombstones.h"
#include "table/commit/after_put.h"
#include "table/commit/publish.h"
#include "table/operation/operation.h"

namespace glaive {
namespace dataset {

arrow::Result<ResolvedReference> ResolveReference(const Dataset& dataset,
                                                  const Reference& reference) {
  const dataset::DatasetState& state = *StateOf(dataset);
  const table::TableLocation main = MainLocation(dataset);
  BranchVersion meant;
  if (const auto* number = std::get_if<uint64_t>(&reference)) {
    meant = {state.manifest->branch, *number};
  } else if (const auto* tag = std::get_if<TagName>(&reference)) {
    ARROW_RETURN_NOT_OK(CheckTagName(tag->name));
    ARROW_ASSIGN_OR_RAISE(const TagInfo info, ReadTag(main, tag->name));
    meant = {info.branch, info.version};
  } else {
    meant = std::get<BranchVersion>(reference);
  }
  meant.branch = Standardized(meant.branch);
  ResolvedReference resolved{.branch = meant.branch, .location = state.location, .manifest = {}};
  // A bare number needs no other place, whatever the branch's own name says of it.
  if (meant.branch != state.manifest->branch) {
    ARROW_ASSIGN_OR_RAISE(resolved.location, BranchLocation(main, meant.branch));
  }
  dataset::SessionState& session = *StateOf(*state.session);
  auto manifest = meant.version ? session.ManifestOf(resolved.location, *meant.version)
                                : session.LatestManifest(resolved.location);
  const bool is_named = !std::holds_alternative<uint64_t>(reference) && meant.version;
  if (is_named && !manifest.ok() && KindOf(manifest.status()) == ErrorKind::kNotFound) {
    ARROW_ASSIGN_OR_RAISE(const auto tombstone, FindTombstone(resolved.location, *meant.version));
    if (tombstone) manifest = ReadTombstone(resolved.location, *tombstone);
  }
  ARROW_RETURN_NOT_OK(manifest.status());
  resolved.manifest = *std::move(manifest);
  const bool is_own = !std::holds_alternative<TagName>(reference) &&
                      meant.version == dataset.version() && meant.branch == state.manifest->branch;
  if (is_own && !IsSameVersion(*resolved.manifest, *state.manifest)) {
    return CommitConflict(Retry::kYes, dataset.version(),
                          "the handle's version of {} is gone, and another one has its number: "
                          "open the table anew",
                          state.location.uri);
  }
  return resolved;
}

arrow::Status CheckStillThere(const ResolvedReference& source, std::string_view what) {
  const uint64_t version = source.manifest->version;
  ARROW_ASSIGN_OR_RAISE(bool is_there, table::IsStillInTable(source.location, *source.manifest));
  if (is_there) {
    // Who puts a version back late may find that its files are gone, and takes it away again.
    const std::string record = table::TransactionPath(source.location, *source.manifest);
    ARROW_ASSIGN_OR_RAISE(const auto recorded, source.location.store->Head(record));
    if (!recorded) {
      ARROW_ASSIGN_OR_RAISE(is_there, HasAllFiles(source.location, *source.manifest));
    }
  }
  if (is_there) return arrow::Status::OK();
  return CommitConflict(Retry::kYes, version,
                        "that version went while {} was made, or is none of the table's", what);
}

}  // namespace dataset

std::optional<std::string> BranchOf(const Dataset& dataset) {
  return StateOf(dataset)->manifest->branch;
}

arrow::Result<Dataset> Dataset::Checkout(const Reference& reference) const {
  ARROW_ASSIGN_OR_RAISE(auto resolved, dataset::ResolveReference(*this, reference));
  return dataset::MakeDataset(std::move(resolved.location), std::move(resolved.manifest),
                              state_->session);
}

}  // namespace glaive
