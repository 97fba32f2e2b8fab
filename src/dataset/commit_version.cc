#include "dataset/commit_version.h"

#include <utility>

#include "dataset/cleanup_plan.h"
#include "dataset/dataset_state.h"
#include "dataset/restoration.h"

namespace glaive::dataset {
namespace {

// The version before stays too: whoever read it is likely still at work.
arrow::Status CleanUpAfter(const table::TableLocation& table, const table::ManifestPtr& made) {
  constexpr uint64_t kDetached = uint64_t{1} << 63;
  ARROW_ASSIGN_OR_RAISE(const auto options, AutoCleanup(*made));
  if (!options || (made->version & kDetached) != 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, MakeDataset(table, made, nullptr));
  return CleanUpFrom(dataset, made->version - 1, *options).status();
}

}  // namespace

arrow::Result<table::ManifestPtr> CommitVersion(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::Operation operation,
                                                const table::CommitOptions& options) {
  auto* const restore = std::get_if<table::Restore>(&operation);
  const bool is_restore = restore != nullptr && !options.detached;
  ARROW_ASSIGN_OR_RAISE(auto made, is_restore
                                       ? CommitRestore(table, base, std::move(*restore), options)
                                       : table::Commit(table, base, std::move(operation), options));
  // What it could not delete is for the next one.
  static_cast<void>(CleanUpAfter(table, made));
  return made;
}

arrow::Result<table::ManifestPtr> CommitVersion(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::MakeOperation make,
                                                const table::CommitOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto made, table::Commit(table, base, std::move(make), options));
  static_cast<void>(CleanUpAfter(table, made));
  return made;
}

}  // namespace glaive::dataset
