#include "glaive/verify.h"

#include <cstdio>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/pylance.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLinesShown = 40;

arrow::Result<TableContent> Read(const std::string& uri, std::optional<uint64_t> version,
                                 Engine engine, const std::string& python) {
  ProgressBar bar;
  const ProgressCallback progress = [&](const Progress& now) { return bar.Update(now); };
  if (engine == Engine::kPylance) {
    ARROW_ASSIGN_OR_RAISE(const PylanceRows read, ReadByPylance(python, uri, version));
    return ContentOf(*read.rows, read.version, progress);
  }
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(uri, {.version = version}));
  return ContentOf(dataset, progress);
}

Json ToJson(const TableContent& content) {
  Json fragments = Json::array();
  for (const FragmentContent& fragment : content.fragments) {
    fragments.push_back({{"id", fragment.id},
                         {"rows", fragment.num_rows},
                         {"hash", fragment.rows.ToString()},
                         {"hash_with_row_ids", fragment.row_ids.ToString()}});
  }
  return {{"version", content.version},
          {"rows", content.num_rows},
          {"hash", content.rows.ToString()},
          {"fragments", std::move(fragments)}};
}

void Print(const TableContent& a, const TableContent& b, const std::vector<std::string>& lines) {
  for (const auto& [name, content] : {std::pair{"a", &a}, std::pair{"b", &b}}) {
    fmt::print("{}: version {}, {}, {}, hash {}\n", name, content->version,
               Counted(content->num_rows, "row"), Counted(content->fragments.size(), "fragment"),
               content->rows.ToString());
  }
  for (size_t i = 0; i < std::min(lines.size(), kLinesShown); ++i) {
    fmt::print("  {}\n", lines[i]);
  }
  if (lines.size() > kLinesShown) {
    fmt::print("  {} more\n", FormatCount(lines.size() - kLinesShown));
  }
  if (lines.empty()) fmt::print("equal\n");
}

}  // namespace

arrow::Status CompareTables(const CompareOptions& options) {
  const bool is_one_table = options.uri_b.empty() || options.uri_b == options.uri_a;
  const std::string& uri_b = is_one_table ? options.uri_a : options.uri_b;
  ARROW_ASSIGN_OR_RAISE(const TableContent a,
                        Read(options.uri_a, options.version_a, Engine::kGlaive, options.python));
  // The newest of A was read a moment ago: another writer's may have come since.
  auto version_b = options.version_b;
  // Two engines read one version.
  const bool reads_one = !options.version_a || options.engine_b == Engine::kPylance;
  if (is_one_table && !version_b && reads_one) version_b = a.version;
  ARROW_ASSIGN_OR_RAISE(const TableContent b,
                        Read(uri_b, version_b, options.engine_b, options.python));
  const bool by_fragment = is_one_table && a.version == b.version;
  const std::vector<std::string> lines = Compare(a, b, by_fragment);
  if (options.json) {
    const Json json = {
        {"equal", lines.empty()}, {"differences", lines}, {"a", ToJson(a)}, {"b", ToJson(b)}};
    fmt::print("{}\n", json.dump(2));
  } else {
    Print(a, b, lines);
  }
  if (lines.empty()) return arrow::Status::OK();
  return DifferenceFound(
      fmt::format("{} and {} differ in {}", options.uri_a, uri_b, Counted(lines.size(), "point")));
}

}  // namespace glaive::cli
