#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/operation.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

/// Who changes what, as seen from which version. What makes a version, and what it remembers.
struct Transaction {
  /// The version that the operation was made from. Absent, for Overwrite and Restore alone: none.
  std::optional<uint64_t> read_version;
  /// Nothing for one that this build does not know, in a transaction that was read.
  std::optional<Operation> operation;
  std::string uuid;  ///< 36 characters; a new one when empty
  std::map<std::string, std::string> properties;
};

struct CommitOptions {
  bool enable_v2_manifest_paths = true;  ///< only for a new table
  bool enable_stable_row_ids = false;    ///< only for a new table
  /// A version outside of the table's history, under a random number with its top bit set. It is
  /// made of the version read as that is, and nothing but its number leads to it.
  bool detached = false;
  uint32_t max_retries = 20;  ///< attempts when other writers are faster
  std::optional<uint64_t> timeout_ms = uint64_t{30} * 60 * 1000;
  /// Only if nothing was committed since the version read.
  bool strict = false;
  /// A name for this commit: the version that was made under it, if there is one, is returned
  /// instead of a second one. Kept as a property of the transaction.
  std::optional<std::string> idempotency_token;
  std::shared_ptr<Session> session;
  /// Its properties and message join those of the transaction, and count where both set one.
  VersionOptions version;
};

/// Makes a version of an operation that was put together elsewhere, on top of whatever was
/// committed since the version that it read, or refuses. An Overwrite without a table makes one.
///
/// Errors: InvalidInput for operations that do not fit the table; NotFound where there is no table
/// or no such version; CommitConflict, which tells whether the operation may be made again from the
/// newer version.
arrow::Result<Dataset> Commit(std::string_view uri, const Transaction& transaction,
                              const CommitOptions& options = {});
arrow::Result<Dataset> Commit(const Dataset& dataset, const Transaction& transaction,
                              const CommitOptions& options = {});

/// Writes a stream's rows into files, as WriteFragments does, and gives the transaction that would
/// make a version with them: an Append, or an Overwrite in the other modes and where there is no
/// table.
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            std::string_view uri, const WriteOptions& options = {});
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const Dataset& dataset,
                                            const WriteOptions& options = {});

struct BatchResult {
  Dataset dataset;
  Transaction merged;  ///< what was committed
};

/// Several appends as one version. Their properties are kept; one that two of them set to different
/// values is refused.
arrow::Result<BatchResult> CommitBatch(std::string_view uri, std::span<const Transaction> batch,
                                       const CommitOptions& options = {});
arrow::Result<BatchResult> CommitBatch(const Dataset& dataset, std::span<const Transaction> batch,
                                       const CommitOptions& options = {});

/// The transaction that made `version`. Nothing where the version does not say.
/// Errors: NotFound for a version that is not there.
arrow::Result<std::optional<Transaction>> TransactionOf(const Dataset& dataset, uint64_t version);
/// Those of the newest versions up to the dataset's own, newest first.
arrow::Result<std::vector<std::optional<Transaction>>> RecentTransactions(const Dataset& dataset,
                                                                          uint64_t limit = 10);

}  // namespace glaive
