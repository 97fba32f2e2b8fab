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

#include "glaive/commit.h"
#include "glaive/dataset.h"
#include "glaive/write.h"

namespace glaive {

/// What one version of a table tells those who write rows for it: where the table is, its fields
/// and their ids, the version of its files, its bases, and which version that is. It lists no
/// fragment, so its size does not depend on the table's, and it travels: a worker that gets one
/// opens no manifest. An immutable value, cheap to copy.
class WriteTarget {
 public:
  /// What Serialize gave, maybe in another process. Errors: Corrupt for anything else.
  static arrow::Result<WriteTarget> Parse(std::string_view bytes);
  /// Compressed, so that some ten thousand columns stay below 64 KiB. What has more, or long names
  /// and metadata that resemble nothing, takes what it takes.
  std::string Serialize() const;

  const std::string& uri() const;  ///< as other processes of the machine find it
  uint64_t version() const;
  /// The transaction that made the version, which tells it from another table's of that number.
  const std::string& transaction_uuid() const;
  const std::shared_ptr<arrow::Schema>& schema() const;
  std::string data_storage_version() const;  ///< "2.2"
  bool has_stable_row_ids() const;           ///< then commits give each new row an id
  const std::map<std::string, std::string>& config() const;
  std::vector<DatasetBasePath> bases() const;

  bool operator==(const WriteTarget& other) const;

  /// For the engine's own files; its type is not part of the API.
  struct State;
  const std::shared_ptr<const State>& state() const { return state_; }
  explicit WriteTarget(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

/// Of the handle's version. Reads nothing where the manifest names its transaction, as all known
/// writers' do. Errors: Unsupported for tables that this build may not write to.
arrow::Result<WriteTarget> WriteTargetOf(const Dataset& dataset);

/// As onto a handle, but nothing at all is read: schema and version are the target's, and the store
/// gets the data files, one request each. What is written remembers the target: committing it to
/// another table that took the place of the target's, at the same URI and with the same version
/// number, is a CommitConflict. That is found out by the commit, which reads the version's
/// transaction; until then nobody looks.
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const WriteTarget& target,
    const WriteOptions& options = {});
arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const WriteTarget& target,
                                            const WriteOptions& options = {});

struct CachedTargetOptions {
  std::optional<uint64_t> version;  ///< the newest when absent, which is looked up each time
  /// Tell one opening of a table from another; the stores of this build need none.
  std::map<std::string, std::string> storage_options;
  std::shared_ptr<Session> session;  ///< for opening the version; when null, nothing of it is kept
};

/// WriteTargetOf(version) for workers that are told the same one again and again: the process keeps
/// one target for each URI, until it is asked for another version or with other options. Then
/// nothing is read, not even looked up. A version that was removed and made anew meanwhile is told
/// by the commit. All of them together take 16 MiB at most (the least recently used goes first),
/// and one that nobody asked for in ten minutes goes at the next call. Thread safe: of threads that
/// want the same table at once, one opens it. A forked child goes on with what its parent had.
///
/// Errors: those of Dataset::Open and WriteTargetOf, which are not remembered.
arrow::Result<WriteTarget> CachedWriteTarget(std::string_view uri,
                                             const CachedTargetOptions& options = {});

/// Lets go of what is kept for `uri`, or, without one, for all.
void CloseCachedWriteTargets(std::optional<std::string_view> uri = std::nullopt);

struct CachedTargetStats {
  uint64_t num_targets = 0;
  uint64_t size_bytes = 0;
};
CachedTargetStats StatsOfCachedWriteTargets();

}  // namespace glaive
