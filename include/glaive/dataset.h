#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/error.h"
#include "glaive/fragment.h"

namespace glaive {

class Session;

/// An entry of a table's history.
struct VersionInfo {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;  ///< since the Unix epoch, UTC
  std::map<std::string, std::string> metadata;
};

/// Which version of a table to open, and with what.
struct OpenOptions {
  std::optional<uint64_t> version;   ///< the newest when absent
  std::shared_ptr<Session> session;  ///< the process-wide one when null
};

/// Sums over a version, known from its manifest alone.
struct DatasetSummary {
  uint64_t num_fragments = 0;
  uint64_t num_data_files = 0;
  uint64_t num_deletion_files = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  uint64_t data_file_bytes = 0;  ///< of the data files that say how large they are
};

/// One version of a Lance table: an immutable handle that is cheap to copy and safe to use from any
/// number of threads. Reading and planning use this version, whatever is committed meanwhile; the
/// verbs that change a table (write.h, delete.h, compaction.h) return a new Dataset.
class Dataset {
 public:
  /// Opens a table by path, `file://` or `memory://` URI.
  ///
  /// Errors: NotFound ("... was not found") where there is no table or no such version; Corrupt for
  /// a damaged manifest; Unsupported for other schemes and for tables that need features which this
  /// build lacks, naming them.
  static arrow::Result<Dataset> Open(std::string_view uri, const OpenOptions& options = {});

  const std::string& uri() const;
  uint64_t version() const;
  int64_t timestamp_ns() const;
  std::shared_ptr<arrow::Schema> schema() const;
  std::string data_storage_version() const;  ///< "2.2": what new files are written as
  int32_t max_field_id() const;
  bool has_stable_row_ids() const;
  const std::map<std::string, std::string>& config() const;
  const std::map<std::string, std::string>& table_metadata() const;

  /// Rows that a scan returns. Reads nothing where the manifest says it.
  arrow::Result<uint64_t> CountRows() const;

  DatasetSummary summary() const;

  /// Fragments in order of their ids; parsed as they are asked for.
  uint64_t num_fragments() const;
  arrow::Result<std::vector<FragmentMetadata>> Fragments() const;
  std::vector<uint64_t> FragmentIds() const;
  /// Nothing for an id that this version does not have.
  arrow::Result<std::optional<FragmentMetadata>> GetFragment(uint64_t id) const;
  /// The position of an id in that order; nothing for one that this version does not have.
  std::optional<uint64_t> PositionOf(uint64_t id) const;
  /// By that position. Errors: InvalidInput at num_fragments() and beyond.
  arrow::Result<FragmentMetadata> FragmentAt(uint64_t position) const;

  /// The version that is newest now, by a look at the store.
  arrow::Result<uint64_t> LatestVersion() const;
  arrow::Result<std::vector<VersionInfo>> Versions() const;  ///< ascending
  arrow::Result<Dataset> Checkout(uint64_t version) const;
  arrow::Result<Dataset> CheckoutLatest() const;

  /// For the engine's own files; its type is not part of the API.
  struct State;
  const std::shared_ptr<const State>& state() const { return state_; }
  explicit Dataset(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

/// The transaction that made `version`: its id, operation name and properties.
struct TransactionInfo {
  uint64_t read_version = 0;
  std::string uuid;
  std::string operation;  ///< "Append", "Overwrite", ...
  std::map<std::string, std::string> properties;
};
/// Nothing where the version does not say. Errors: NotFound for a version that is not there.
arrow::Result<std::optional<TransactionInfo>> ReadTransaction(const Dataset& dataset,
                                                              uint64_t version);

/// The handle's own entry of the history; reads nothing.
VersionInfo VersionInfoOf(const Dataset& dataset);

/// Another entry of the history, whose manifest is read. Errors: NotFound for a version that is not
/// there, or no longer.
arrow::Result<VersionInfo> ReadVersionInfo(const Dataset& dataset, uint64_t version);

/// The numbers of the history, ascending; reads no manifest.
arrow::Result<std::vector<uint64_t>> VersionNumbers(const Dataset& dataset);

/// Fragments of fewer rows, deleted ones included.
uint64_t CountSmallFragments(const Dataset& dataset, uint64_t min_rows);

}  // namespace glaive
