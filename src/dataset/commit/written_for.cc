#include "dataset/commit/written_for.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/table_identity.h"
#include "dataset/refs/files.h"
#include "table/operation/operation.h"

namespace glaive::dataset {
namespace {

using Visitor = std::function<void(const std::vector<FragmentMetadata>&)>;

// The lists of fragments that an operation brings to the table.
void VisitNewFragments(const Operation& operation, const Visitor& visit) {
  if (const auto* append = std::get_if<operation::Append>(&operation)) {
    visit(append->fragments);
  } else if (const auto* overwrite = std::get_if<operation::Overwrite>(&operation)) {
    visit(overwrite->fragments);
  } else if (const auto* merge = std::get_if<operation::Merge>(&operation)) {
    visit(merge->fragments);
  } else if (const auto* update = std::get_if<operation::Update>(&operation)) {
    visit(update->new_fragments);
  } else if (const auto* rewrite = std::get_if<operation::Rewrite>(&operation)) {
    for (const auto& group : rewrite->groups) visit(group.new_fragments);
  }
}

// Each version that a fragment was written for, by number and transaction, and one file of it.
using Targets = std::map<std::pair<uint64_t, std::string>, std::string>;

Targets TargetsOf(const Operation& operation) {
  Targets targets;
  VisitNewFragments(operation, [&](const std::vector<FragmentMetadata>& fragments) {
    const WrittenFor* previous = nullptr;  // mostly all are written for one
    for (const FragmentMetadata& fragment : fragments) {
      const auto& target = StateOf(fragment)->written_for;
      if (!target || (previous != nullptr && *target == *previous)) continue;
      previous = &*target;
      const auto& files = StateOf(fragment)->fragment.files;
      targets.emplace(std::pair(target->version, target->transaction),
                      files.empty() ? "" : files.front().path);
    }
  });
  return targets;
}

// The branch of the table, main for one, whose version that is; nothing where it is of none. Asked
// for the sake of an error only.
std::optional<std::string> BranchOf(const table::TableLocation& main, uint64_t version,
                                    const std::string& transaction) {
  const auto is_of = [&](const table::TableLocation& branch) {
    const auto identity = IdentityOf(branch, version);
    return identity.ok() && identity->transaction == transaction;
  };
  if (is_of(main)) return "main";
  for (const std::string& name : ListRefNames(main, RefKind::kBranch).ValueOr({})) {
    const auto branch = BranchLocation(main, name);
    if (branch.ok() && is_of(*branch)) return name;
  }
  return std::nullopt;
}

}  // namespace

bool RemembersTarget(const Operation& operation) { return !TargetsOf(operation).empty(); }

arrow::Status CheckWrittenFor(const Dataset& base, const Operation& operation) {
  const table::TableLocation& table = StateOf(base)->location;
  for (const auto& [target, file] : TargetsOf(operation)) {
    const auto& [version, transaction] = target;
    const auto now = IdentityOf(table, version);
    const bool is_same = now.ok() && now->transaction == transaction;
    if (is_same) continue;
    if (const auto branch = BranchOf(MainLocation(base), version, transaction)) {
      return CommitConflict(Retry::kNo, version,
                            "data file {} was written for that version of branch '{}', and {} is "
                            "another branch of the table: commit it to a handle on '{}'",
                            file, *branch, table.uri, *branch);
    }
    if (!now.ok() && KindOf(now.status()) == ErrorKind::kNotFound) {
      return CommitConflict(Retry::kNo, version,
                            "data file {} was written for that version, which is not there any "
                            "more, so that nobody can tell whether {} is still the same table",
                            file, table.uri);
    }
    ARROW_RETURN_NOT_OK(now.status());
    return CommitConflict(Retry::kNo, version,
                          "data file {} was written for a table whose version was made by "
                          "transaction {}; the one at {} was made by {}: it is another table, made "
                          "anew at the same place",
                          file, transaction, table.uri, now->transaction);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
