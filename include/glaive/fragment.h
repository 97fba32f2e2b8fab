#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace glaive {

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

/// A file whose values take the place of a fragment's own in some rows of some fields.
struct OverlayFile {
  DataFileInfo data_file;
  /// Physical rows covered, ascending; the n-th has the n-th value of the file's column. One list
  /// for all fields of the file, or, with `per_field`, one for each.
  std::vector<std::vector<uint32_t>> offsets;
  bool per_field = false;
  std::optional<uint64_t> committed_version;  ///< absent before the commit
};

/// The version whose WriteTarget a fragment was written for, by what made it.
struct WrittenFor {
  uint64_t version = 0;
  std::string transaction;  ///< its uuid

  bool operator==(const WrittenFor&) const = default;
};

/// One fragment's entry in a manifest, or what a worker wrote for one that is not committed yet
/// (id 0). An immutable value, cheap to copy.
class FragmentMetadata {
 public:
  /// The JSON that pylance's FragmentMetadata.to_json() gives, as text.
  static arrow::Result<FragmentMetadata> FromJson(std::string_view json);
  std::string ToJson() const;

  uint64_t id() const;
  uint64_t physical_rows() const;
  uint64_t num_deletions() const;
  uint64_t num_rows() const { return physical_rows() - num_deletions(); }
  std::vector<DataFileInfo> files() const;
  std::optional<DeletionFileInfo> deletion_file() const;
  /// Oldest first: where two cover a cell, the later one counts.
  arrow::Result<std::vector<OverlayFile>> overlays() const;
  /// Absent where it was written for a handle or a URI, and once it is committed.
  std::optional<WrittenFor> written_for() const;
  /// Whether ToJson() tells no more than id, rows, files and what it was written for: nothing is
  /// deleted or overlaid, and the rows have no ids or versions of their own.
  bool has_files_only() const;

  bool operator==(const FragmentMetadata& other) const;

  /// For the engine's own files; its type is not part of the API.
  struct State;
  const std::shared_ptr<const State>& state() const { return state_; }
  explicit FragmentMetadata(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace glaive
