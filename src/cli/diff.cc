#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/fragment_strip.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/history.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFilesShown = 20;

template <typename T>
char MarkOf(const T& change) {
  return !change.before ? '+' : !change.after ? '-' : '~';
}

Json ToJson(const std::vector<ValueChange>& changes) {
  Json json = Json::array();
  for (const ValueChange& change : changes) {
    json.push_back({{"key", change.key},
                    {"before", change.before ? Json(*change.before) : Json()},
                    {"after", change.after ? Json(*change.after) : Json()}});
  }
  return json;
}

Json ToJson(const TableDiff& diff) {
  Json fields = Json::array();
  for (const FieldChange& change : diff.fields) {
    fields.push_back({{"id", change.id}, {"before", change.before}, {"after", change.after}});
  }
  const auto rows = [](const std::optional<FragmentMetadata>& fragment) {
    return fragment ? Json(fragment->num_rows()) : Json();
  };
  Json fragments = Json::array();
  for (const FragmentChange& change : diff.fragments) {
    fragments.push_back({{"id", change.id},
                         {"rows_before", rows(change.before)},
                         {"rows_after", rows(change.after)}});
  }
  return {{"rows_before", diff.rows_before},
          {"rows_after", diff.rows_after},
          {"fields", std::move(fields)},
          {"fragments", std::move(fragments)},
          {"fragments_kept", diff.fragments_kept},
          {"files_added", diff.files_added},
          {"files_removed", diff.files_removed},
          {"config", ToJson(diff.config)},
          {"table_metadata", ToJson(diff.table_metadata)},
          {"schema_metadata", ToJson(diff.schema_metadata)}};
}

void PrintValues(std::string_view what, const std::vector<ValueChange>& changes) {
  for (const ValueChange& change : changes) {
    fmt::print("  {} {} {}", MarkOf(change), what, change.key);
    if (change.before) fmt::print("  {}", *change.before);
    if (change.before && change.after) fmt::print("  ->");
    if (change.after) fmt::print("  {}", *change.after);
    fmt::print("\n");
  }
}

void PrintFields(const std::vector<FieldChange>& changes) {
  for (const FieldChange& change : changes) {
    if (change.before.empty()) {
      fmt::print("  + field {}  {}\n", change.id, change.after);
    } else if (change.after.empty()) {
      fmt::print("  - field {}  {}\n", change.id, change.before);
    } else {
      fmt::print("  ~ field {}  {}  ->  {}\n", change.id, change.before, change.after);
    }
  }
}

void PrintFiles(char mark, const std::vector<std::string>& files) {
  for (size_t i = 0; i < std::min(files.size(), kFilesShown); ++i) {
    fmt::print("  {} {}\n", mark, files[i]);
  }
  if (files.size() > kFilesShown) {
    fmt::print("  {} {} more; --json lists them\n", mark, FormatCount(files.size() - kFilesShown));
  }
}

// Every fragment of both versions as a cell: where in the table the changes are.
arrow::Status PrintFragments(const TableDiff& diff, const Dataset& after) {
  std::map<uint64_t, char> marks;
  ARROW_ASSIGN_OR_RAISE(const auto fragments, after.Fragments());
  for (const FragmentMetadata& fragment : fragments) marks[fragment.id()] = '=';
  std::map<char, uint64_t> counts = {{'=', diff.fragments_kept}};
  for (const FragmentChange& change : diff.fragments) {
    marks[change.id] = MarkOf(change);
    ++counts[MarkOf(change)];
  }
  fmt::print("  fragments  {} kept, {} added, {} removed, {} changed\n", FormatCount(counts['=']),
             FormatCount(counts['+']), FormatCount(counts['-']), FormatCount(counts['~']));
  if (!marks.empty()) fmt::print("    [{}]\n", DrawFragments(marks, "-+~=", TerminalWidth() - 8));
  return arrow::Status::OK();
}

}  // namespace

arrow::Status Diff(const DiffOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset before,
                        Dataset::Open(options.uri, {.version = options.before}));
  ARROW_ASSIGN_OR_RAISE(const Dataset after,
                        Dataset::Open(options.uri, {.version = options.after}));
  ARROW_ASSIGN_OR_RAISE(const TableDiff diff, glaive::Diff(before, after));
  if (options.json) {
    fmt::print("{}\n", ToJson(diff).dump(2));
    return arrow::Status::OK();
  }
  fmt::print("{}  version {} -> {}\n", before.uri(), before.version(), after.version());
  fmt::print("  rows       {} -> {}\n", FormatCount(diff.rows_before),
             FormatCount(diff.rows_after));
  ARROW_RETURN_NOT_OK(PrintFragments(diff, after));
  PrintFields(diff.fields);
  PrintFiles('-', diff.files_removed);
  PrintFiles('+', diff.files_added);
  PrintValues("config", diff.config);
  PrintValues("metadata", diff.table_metadata);
  PrintValues("schema metadata", diff.schema_metadata);
  return arrow::Status::OK();
}

}  // namespace glaive::cli
