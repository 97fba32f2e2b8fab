#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "glaive/fragment.h"
#include "glaive/metadata.h"
#include "glaive/schema.h"

// Example:
//
//     const Operation more_bases =
//         operation::UpdateBases{.new_bases = {{.name = "disk2", .path = "/mnt/disk2/images"}}};
//     ARROW_ASSIGN_OR_RAISE(const Dataset wider,
//                           Commit(dataset, {.read_version = dataset.version(),
//                                            .operation = more_bases}));
namespace glaive {

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
  /// Addresses (fragment id << 32 | offset) of the rows that are deleted, ascending, if known. With
  /// them, concurrent changes of other rows in the same fragments do not conflict. The version does
  /// not record them.
  std::optional<std::vector<uint64_t>> affected_rows;
};

/// Replaces the content of a table, or makes a new table. The commit assigns new ids to the
/// fragments.
struct Overwrite {
  std::vector<FragmentMetadata> fragments;
  TableSchema schema;
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
  enum class Mode : uint32_t { kRewriteRows, kRewriteColumns };
  std::vector<uint64_t> removed_fragment_ids;
  std::vector<FragmentMetadata> updated_fragments;
  std::vector<FragmentMetadata> new_fragments;
  std::vector<uint32_t> fields_modified;
  std::vector<std::string> compacted_sstables;  ///< messages, carried along
  std::vector<uint32_t> fields_for_preserving_frag_bitmap;
  Mode mode = Mode::kRewriteRows;
  /// The inserted keys, as the message by which conflicting inserts are found.
  std::optional<std::string> inserted_rows;
  /// Rows whose columns were rewritten, by fragment: bitmaps of their offsets (MakeBitmap).
  std::map<uint64_t, std::string> updated_fragment_offsets;
  /// As in Delete, of the rows that move.
  std::optional<std::vector<uint64_t>> affected_rows;
};

/// Another schema for the same files: columns are dropped or renamed. Its field ids must be those
/// of the table.
struct Project {
  TableSchema schema;
  bool preserves_nullability = false;
};

/// Edits of a string map.
using UpdateMap = MetadataEdit;

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

}  // namespace glaive
