#pragma once

#include <map>
#include <string>
#include <vector>

namespace glaive {

/// What happens when a commit meets another one that was made after the version it was read from:
/// the whole policy, as the engine follows it.
struct ConflictMatrix {
  std::vector<std::string> operations;  ///< "Append", ...
  /// One string for each operation of ours, with a letter for each of theirs.
  std::vector<std::string> rules;
  std::map<char, std::string> meanings;  ///< of the letters
};

ConflictMatrix Conflicts();

}  // namespace glaive
