#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "glaive/config.h"
#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/schema.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(auto fragments, WriteFragments(rows, dataset));
//     const Transaction append = {.read_version = dataset.version(),
//                                 .operation = operation::Append{std::move(fragments)}};
//     ARROW_ASSIGN_OR_RAISE(const Dataset longer, Commit(dataset, append));
namespace glaive {

/// One segment of an index, as the manifest lists it.
struct IndexMetadata {
  std::string uuid;  ///< 36 characters; also the name of its folder
  std::string name;
  std::vector<int32_t> fields;
  uint64_t dataset_version = 0;                       ///< the version that it was built from
  std::optional<std::vector<uint32_t>> fragment_ids;  ///< absent: not known which it covers
  std::optional<int32_t> index_version;
  std::optional<uint64_t> created_at_ms;  ///< since the Unix epoch
  std::optional<uint32_t> base_id;
  struct File {
    std::string path;
    uint64_t size_bytes = 0;
  };
  std::vector<File> files;
  struct Details {
    std::string type_url;  ///< tells the type of the index
    std::string value;
  };
  std::optional<Details> details;
  std::vector<int32_t> covering_fields;
};

/// The changes that a commit can make: plain values that can be sent between processes. Fragments
/// in them are new ones (id 0) or entries of a version.
namespace operation {

/// New fragments after the existing ones.
struct Append {
  std::vector<FragmentMetadata> fragments;
};

/// Fragments with new deletion files, and the ids of fragments without a row left.
struct Delete {
  std::vector<FragmentMetadata> updated_fragments;
  std::vector<uint64_t> deleted_fragment_ids;
  std::string predicate;
};

/// Replaces the content of a table, or makes a new table. The commit assigns new ids to the
/// fragments.
struct Overwrite {
  TableSchema schema;
  std::vector<FragmentMetadata> fragments;
  std::map<std::string, std::string> config_upserts;
  std::vector<DatasetBasePath> initial_bases;  ///< only for a new table
};

/// Adds and removes index entries. The uuid identifies an entry to remove.
struct CreateIndex {
  std::vector<IndexMetadata> new_indices;
  std::vector<IndexMetadata> removed_indices;
};

/// The same rows in other fragments.
struct Rewrite {
  struct Group {
    std::vector<FragmentMetadata> old_fragments;
    std::vector<FragmentMetadata> new_fragments;
  };
  struct RewrittenIndex {
    std::string old_id;
    std::string new_id;
    IndexMetadata::Details new_details;
    uint32_t new_index_version = 0;
    std::vector<IndexMetadata::File> new_files;
  };
  std::vector<Group> groups;
  std::vector<RewrittenIndex> rewritten_indices;
};

/// All fragments of the new version under a new schema; fragments of the version that was read come
/// first.
struct Merge {
  std::vector<FragmentMetadata> fragments;
  TableSchema schema;
  /// No field is new or became not nullable. If false, concurrent appends conflict.
  bool preserves_nullability = false;
};

/// An older version's content as a new version.
struct Restore {
  uint64_t version = 0;
};

/// Fragment ids for a later Rewrite.
struct ReserveFragments {
  uint32_t num_fragments = 0;
};

/// Rows moved into new fragments, or columns rewritten in place.
struct Update {
  enum class Mode : uint8_t { kRewriteRows, kRewriteColumns };
  std::vector<uint64_t> removed_fragment_ids;
  std::vector<FragmentMetadata> updated_fragments;
  std::vector<FragmentMetadata> new_fragments;
  std::vector<uint32_t> fields_modified;
  std::vector<uint32_t> fields_for_preserving_frag_bitmap;
  Mode mode = Mode::kRewriteRows;
  /// Rows whose columns were rewritten, by fragment: portable Roaring bitmaps of their offsets.
  std::map<uint64_t, std::string> updated_fragment_offsets;
  /// The inserted keys, as the message by which conflicting inserts are found.
  std::optional<std::string> inserted_rows;
  /// Addresses of the rows that move, ascending, if known. With them, concurrent changes of other
  /// rows in the same fragments do not conflict. The version does not record them.
  std::optional<std::vector<uint64_t>> affected_rows;
  std::vector<std::string> compacted_sstables;  ///< messages, carried along
};

/// Another schema for the same files: columns are dropped or renamed. Its field ids must be those
/// of the table.
struct Project {
  TableSchema schema;
  bool preserves_nullability = false;
};

/// Edits of a string map. An entry without a value deletes its key.
struct UpdateMap {
  std::map<std::string, std::optional<std::string>> updates;
  bool replace = false;  ///< everything else is removed
};

struct UpdateConfig {
  std::optional<UpdateMap> config;
  std::optional<UpdateMap> table_metadata;
  std::optional<UpdateMap> schema_metadata;
  std::map<int32_t, UpdateMap> field_metadata;  ///< by field id
};

/// Other files for some fields of some fragments, row for row.
struct DataReplacement {
  struct Group {
    uint64_t fragment_id = 0;
    DataFileInfo new_file;
  };
  std::vector<Group> replacements;
};

/// Overlays: values for some rows of some fields. Later overlays hide earlier ones.
struct DataOverlay {
  struct Group {
    uint64_t fragment_id = 0;
    std::vector<OverlayFile> overlays;
  };
  std::vector<Group> groups;
};

/// The progress of a write-ahead log. Glaive reads this operation and never makes it.
struct UpdateMemWalState {
  std::vector<std::string> compacted_sstables;  ///< messages
};

/// The first commit of a table that refers to the files of another table.
struct Clone {
  bool is_shallow = false;
  std::optional<std::string> ref_name;
  uint64_t ref_version = 0;
  std::string ref_path;
  std::optional<std::string> branch_name;
};

/// More base paths.
struct UpdateBases {
  std::vector<DatasetBasePath> new_bases;
};

}  // namespace operation

/// In the order of the conflict matrix.
using Operation =
    std::variant<operation::Append, operation::Delete, operation::Overwrite, operation::CreateIndex,
                 operation::Rewrite, operation::Merge, operation::Restore,
                 operation::ReserveFragments, operation::Update, operation::Project,
                 operation::UpdateConfig, operation::DataReplacement, operation::DataOverlay,
                 operation::UpdateMemWalState, operation::Clone, operation::UpdateBases>;

/// "Append", "Delete", ...
std::string NameOf(const Operation& operation);

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
