#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "glaive/config.h"
#include "glaive/fragment.h"
#include "glaive/schema.h"

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

/// What a commit changes, as plain values that travel between processes. Fragments in them are what
/// writers gave (id 0) or a version's own entries.
namespace operation {

/// New fragments behind the old ones.
struct Append {
  std::vector<FragmentMetadata> fragments;
};

/// Rows hidden by new deletion files, and fragments with no row left.
struct Delete {
  std::vector<FragmentMetadata> updated_fragments;
  std::vector<uint64_t> deleted_fragment_ids;
  std::string predicate;
};

/// A table in place of the old one, or a new one. Ids of the fragments are given anew.
struct Overwrite {
  TableSchema schema;
  std::vector<FragmentMetadata> fragments;
  std::map<std::string, std::string> config_upserts;
  std::vector<DatasetBasePath> initial_bases;  ///< only for a new table
};

/// Index entries put in and taken out. Removed ones are known by their uuid.
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

/// All fragments as they are to be, those of the version read first, under a new schema.
struct Merge {
  std::vector<FragmentMetadata> fragments;
  TableSchema schema;
  /// No field is new or became one that cannot be null. Without it, concurrent appends conflict.
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
  /// Which keys were inserted, as the message in which conflicting inserts are found out.
  std::optional<std::string> inserted_rows;
  /// Addresses of the rows that move, ascending, where they are known: then concurrent changes of
  /// other rows in the same fragments do not conflict. Not recorded with the version.
  std::optional<std::vector<uint64_t>> affected_rows;
  std::vector<std::string> compacted_sstables;  ///< messages, carried along
};

/// Another schema over the same files: columns dropped or renamed. Ids must be those of the table.
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

/// Values laid over some rows of some fields, later ones over earlier ones.
struct DataOverlay {
  struct Group {
    uint64_t fragment_id = 0;
    std::vector<OverlayFile> overlays;
  };
  std::vector<Group> groups;
};

/// Progress of a write-ahead log; read, never made here.
struct UpdateMemWalState {
  std::vector<std::string> compacted_sstables;  ///< messages
};

/// The first commit of a table whose files lie in another.
struct Clone {
  bool is_shallow = false;
  std::optional<std::string> ref_name;
  uint64_t ref_version = 0;
  std::string ref_path;
  std::optional<std::string> branch_name;
};

/// More places where files may lie.
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
