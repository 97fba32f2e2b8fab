#include "glaive/scan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/core.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/plan.h"
#include "table/versions/versions.h"

namespace glaive {
namespace {

ScanOptions ScanWhere(const Dataset& dataset, std::string filter) {
  ScanOptions options;
  options.columns.emplace();
  for (const auto& field : dataset.schema()->fields()) options.columns->push_back(field->name());
  for (const char* name : {"_rowid", "_row_created_at_version", "_row_last_updated_at_version"}) {
    options.columns->emplace_back(name);
  }
  options.filter = Predicate::Sql(std::move(filter));
  return options;
}

// Fragments with rows of other ids than the fragment of that id in the other version has.
arrow::Result<std::vector<uint64_t>> ChangedFragments(const Dataset& dataset,
                                                      const Dataset& other) {
  std::vector<uint64_t> changed;
  for (const uint64_t id : FragmentIds(dataset)) {
    const auto left = StateOf(dataset)->manifest->fragments.Find(id);
    const auto right = StateOf(other)->manifest->fragments.Find(id);
    if (right) {
      ARROW_ASSIGN_OR_RAISE(const auto ours, left->Parse());
      ARROW_ASSIGN_OR_RAISE(const auto theirs, right->Parse());
      if (ours.row_ids == theirs.row_ids && ours.deletion_file == theirs.deletion_file) continue;
    }
    changed.push_back(id);
  }
  return changed;
}

arrow::Result<std::vector<uint64_t>> LiveRowIds(const Dataset& dataset,
                                                std::vector<uint64_t> fragment_ids) {
  ScanOptions options;
  options.columns = std::vector<std::string>{"_rowid"};
  options.fragment_ids = std::move(fragment_ids);
  ARROW_ASSIGN_OR_RAISE(const auto stream, Scan(dataset, options));
  std::vector<uint64_t> ids;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    const auto& values = static_cast<const arrow::UInt64Array&>(*batch->column(0));
    ids.insert(ids.end(), values.raw_values(), values.raw_values() + values.length());
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

VersionSpan SpanBetween(const Dataset& dataset, uint64_t version) {
  return {std::min(dataset.version(), version), std::max(dataset.version(), version)};
}

arrow::Result<std::vector<uint64_t>> VersionsIn(const Dataset& dataset, const VersionSpan& span) {
  std::vector<uint64_t> versions;
  if (span.begin >= span.end) return versions;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(StateOf(dataset)->location));
  for (const table::VersionEntry& entry : entries) {
    if (entry.version > span.begin && entry.version <= span.end) versions.push_back(entry.version);
  }
  if (versions.size() == span.end - span.begin) return versions;
  uint64_t missing = span.begin + 1;
  for (const uint64_t version : versions) missing += version == missing ? 1 : 0;
  return NotFound("Version {} of the dataset at path {} was not found; it may have been cleaned up",
                  missing, dataset.uri());
}

ScanOptions InsertedRows(const Dataset& dataset, const VersionSpan& span) {
  return ScanWhere(dataset, fmt::format("_row_created_at_version > {} AND "
                                        "_row_created_at_version <= {}",
                                        span.begin, span.end));
}

ScanOptions UpdatedRows(const Dataset& dataset, const VersionSpan& span) {
  return ScanWhere(dataset, fmt::format("_row_created_at_version <= {} AND "
                                        "_row_last_updated_at_version > {} AND "
                                        "_row_last_updated_at_version <= {}",
                                        span.begin, span.begin, span.end));
}

arrow::Result<std::vector<uint64_t>> DeletedRowIds(const Dataset& dataset,
                                                   const VersionSpan& span) {
  if (span.begin > span.end) {
    return InvalidInput("begin version {} is newer than end version {}", span.begin, span.end);
  }
  if (span.begin == 0) return std::vector<uint64_t>();
  ARROW_ASSIGN_OR_RAISE(const Dataset begin, dataset.Checkout(span.begin));
  ARROW_ASSIGN_OR_RAISE(const Dataset end, dataset.Checkout(span.end));
  for (const Dataset* version : {&begin, &end}) {
    if (!version->has_stable_row_ids()) {
      return InvalidInput("ids of deleted rows need stable row ids, which version {} does not have",
                          version->version());
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto before, ChangedFragments(begin, end));
  ARROW_ASSIGN_OR_RAISE(auto after, ChangedFragments(end, begin));
  ARROW_ASSIGN_OR_RAISE(const auto was_there, LiveRowIds(begin, std::move(before)));
  ARROW_ASSIGN_OR_RAISE(const auto is_there, LiveRowIds(end, std::move(after)));
  std::vector<uint64_t> gone;
  std::ranges::set_difference(was_there, is_there, std::back_inserter(gone));
  return gone;
}

}  // namespace glaive
