#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "glaive/metadata.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const auto fragments, dataset.Fragments());
//     for (const FragmentMetadata& fragment : fragments) {
//       std::cout << fragment.id() << ": " << fragment.num_rows() << " rows\n";
//     }
namespace glaive {

struct Access;
namespace table {
struct FragmentMetadataState;
}

class Dataset;

struct DeletionFileInfo {
  uint64_t read_version = 0;
  uint64_t id = 0;
  bool is_bitmap = false;  ///< else an Arrow array
  std::optional<uint64_t> num_deleted_rows;
  std::optional<uint32_t> base_id;
  std::string path;  ///< relative to the table's root
};

/// The entry of a fragment in a manifest, or of a written fragment that is not committed yet (id
/// 0). Immutable and cheap to copy.
class FragmentMetadata {
 public:
  /// The JSON of pylance's FragmentMetadata.to_json().
  static arrow::Result<FragmentMetadata> FromJson(std::string_view json);
  std::string ToJson() const;

  uint64_t id() const;
  uint64_t physical_rows() const;
  uint64_t num_deletions() const;
  uint64_t num_rows() const { return physical_rows() - num_deletions(); }
  std::vector<DataFileInfo> files() const;
  std::optional<DeletionFileInfo> deletion_file() const;
  /// Oldest first. If two overlays cover a value, the later one counts.
  arrow::Result<std::vector<OverlayFile>> overlays() const;
  /// Absent if the fragment was written for a handle or a URI, or is committed.
  std::optional<WrittenFor> written_for() const;
  /// Whether the fragment has no deletion file, no overlays, and no row ids or row versions of its
  /// own.
  bool has_files_only() const;

  bool operator==(const FragmentMetadata& other) const;

 private:
  friend struct Access;
  explicit FragmentMetadata(std::shared_ptr<const table::FragmentMetadataState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const table::FragmentMetadataState> state_;
};

/// The ids of a version's fragments, ascending. Parses none of them.
std::vector<uint64_t> FragmentIds(const Dataset& dataset);

/// The position of an id in that order; nothing for an id that the version does not have.
std::optional<uint64_t> PositionOf(const Dataset& dataset, uint64_t id);

/// The fragment at such a position. Errors: InvalidInput at num_fragments() and beyond.
arrow::Result<FragmentMetadata> FragmentAt(const Dataset& dataset, uint64_t position);

/// The number of fragments with fewer rows than `min_rows`, deleted rows included.
uint64_t CountSmallFragments(const Dataset& dataset, uint64_t min_rows);

}  // namespace glaive
