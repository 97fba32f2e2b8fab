#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/history.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const HistoryEntry& entry) {
  Json json = {{"version", entry.version},
               {"timestamp_ns", entry.timestamp_ns},
               {"operation", entry.operation},
               {"message", entry.message},
               {"read_version", entry.read_version},
               {"rows", entry.num_rows},
               {"rows_added", nullptr},
               {"rows_removed", nullptr},
               {"fragments", entry.num_fragments},
               {"fragments_added", entry.fragments_added},
               {"fragments_removed", entry.fragments_removed},
               {"fragments_changed", entry.fragments_changed},
               {"properties", entry.properties}};
  if (entry.rows_added) json["rows_added"] = *entry.rows_added;
  if (entry.rows_removed) json["rows_removed"] = *entry.rows_removed;
  return json;
}

// "+120 -3"; "" where nothing is known or nothing changed.
std::string Change(uint64_t added, uint64_t removed, uint64_t changed = 0) {
  std::string text;
  const auto part = [&](char sign, uint64_t count) {
    if (count == 0) return;
    if (!text.empty()) text += ' ';
    text += sign + FormatCount(count);
  };
  part('+', added);
  part('-', removed);
  part('~', changed);
  return text;
}

void Print(const std::vector<HistoryEntry>& history) {
  fmt::print("{:>8}  {:<23}  {:<16}  {:>12}  {:<18}  {:>9}  {:<12}  {}\n", "version", "time",
             "operation", "rows", "", "fragments", "", "message");
  for (const HistoryEntry& entry : history) {
    const std::string rows = Change(entry.rows_added.value_or(0), entry.rows_removed.value_or(0));
    const std::string fragments =
        entry.rows_added
            ? Change(entry.fragments_added, entry.fragments_removed, entry.fragments_changed)
            : "";
    fmt::print("{:>8}  {:<23}  {:<16}  {:>12}  {:<18}  {:>9}  {:<12}  {}\n", entry.version,
               FormatTime(entry.timestamp_ns), entry.operation, FormatCount(entry.num_rows), rows,
               FormatCount(entry.num_fragments), fragments, entry.message);
  }
}

}  // namespace

arrow::Status Log(const LogOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(options.uri));
  ARROW_ASSIGN_OR_RAISE(const auto history, [&] {
    ProgressBar bar;
    return History(dataset, {.limit = options.limit, .progress = [&](const Progress& progress) {
                               return bar.Update(progress);
                             }});
  }());
  if (!options.json) {
    Print(history);
    const uint64_t oldest = history.empty() ? 0 : history.back().version;
    if (options.limit > 0 && history.size() == options.limit && history.back().rows_added) {
      fmt::print("  (there are versions before {}; --limit 0 shows all)\n", oldest);
    }
    return arrow::Status::OK();
  }
  Json entries = Json::array();
  for (const HistoryEntry& entry : history) entries.push_back(ToJson(entry));
  fmt::print("{}\n", entries.dump(2));
  return arrow::Status::OK();
}

}  // namespace glaive::cli
