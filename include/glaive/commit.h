#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/operation.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(auto fragments, WriteFragments(rows, dataset));
//     const Transaction append = {.read_version = dataset.version(),
//                                 .operation = operation::Append{std::move(fragments)}};
//     ARROW_ASSIGN_OR_RAISE(const Dataset longer, Commit(dataset, append));
namespace glaive {

/// An operation with the version that it was made from. The new version records the transaction.
struct Transaction {
  /// The version that the operation was made from. Only Overwrite and Restore may have none.
  std::optional<uint64_t> read_version;
  /// Absent if the transaction was read from a table and this build does not know its operation.
  std::optional<Operation> operation;
  std::string uuid;  ///< 36 characters; a new one when empty
  std::map<std::string, std::string> properties;
};

struct CommitOptions {
  bool enable_v2_manifest_paths = true;  ///< only for a new table
  bool enable_stable_row_ids = false;    ///< only for a new table
  /// Makes a version outside of the table's history, with a random number whose top bit is set. The
  /// operation applies to exactly the version that was read. Only the number leads to the new
  /// version.
  bool detached = false;
  uint32_t max_retries = 20;  ///< attempts when other writers are faster
  std::optional<uint64_t> timeout_ms = uint64_t{30} * 60 * 1000;
  /// Fails if another version was committed since the version that was read.
  bool strict = false;
  /// A name for this commit. If a version with this name exists, the call returns that version and
  /// makes no second one. The name is a property of the transaction.
  std::optional<std::string> idempotency_token;
  std::shared_ptr<Session> session;
  /// Its properties and message are added to those of the transaction, and win where both set the
  /// same key.
  VersionOptions version;
};

/// Commits an operation: applies it to the newest version, after it has compared the operation with
/// all versions since the one that was read. An Overwrite creates the table if none exists.
///
/// Errors: InvalidInput for operations that do not fit the table; NotFound if the table or the
/// version does not exist; CommitConflict, which is retryable if the same operation can be made
/// from the newest version.
arrow::Result<Dataset> Commit(std::string_view uri, const Transaction& transaction,
                              const CommitOptions& options = {});
arrow::Result<Dataset> Commit(const Dataset& dataset, const Transaction& transaction,
                              const CommitOptions& options = {});

/// Writes the rows of a stream into files, as WriteFragments does, and returns the transaction that
/// adds them: an Append, or an Overwrite in the other modes and if the table does not exist.
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            std::string_view uri, const WriteOptions& options = {});
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const Dataset& dataset,
                                            const WriteOptions& options = {});
/// Reads nothing: the target has the schema and the version.
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const WriteTarget& target,
                                            const WriteOptions& options = {});

struct BatchResult {
  Dataset dataset;
  Transaction merged;  ///< what was committed
};

/// Commits several Appends as one version. Keeps their properties. Errors: InvalidInput if two of
/// them set one property to different values.
arrow::Result<BatchResult> CommitBatch(std::string_view uri, std::span<const Transaction> batch,
                                       const CommitOptions& options = {});
arrow::Result<BatchResult> CommitBatch(const Dataset& dataset, std::span<const Transaction> batch,
                                       const CommitOptions& options = {});

/// The transaction that made `version`; nothing if the version has no record of it. Errors:
/// NotFound for a version that does not exist.
arrow::Result<std::optional<Transaction>> TransactionOf(const Dataset& dataset, uint64_t version);
/// The transactions of the newest versions up to the version of the handle, newest first.
arrow::Result<std::vector<std::optional<Transaction>>> RecentTransactions(const Dataset& dataset,
                                                                          uint64_t limit = 10);

}  // namespace glaive
