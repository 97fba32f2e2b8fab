#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const auto fragments, dataset.Fragments());
//     for (const FragmentMetadata& fragment : fragments) {
//       std::cout << fragment.id() << ": " << fragment.num_rows() << " rows\n";
//     }
namespace glaive {

struct Access;
namespace dataset {
struct FragmentMetadataState;
}

class Dataset;

/// A data file of a fragment, as the manifest lists it.
struct DataFileInfo {
  std::string path;                     ///< relative to the table's data/
  std::vector<int32_t> fields;          ///< field id of each column listed
  std::vector<int32_t> column_indices;  ///< physical column of each entry of `fields`
  uint32_t file_major_version = 0;
  uint32_t file_minor_version = 0;
  std::optional<uint64_t> file_size_bytes;
  std::optional<uint32_t> base_id;
};

struct DeletionFileInfo {
  uint64_t read_version = 0;
  uint64_t id = 0;
  bool is_bitmap = false;  ///< else an Arrow array
  std::optional<uint64_t> num_deleted_rows;
  std::optional<uint32_t> base_id;
  std::string path;  ///< relative to the table's root
};

/// A file with other values for some rows of some fields of a fragment.
struct OverlayFile {
  DataFileInfo data_file;
  /// Physical rows covered, ascending; the n-th has the n-th value of the file's column. One list
  /// for all fields of the file, or, with `per_field`, one for each.
  std::vector<std::vector<uint32_t>> offsets;
  bool per_field = false;
  std::optional<uint64_t> committed_version;  ///< absent before the commit
};

/// The version of the WriteTarget for which a fragment was written.
struct WrittenFor {
  uint64_t version = 0;
  std::string transaction;  ///< its uuid

  bool operator==(const WrittenFor&) const = default;
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
  explicit FragmentMetadata(std::shared_ptr<const dataset::FragmentMetadataState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const dataset::FragmentMetadataState> state_;
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
