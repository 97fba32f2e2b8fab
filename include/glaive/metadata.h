#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const std::string fixed, MakeBitmap({3, 1, 2}));
//     const OverlayFile overlay = {.data_file = {.path = "fixes.lance", .fields = {0}},
//                                  .offset_bitmaps = {fixed}};
//     ARROW_ASSIGN_OR_RAISE(const auto offsets, ReadBitmap(overlay.offset_bitmaps.front()));
//     for (const uint32_t offset : offsets) std::cout << offset << "\n";
namespace glaive {

/// A data file of a fragment, as the manifest lists it. In this header, `unknown_fields` are the
/// fields that a newer writer added to a message; Glaive writes them back unchanged.
struct DataFileInfo {
  std::string path;                     ///< relative to the table's data/, or to the base path
  std::vector<int32_t> fields;          ///< field id of each column listed; < 0 is no user's field
  std::vector<int32_t> column_indices;  ///< physical column of each entry of `fields`
  uint32_t file_major_version = 0;
  uint32_t file_minor_version = 0;
  uint64_t file_size_bytes = 0;     ///< 0: not known
  std::optional<uint32_t> base_id;  ///< 0 is a base path like any other
  std::string unknown_fields;

  bool operator==(const DataFileInfo&) const = default;
};

/// A file with other values for some rows of some fields of a fragment.
struct OverlayFile {
  DataFileInfo data_file;
  /// Physical rows covered, as bitmaps (MakeBitmap). The n-th row covered has the n-th value of the
  /// file's column. One bitmap for all fields of the file, or, with `per_field`, one for each.
  std::vector<std::string> offset_bitmaps;
  bool per_field = false;
  uint64_t committed_version = 0;  ///< 0: not committed yet
  std::string unknown_fields;

  bool operator==(const OverlayFile&) const = default;
};

/// One segment of an index, as the manifest lists it.
struct IndexMetadata {
  std::string uuid;                       ///< 36 characters; also the name of its folder
  std::string name;                       ///< the segments of an index share a name
  std::vector<int32_t> fields;            ///< ids of the keys, then of the covering fields
  uint64_t dataset_version = 0;           ///< the version that it was built from
  std::string fragment_bitmap;            ///< ids of the fragments covered; empty: not known
  std::optional<int32_t> index_version;   ///< of the format of this kind of index
  std::optional<uint64_t> created_at_ms;  ///< since the Unix epoch
  std::optional<uint32_t> base_id;
  struct File {
    std::string path;
    uint64_t size_bytes = 0;

    bool operator==(const File&) const = default;
  };
  std::vector<File> files;
  struct Details {
    std::string type_url;  ///< tells the type of the index: "/lance.table.BTreeIndexDetails"
    std::string value;     ///< a message of that type

    bool operator==(const Details&) const = default;
  };
  std::optional<Details> details;
  std::vector<int32_t> covering_fields;  ///< the last entries of `fields`
  std::string unknown_fields;

  bool operator==(const IndexMetadata&) const = default;
};

/// An index segment that replaces another one after rows moved.
struct RewrittenIndex {
  std::string old_id;  ///< the uuid of the replaced segment, 36 characters
  std::string new_id;
  IndexMetadata::Details new_details;
  uint32_t new_index_version = 0;
  std::vector<IndexMetadata::File> new_files;
  std::string unknown_fields;

  bool operator==(const RewrittenIndex&) const = default;
};

/// A base path: a folder outside of a table's own folder that holds files of the table.
struct DatasetBasePath {
  uint32_t id = 0;  ///< 0: the commit that adds the base path chooses an id
  std::optional<std::string> name;
  bool is_dataset_root = false;  ///< data files lie in data/ below `path`, else in `path` itself
  std::string path;              ///< absolute path or URI
  std::string unknown_fields;

  bool operator==(const DatasetBasePath&) const = default;
};

/// A change of a map of strings.
struct MetadataEdit {
  std::map<std::string, std::optional<std::string>> entries;  ///< no value: the key is removed
  bool replace = false;                                       ///< all other keys are removed
};

/// The version of the WriteTarget for which a fragment was written.
struct WrittenFor {
  uint64_t version = 0;
  std::string transaction;  ///< its uuid, or a substitute if the version does not record one

  bool operator==(const WrittenFor&) const = default;
};

/// A set of numbers in the form in which manifests and operations store rows and fragment ids: a
/// portable Roaring bitmap. `values` may have any order. Errors: InvalidInput for a value that is
/// given twice.
arrow::Result<std::string> MakeBitmap(std::vector<uint32_t> values);

/// The numbers of a bitmap, ascending. Errors: Corrupt; Unsupported for more than 2^28 numbers.
arrow::Result<std::vector<uint32_t>> ReadBitmap(std::string_view bitmap);

}  // namespace glaive
