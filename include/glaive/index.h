#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const std::vector<Index> indices, ListIndices(dataset));
//     for (const Index& index : indices) std::cout << index.name << ": " << index.type << "\n";
//     ARROW_ASSIGN_OR_RAISE(const Dataset without, DropIndex(dataset, "label_idx"));
namespace glaive {

/// A part of an index, in a folder of its own.
struct IndexSegment {
  std::string uuid;              ///< 36 characters; the folder's name
  uint64_t dataset_version = 0;  ///< that it was built from
  int32_t format_version = 0;    ///< of the kind of index
  /// Fragments of the version that it answers for, ascending. Nothing: it does not say.
  std::optional<std::vector<uint64_t>> fragment_ids;
  std::optional<uint64_t> created_at_ms;  ///< since the Unix epoch, UTC
  std::optional<uint64_t> size_bytes;     ///< where the table says how large its files are
  std::optional<uint32_t> base_id;        ///< of the base that the folder lies in
  std::vector<int32_t> covering_fields;   ///< ids of columns that it carries besides its keys
};

struct Index {
  std::string name;
  std::string type;      ///< "BTree", "Bitmap", "LabelList", "Inverted", "Vector", ...
  std::string type_url;  ///< what the table says of the type
  std::vector<int32_t> field_ids;
  std::vector<std::string> field_names;  ///< dotted paths, of fields that are in the schema
  uint64_t num_rows_indexed = 0;         ///< live rows of the fragments covered
  std::vector<IndexSegment> segments;
};

/// The indices of a version by name, those of the table itself included ("__lance_...").
arrow::Result<std::vector<Index>> ListIndices(const Dataset& dataset);

/// Takes an index with all its segments out of the table. Its files go with the versions that
/// refer to them. One version.
///
/// Errors: NotFound for a name that no index has; a retryable CommitConflict where the index was
/// changed meanwhile.
arrow::Result<Dataset> DropIndex(const Dataset& dataset, std::string_view name,
                                 const VersionOptions& options = {});

}  // namespace glaive
