#include "dataset/written_for.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "dataset/fragment_state.h"
#include "dataset/table_identity.h"
#include "table/operation.h"

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
    const TableIdentity* previous = nullptr;  // mostly all are written for one
    for (const FragmentMetadata& fragment : fragments) {
      const auto& target = fragment.state()->written_for;
      if (!target || (previous != nullptr && *target == *previous)) continue;
      previous = &*target;
      const auto& files = fragment.state()->fragment.files;
      targets.emplace(std::pair(target->version, target->transaction),
                      files.empty() ? "" : files.front().path);
    }
  });
  return targets;
}

}  // namespace

bool RemembersTarget(const Operation& operation) { return !TargetsOf(operation).empty(); }

arrow::Status CheckWrittenFor(const table::TableLocation& table, const Operation& operation) {
  for (const auto& [target, file] : TargetsOf(operation)) {
    const auto& [version, transaction] = target;
    const auto now = IdentityOf(table, version);
    if (!now.ok() && KindOf(now.status()) == ErrorKind::kNotFound) {
      return CommitConflict(Retry::kNo, version,
                            "data file {} was written for that version, which is not there any "
                            "more, so that nobody can tell whether {} is still the same table",
                            file, table.uri);
    }
    ARROW_RETURN_NOT_OK(now.status());
    if (now->transaction == transaction) continue;
    return CommitConflict(Retry::kNo, version,
                          "data file {} was written for a table whose version was made by "
                          "transaction {}; the one at {} was made by {}: it is another table, made "
                          "anew at the same place",
                          file, transaction, table.uri, now->transaction);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
