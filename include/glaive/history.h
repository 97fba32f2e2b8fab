#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/progress.h"

namespace glaive {

/// A version and what it changed.
struct HistoryEntry {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;  ///< since the Unix epoch, UTC
  std::string operation;     ///< "Append", ...; empty where the version does not say
  std::string message;       ///< the commit message, if one was given
  uint64_t read_version = 0;
  std::map<std::string, std::string> properties;  ///< of the transaction
  uint64_t num_rows = 0;  ///< here and below as manifests count them; those of old writers do not
  uint64_t num_fragments = 0;
  /// Against the version before it that is still there; nothing for the oldest. A row that is moved
  /// (an update, a compaction) counts as removed and as added.
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

/// What is different between two versions, of one table as a rule: by ids, not by values.
arrow::Result<TableDiff> Diff(const Dataset& before, const Dataset& after);

/// Whether two handles are on one version of one table. A table that was dropped and made anew is
/// another one, even where URI and number are the same. Nothing is read.
bool IsSameVersion(const Dataset& one, const Dataset& other);

}  // namespace glaive
