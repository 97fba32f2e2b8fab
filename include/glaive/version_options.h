#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <arrow/status.h>

// Example:
//
//     const VersionOptions options = {.durability = Durability::kCommit,
//                                     .commit_message = "nightly load"};
//     ARROW_ASSIGN_OR_RAISE(const Dataset restored, Restore(dataset, options));
namespace glaive {

/// The progress of a long call. A total is 0 if it is not known.
struct Progress {
  uint64_t rows = 0;
  uint64_t total_rows = 0;
  uint64_t bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t tasks = 0;  ///< of a compaction: tasks finished
  uint64_t total_tasks = 0;
};

/// Called from time to time on the thread of the caller. An error that it returns ends the call
/// with that error, after unfinished files were removed.
using ProgressCallback = std::function<arrow::Status(const Progress&)>;

/// kCommit: data and names of a version are on stable storage before the call returns. kNone: the
/// system writes them later, as with pylance. GLAIVE_DURABILITY=none|commit sets the default.
enum class Durability : uint8_t { kDefault, kNone, kCommit };

/// The key of the commit message among the properties of a transaction.
inline constexpr const char* kCommitMessageKey = "__lance_commit_message";

/// Options of every call that makes a version:
///
///     DropColumns(dataset, columns, {.commit_message = "replaced by embeddings"});
///     Delete(dataset, {"a < 5"}, {.version = {.durability = Durability::kNone}});
struct VersionOptions {
  Durability durability = Durability::kDefault;
  std::map<std::string, std::string> transaction_properties;  ///< kept in the transaction
  std::optional<std::string> commit_message;                  ///< likewise, at kCommitMessageKey
  ProgressCallback progress;                                  ///< of the whole call
};

}  // namespace glaive
