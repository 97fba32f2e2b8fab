#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "glaive/progress.h"

namespace glaive {

/// kCommit: a version that was reported is on stable storage, data and names. kNone: as the system
/// gets to it, which is what pylance does. GLAIVE_DURABILITY=none|commit sets the default.
enum class Durability : uint8_t { kDefault, kNone, kCommit };

/// Property of a transaction under which its message is kept.
inline constexpr const char* kCommitMessageKey = "__lance_commit_message";

/// Options that every call takes which makes a version:
///
///     DropColumns(dataset, columns, {.commit_message = "nobody reads these"});
///     Delete(dataset, {"a < 5"}, {.version = {.durability = Durability::kNone}});
struct VersionOptions {
  Durability durability = Durability::kDefault;
  std::map<std::string, std::string> transaction_properties;  ///< kept in the transaction
  std::optional<std::string> commit_message;                  ///< likewise, at kCommitMessageKey
  ProgressCallback progress;                                  ///< of the whole call
};

}  // namespace glaive
