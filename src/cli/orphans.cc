#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/repair.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(TableFileKind kind) {
  switch (kind) {
    case TableFileKind::kData: return "data";
    case TableFileKind::kDeletions: return "deletions";
    case TableFileKind::kTransaction: return "transaction";
    case TableFileKind::kIndex: return "index";
    case TableFileKind::kTemporary: return "temporary";
  }
  return "";
}

Json ToJson(const FileSurvey& survey) {
  Json orphans = Json::array();
  for (const OrphanFile& file : survey.orphans) {
    orphans.push_back({{"path", file.path},
                       {"kind", NameOf(file.kind)},
                       {"bytes", file.size_bytes},
                       {"modified_ns", file.modified_ns ? Json(*file.modified_ns) : Json()},
                       {"recent", file.is_recent}});
  }
  Json missing = Json::array();
  for (const MissingFile& file : survey.missing) {
    missing.push_back({{"path", file.path}, {"version", file.version}});
  }
  return {{"files", survey.num_files},
          {"versions", survey.num_versions},
          {"orphans", std::move(orphans)},
          {"missing", std::move(missing)}};
}

void Print(const FileSurvey& survey) {
  uint64_t bytes = 0;
  uint64_t recent = 0;
  for (const OrphanFile& file : survey.orphans) {
    fmt::print("{:>12}  {:<12} {}{}\n", FormatBytes(file.size_bytes), NameOf(file.kind), file.path,
               file.is_recent ? "  (recent)" : "");
    bytes += file.size_bytes;
    recent += file.is_recent ? 1 : 0;
  }
  fmt::print("{} of {} belong to none of the {}, {}\n", FormatCount(survey.orphans.size()),
             Counted(survey.num_files, "file"), Counted(survey.num_versions, "version"),
             FormatBytes(bytes));
  if (recent > 0) {
    fmt::print("{} younger than seven days: a writer at work may be about to commit them\n",
               Counted(recent, "file"));
  }
  for (const MissingFile& file : survey.missing) {
    fmt::print("missing: {}, which version {} refers to\n", file.path, file.version);
  }
}

}  // namespace

arrow::Status Orphans(const OrphansOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const FileSurvey survey, [&] {
    ProgressBar bar;
    return SurveyFiles(
        options.uri, {.progress = [&](const Progress& progress) { return bar.Update(progress); }});
  }());
  if (options.json) {
    fmt::print("{}\n", ToJson(survey).dump(2));
  } else {
    Print(survey);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::cli
