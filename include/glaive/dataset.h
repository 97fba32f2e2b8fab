#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/error.h"
#include "glaive/fragment.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const Dataset table, Dataset::Open("/data/images.lance"));
//     ARROW_ASSIGN_OR_RAISE(const uint64_t count, table.CountRows());
//     std::cout << "version " << table.version() << " has " << count << " rows\n";
//     ARROW_ASSIGN_OR_RAISE(const Dataset tagged, table.Checkout(TagName{"release"}));
namespace glaive {

struct Access;
namespace dataset {
struct DatasetState;
}

class Session;

struct TagName {
  std::string name;
};
struct BranchVersion {
  std::optional<std::string> branch;  ///< absent or "main": the table's own line of versions
  std::optional<uint64_t> version;    ///< absent: the newest
};
/// Which version is meant. A bare number counts on the branch of the handle.
using Reference = std::variant<uint64_t, TagName, BranchVersion>;

/// Options of Dataset::Open.
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

/// One version of a Lance table. A Dataset is immutable, cheap to copy, and safe to use from any
/// number of threads. Reads use this version, also after other versions were committed. Functions
/// that change the table (write.h, rows.h, columns.h, compaction.h) return a new Dataset.
class Dataset {
 public:
  /// Opens a table by path, `file://` or `memory://` URI.
  ///
  /// Errors: NotFound ("... was not found") if the table or the version does not exist; Corrupt for
  /// a damaged manifest; Unsupported for other URI schemes, and for tables that need features which
  /// this build lacks, with their names.
  static arrow::Result<Dataset> Open(std::string_view uri, const OpenOptions& options = {});

  const std::string& uri() const;
  uint64_t version() const;
  std::shared_ptr<arrow::Schema> schema() const;
  std::string data_storage_version() const;  ///< "2.2": what new files are written as
  bool has_stable_row_ids() const;
  const std::map<std::string, std::string>& config() const;
  const std::map<std::string, std::string>& table_metadata() const;

  /// The number of live rows. Reads files only if the manifest lacks the counts.
  arrow::Result<uint64_t> CountRows() const;

  DatasetSummary summary() const;

  uint64_t num_fragments() const;
  /// In order of their ids.
  arrow::Result<std::vector<FragmentMetadata>> Fragments() const;
  /// Nothing for an id that this version does not have.
  arrow::Result<std::optional<FragmentMetadata>> GetFragment(uint64_t id) const;

  /// Another version of this branch. Errors: NotFound.
  arrow::Result<Dataset> Checkout(uint64_t version) const;
  /// Another version, of any branch. Errors: NotFound for a version, tag or branch that is not
  /// there.
  arrow::Result<Dataset> Checkout(const Reference& reference) const;
  /// The newest version of this branch.
  arrow::Result<Dataset> CheckoutLatest() const;

 private:
  friend struct Access;
  explicit Dataset(std::shared_ptr<const dataset::DatasetState> state) : state_(std::move(state)) {}

  std::shared_ptr<const dataset::DatasetState> state_;
};

}  // namespace glaive
