#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/history.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFragmentsLookedAt = 8;

// Of data files; the other ones are neither read nor written.
bool IsSupported(std::string_view version) {
  return version == "2.0" || version == "2.1" || version == "2.2" || version == "2.3";
}

// Looks into the files of a few fragments, spread evenly; says nothing where their pages are good.
arrow::Result<std::optional<std::string>> SmallPagesHint(const Dataset& dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto fragments, dataset.Fragments());
  const size_t looked_at = std::min(fragments.size(), kFragmentsLookedAt);
  CompactionOptions options = {
      .target_rows_per_fragment = 0, .rewrite_small_pages = true, .materialize_deletions = false};
  size_t chosen = 0;
  for (size_t i = 0; i < fragments.size(); ++i) {
    const bool is_next = chosen < looked_at && i == chosen * fragments.size() / looked_at;
    chosen += is_next ? 1 : 0;
    if (!is_next) options.excluded_fragment_ids.push_back(fragments[i].id());
  }
  ARROW_ASSIGN_OR_RAISE(const CompactionPlan plan, PlanCompaction(dataset, options));
  size_t found = 0;
  for (const CompactionTask& task : plan.tasks) found += task.fragments.size();
  if (found == 0) return std::nullopt;
  return fmt::format(
      "{} of {} looked into {} cut into small pages: `glaive compact --rewrite-small-pages {}`",
      FormatCount(found), Counted(looked_at, "fragment"), found == 1 ? "is" : "are", dataset.uri());
}

// What is worth doing about the table.
arrow::Result<std::vector<std::string>> Hints(const Dataset& dataset) {
  std::vector<std::string> hints;
  if (!IsSupported(dataset.data_storage_version())) {
    hints.emplace_back(
        "to work with it here, copy it with pylance: lance.write_dataset(lance.dataset(path), "
        "new_path, data_storage_version=\"2.2\")");
    return hints;
  }
  const auto planned = PlanCompaction(dataset);
  if (!planned.ok()) {
    if (KindOf(planned.status()) != ErrorKind::kUnsupported) return planned.status();
    hints.push_back("it cannot be compacted here: " + planned.status().message());
    return hints;
  }
  const CompactionPlan& plan = *planned;
  uint64_t fragments = 0;
  uint64_t rows = 0;
  for (const CompactionTask& task : plan.tasks) {
    fragments += task.fragments.size();
    for (const FragmentMetadata& fragment : task.fragments) rows += fragment.num_rows();
  }
  if (fragments > 0) {
    hints.push_back(fmt::format("{} of {} on average: `glaive compact {}`",
                                Counted(fragments, "fragment"), Counted(rows / fragments, "row"),
                                dataset.uri()));
  }
  auto small_pages = SmallPagesHint(dataset);
  // Files that cannot be read are for `glaive verify` to tell.
  if (!small_pages.ok() && KindOf(small_pages.status()) == ErrorKind::kCancelled)
    return small_pages.status();
  if (small_pages.ok() && *small_pages) hints.push_back(**std::move(small_pages));
  const DatasetSummary summary = dataset.summary();
  if (summary.num_data_files > 0 && summary.data_file_bytes == 0) {
    hints.emplace_back("the manifest does not say how large the data files are");
  }
  return hints;
}

Json ToJson(const Dataset& dataset, uint64_t num_rows, const std::vector<std::string>& hints) {
  const DatasetSummary summary = dataset.summary();
  Json fields = Json::array();
  for (const auto& field : dataset.schema()->fields()) {
    fields.push_back({{"name", field->name()},
                      {"type", field->type()->ToString()},
                      {"nullable", field->nullable()}});
  }
  return {{"uri", dataset.uri()},
          {"version", dataset.version()},
          {"timestamp_ns", VersionInfoOf(dataset).timestamp_ns},
          {"rows", num_rows},
          {"deleted_rows", summary.deleted_rows},
          {"fragments", summary.num_fragments},
          {"data_files", summary.num_data_files},
          {"deletion_files", summary.num_deletion_files},
          {"data_file_bytes", summary.data_file_bytes},
          {"data_storage_version", dataset.data_storage_version()},
          {"stable_row_ids", dataset.has_stable_row_ids()},
          {"schema", std::move(fields)},
          {"config", dataset.config()},
          {"hints", hints}};
}

void Print(const Dataset& dataset, uint64_t num_rows, const std::vector<std::string>& hints) {
  const DatasetSummary summary = dataset.summary();
  fmt::print("{}  version {}, {}\n", dataset.uri(), dataset.version(),
             FormatTime(VersionInfoOf(dataset).timestamp_ns));
  fmt::print("  rows        {}", FormatCount(num_rows));
  if (summary.deleted_rows > 0) {
    fmt::print("  ({} more are deleted, by {})", FormatCount(summary.deleted_rows),
               Counted(summary.num_deletion_files, "deletion file"));
  }
  fmt::print("\n  fragments   {}\n", FormatCount(summary.num_fragments));
  const std::string version = dataset.data_storage_version();
  fmt::print("  data files  {}, {}, {}\n", FormatCount(summary.num_data_files),
             FormatBytes(summary.data_file_bytes),
             IsSupported(version)
                 ? "new ones are written as " + version
                 : "of version " + version + ", which this build neither reads nor writes");
  fmt::print("  row ids     {}\n",
             dataset.has_stable_row_ids() ? "stable" : "addresses, which change with compaction");
  for (const auto& [key, value] : dataset.config())
    fmt::print("  config      {} = {}\n", key, value);
  fmt::print("  schema\n");
  for (const auto& field : dataset.schema()->fields()) {
    fmt::print("    {}: {}{}\n", field->name(), field->type()->ToString(),
               field->nullable() ? "" : " not null");
  }
  for (const std::string& hint : hints) fmt::print("  hint        {}\n", hint);
}

}  // namespace

arrow::Status Info(const InfoOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                        Dataset::Open(options.uri, {.version = options.version}));
  ARROW_ASSIGN_OR_RAISE(const uint64_t num_rows, dataset.CountRows());
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> hints, Hints(dataset));
  if (options.json) {
    fmt::print("{}\n", ToJson(dataset, num_rows, hints).dump(2));
  } else {
    Print(dataset, num_rows, hints);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::cli
