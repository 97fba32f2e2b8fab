#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "glaive/verify.h"

namespace glaive::cli {

arrow::Status PrintConflicts(const ConflictsOptions& options) {
  const ConflictMatrix matrix = Conflicts();
  if (options.json) {
    nlohmann::ordered_json meanings = nlohmann::ordered_json::object();
    for (const auto& [letter, meaning] : matrix.meanings) {
      meanings[std::string(1, letter)] = meaning;
    }
    const nlohmann::ordered_json json = {{"operations", matrix.operations},
                                         {"rules", matrix.rules},
                                         {"meanings", std::move(meanings)}};
    fmt::print("{}\n", json.dump(2));
    return arrow::Status::OK();
  }
  size_t width = 0;
  for (const std::string& name : matrix.operations) width = std::max(width, name.size());
  // The names of the columns stand upright.
  for (size_t line = 0; line < width; ++line) {
    std::string text(width + 1, ' ');
    if (line + 1 == width) text.replace(0, 13, "ours \\ theirs");
    for (const std::string& name : matrix.operations) {
      const size_t blank = width - name.size();
      text += ' ';
      text += line < blank ? ' ' : name[line - blank];
    }
    fmt::print("{}\n", text);
  }
  for (size_t i = 0; i < matrix.operations.size(); ++i) {
    fmt::print("{:<{}}", matrix.operations[i], width + 1);
    for (const char letter : matrix.rules[i]) fmt::print(" {}", letter);
    fmt::print("\n");
  }
  fmt::print("\n");
  for (const auto& [letter, meaning] : matrix.meanings) fmt::print("{}  {}\n", letter, meaning);
  return arrow::Status::OK();
}

}  // namespace glaive::cli
