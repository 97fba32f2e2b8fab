#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "dataset/refs/files.h"
#include "glaive/refs.h"

namespace glaive {

arrow::Result<std::map<std::string, BranchInfo>> ListBranches(const Dataset& dataset) {
  const table::TableLocation main = dataset::MainLocation(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto names, dataset::ListRefNames(main, dataset::RefKind::kBranch));
  std::map<std::string, BranchInfo> branches;
  for (const std::string& name : names) {
    auto branch = dataset::ReadBranch(main, name);
    // Deleted since the listing.
    if (!branch.ok() && KindOf(branch.status()) == ErrorKind::kNotFound) continue;
    ARROW_ASSIGN_OR_RAISE(branches[name], std::move(branch));
  }
  return branches;
}

}  // namespace glaive
