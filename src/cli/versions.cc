#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/history.h"

namespace glaive::cli {

arrow::Status Versions(const VersionsOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(options.uri));
  ARROW_ASSIGN_OR_RAISE(std::vector<VersionInfo> versions, Versions(dataset));
  const size_t total = versions.size();
  std::ranges::reverse(versions);
  if (options.limit > 0 && versions.size() > options.limit) versions.resize(options.limit);

  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const VersionInfo& info : versions) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const std::optional<TransactionInfo> transaction,
                          ReadTransaction(dataset, info.version));
    const std::string operation = transaction ? transaction->operation : "";
    if (options.json) {
      entries.push_back({{"version", info.version},
                         {"timestamp_ns", info.timestamp_ns},
                         {"operation", operation},
                         {"metadata", info.metadata}});
    } else {
      fmt::print("{:>8}  {}  {}\n", info.version, FormatTime(info.timestamp_ns), operation);
    }
  }
  if (options.json) {
    fmt::print("{}\n", entries.dump(2));
  } else if (versions.size() < total) {
    fmt::print("  ({} older ones; --limit 0 shows all)\n", FormatCount(total - versions.size()));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::cli
