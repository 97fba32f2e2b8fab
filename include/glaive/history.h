#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/version_options.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const auto entries, History(dataset, {.limit = 10}));
//     for (const HistoryEntry& entry : entries) {
//       std::cout << entry.version << " " << entry.operation << " " << entry.message << "\n";
//     }
namespace glaive {

/// An entry of a table's history.
struct VersionInfo {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;  ///< since the Unix epoch, UTC
  std::map<std::string, std::string> metadata;
};

/// The number of the version that is newest now, by a look at the store.
arrow::Result<uint64_t> LatestVersion(const Dataset& dataset);

/// All versions of the branch that are still there, ascending. Reads their manifests.
arrow::Result<std::vector<VersionInfo>> Versions(const Dataset& dataset);

/// Id, operation name and properties of a transaction.
struct TransactionInfo {
  uint64_t read_version = 0;
  std::string uuid;
  std::string operation;  ///< "Append", "Overwrite", ...
  std::map<std::string, std::string> properties;
};
/// The transaction that made `version`; nothing if the version has no record of it. Errors:
/// NotFound for a version that does not exist.
arrow::Result<std::optional<TransactionInfo>> ReadTransaction(const Dataset& dataset,
                                                              uint64_t version);

/// The history entry of the handle's version. Reads nothing.
VersionInfo VersionInfoOf(const Dataset& dataset);

/// The history entry of another version; reads its manifest. Errors: NotFound for a version that
/// does not exist.
arrow::Result<VersionInfo> ReadVersionInfo(const Dataset& dataset, uint64_t version);

/// The numbers of all versions, ascending. Reads no manifest.
arrow::Result<std::vector<uint64_t>> VersionNumbers(const Dataset& dataset);

/// A version and its changes.
struct HistoryEntry {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;  ///< since the Unix epoch, UTC
  std::string operation;     ///< "Append", ...; empty where the version does not say
  std::string message;       ///< the commit message, if one was given
  uint64_t read_version = 0;
  std::map<std::string, std::string> properties;  ///< of the transaction
  uint64_t num_rows = 0;  ///< here and below as manifests count them; those of old writers do not
  uint64_t num_fragments = 0;
  /// Compared with the previous version that still exists; absent for the oldest one. A moved row
  /// (by an update or a compaction) counts as removed and as added.
  std::optional<uint64_t> rows_added;
  std::optional<uint64_t> rows_removed;
  uint64_t fragments_added = 0;
  uint64_t fragments_removed = 0;
  uint64_t fragments_changed = 0;  ///< with other files, or other deletions
};

struct HistoryOptions {
  uint64_t limit = 0;  ///< so many of the newest; 0 is all
  ProgressCallback progress;
};

/// Newest first. Reads manifests and transactions, no data.
arrow::Result<std::vector<HistoryEntry>> History(const Dataset& dataset,
                                                 const HistoryOptions& options = {});

/// A field in one of two versions or in both, by its id.
struct FieldChange {
  int32_t id = -1;
  std::string before;  ///< "name: type", dotted below structs; empty: it was not there
  std::string after;   ///< empty: it is gone
};

struct FragmentChange {
  uint64_t id = 0;
  std::optional<FragmentMetadata> before;  ///< nothing: it was not there
  std::optional<FragmentMetadata> after;   ///< nothing: it is gone
};

/// An entry of a string map that differs.
struct ValueChange {
  std::string key;
  std::optional<std::string> before;
  std::optional<std::string> after;
};

struct TableDiff {
  uint64_t rows_before = 0;
  uint64_t rows_after = 0;
  std::vector<FieldChange> fields;
  std::vector<FragmentChange> fragments;  ///< ascending by id; those that are equal are left out
  uint64_t fragments_kept = 0;            ///< equal in both
  std::vector<std::string> files_added;   ///< data and deletion files, as paths below the root
  std::vector<std::string> files_removed;
  std::vector<ValueChange> config;
  std::vector<ValueChange> table_metadata;
  std::vector<ValueChange> schema_metadata;
};

/// The differences between two versions, usually of one table. Compares ids, not values.
arrow::Result<TableDiff> Diff(const Dataset& before, const Dataset& after);

/// Whether two handles are on the same version of the same table. A table that was dropped and
/// created again is another table, even if its URI and the version number are the same. Reads
/// nothing.
bool IsSameVersion(const Dataset& one, const Dataset& other);

}  // namespace glaive
