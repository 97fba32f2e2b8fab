#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "table/manifest/manifest.h"
#include "wire/fragment.h"
#include "wire/schema.h"

// What a commit changes, as plain values: the operations of a Transaction message, numbered there
// as noted. An operation holds no handle and does nothing; Apply and Conflict give it its meaning.
namespace glaive::table {

// 100. New fragments behind the old ones. Id 0 means: not yet given.
struct Append {
  std::vector<wire::DataFragment> fragments;
};

// 101. Rows hidden by new deletion files, and fragments with no row left.
struct Delete {
  std::vector<wire::DataFragment> updated_fragments;  // as read, with the new deletion file
  std::vector<uint64_t> deleted_fragment_ids;
  std::string predicate;
  // Addresses (fragment id << 32 | offset) of the rows hidden by this delete, ascending. Known to
  // the process that made it, never stored: another's, read from a transaction file, has none.
  std::optional<std::vector<uint64_t>> affected_rows;
};

// 102. A table of its own in place of the old one; only config and counters go on.
struct Overwrite {
  std::vector<wire::DataFragment> fragments;
  wire::Schema schema;
  wire::StringMap config_upserts;
  std::vector<BasePath> initial_bases;
  std::optional<FileVersion> data_file_version;  // not stored: replaces the table's when given
};

// 103. Index entries, as their IndexMetadata messages.
struct CreateIndex {
  std::vector<std::string> new_indices;
  std::vector<std::string> removed_indices;
};

// 104. The same rows in other fragments.
struct Rewrite {
  struct Group {
    std::vector<wire::DataFragment> old_fragments;
    std::vector<wire::DataFragment> new_fragments;  // ids reserved, or 0
  };
  std::vector<Group> groups;
  std::vector<std::string> rewritten_indices;  // RewrittenIndex messages
};

// 105. All fragments as they are to be, old ones first, under a new schema.
struct Merge {
  std::vector<wire::DataFragment> fragments;
  wire::Schema schema;
  bool preserves_nullability = false;
  // The fragments of the version that this is made for: those that `fragments` does not name stay
  // as they are there. Known to the process that made it; stored, a merge lists them all.
  std::optional<FragmentTable> others;
};

// 106. An older version's content as a new version.
struct Restore {
  uint64_t version = 0;
  // That version's manifest, which Commit reads for Apply; never stored.
  std::shared_ptr<const Manifest> content;
};

// 107. Fragment ids for a later Rewrite.
struct ReserveFragments {
  uint32_t num_fragments = 0;
};

// 108. Rows moved into new fragments, or columns rewritten in place.
struct Update {
  enum class Mode : uint32_t { kRewriteRows = 0, kRewriteColumns = 1 };
  std::vector<uint64_t> removed_fragment_ids;
  std::vector<wire::DataFragment> updated_fragments;
  std::vector<wire::DataFragment> new_fragments;
  std::vector<uint32_t> fields_modified;
  std::vector<std::string> compacted_sstables;  // messages
  std::vector<uint32_t> fields_for_preserving_frag_bitmap;
  Mode mode = Mode::kRewriteRows;
  std::optional<std::string> inserted_rows;                  // KeyExistenceFilter message
  std::map<uint64_t, std::string> updated_fragment_offsets;  // Roaring bytes of each fragment
  std::optional<std::vector<uint64_t>> affected_rows;        // as in Delete; never stored
};

// 109. Another schema over the same files: columns dropped, renamed, nullability changed.
struct Project {
  wire::Schema schema;
  bool preserves_nullability = false;
};

// 110. Edits of string maps. An entry without a value deletes its key.
struct UpdateMap {
  std::map<std::string, std::optional<std::string>> entries;
  bool replace = false;  // everything else is removed first
};
struct UpdateConfig {
  std::optional<UpdateMap> config;
  std::optional<UpdateMap> table_metadata;
  std::optional<UpdateMap> schema_metadata;
  std::map<int32_t, UpdateMap> field_metadata;
};

// 111. Other files for some fields of some fragments, row for row.
struct DataReplacement {
  struct Replacement {
    uint64_t fragment_id;
    wire::DataFile new_file;
  };
  std::vector<Replacement> replacements;
};

// 112. Progress of a write-ahead log, as its messages.
struct UpdateMemWalState {
  std::vector<std::string> compacted_sstables;
};

// 113. The first commit of a table whose files lie in another.
struct Clone {
  bool is_shallow = false;
  std::optional<std::string> ref_name;
  uint64_t ref_version = 0;
  std::string ref_path;
  std::optional<std::string> branch_name;
};

// 114. More places where files may lie.
struct UpdateBases {
  std::vector<BasePath> new_bases;
};

// 115. Values laid over some rows of some fields, as DataOverlayFile messages.
struct DataOverlay {
  struct Group {
    uint64_t fragment_id;
    std::vector<std::string> overlays;
  };
  std::vector<Group> groups;
};

// Closed: a visitor that forgets one does not compile. The order is that of kConflictRules.
using Operation = std::variant<Append, Delete, Overwrite, CreateIndex, Rewrite, Merge, Restore,
                               ReserveFragments, Update, Project, UpdateConfig, DataReplacement,
                               DataOverlay, UpdateMemWalState, Clone, UpdateBases>;

// Joins lambdas into one visitor, without a default.
template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

// A Transaction message: who changed what, read from which version.
struct Transaction {
  uint64_t read_version = 0;
  std::string uuid;  // 36 characters
  std::string tag;
  wire::StringMap properties;
  uint64_t parent = 0;  // the hash of the version before (table/versions/chain.h); 0: does not say
  // Nothing for an operation that this build does not know; such a transaction conflicts with all.
  std::optional<Operation> operation;
  std::string unknown_fields;
  // Its uuid is from the caller, and a version that an earlier call made may name its file: that
  // stays when this call fails. No part of the message.
  bool may_be_recorded = false;
};

}  // namespace glaive::table
