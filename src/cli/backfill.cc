#include "glaive/staged_columns.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/error.h"

namespace glaive::cli {
namespace {

arrow::Result<std::vector<ComputedColumn>> Parse(const std::vector<std::string>& columns) {
  std::vector<ComputedColumn> parsed;
  for (const std::string& column : columns) {
    const size_t equals = column.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == column.size()) {
      return arrow::Status::Invalid(fmt::format(
          "'{}' is not a column and an expression, as in 'total=price * amount'", column));
    }
    parsed.push_back({column.substr(0, equals), column.substr(equals + 1)});
  }
  return parsed;
}

}  // namespace

arrow::Status BackfillTable(const BackfillVerbOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto columns, Parse(options.columns));
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(options.uri));
  BackfillOptions backfill = options.backfill;
  ARROW_ASSIGN_OR_RAISE(const BackfillResult result, [&] {
    ProgressBar bar;
    backfill.version.progress = [&](const Progress& progress) { return bar.Update(progress); };
    return Backfill(dataset, columns, backfill);
  }());
  if (options.json) {
    const nlohmann::ordered_json json = {{"version", result.dataset.version()},
                                         {"versions", result.versions},
                                         {"fragments_committed", result.fragments_committed},
                                         {"fragments_computed", result.fragments_computed},
                                         {"fragments_resumed", result.fragments_resumed},
                                         {"fragments_recomputed", result.fragments_recomputed}};
    fmt::print("{}\n", json.dump(2));
    return arrow::Status::OK();
  }
  fmt::print("{} in {}: version {}\n", Counted(result.fragments_committed, "fragment"),
             Counted(result.versions, "version"), result.dataset.version());
  if (result.fragments_resumed > 0) {
    fmt::print("{} had been computed before\n", Counted(result.fragments_resumed, "fragment"));
  }
  if (result.fragments_recomputed > 0) {
    fmt::print("{} computed again, since other writers changed what the values depend on\n",
               Counted(result.fragments_recomputed, "fragment"));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::cli
