#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"

// IndexMetadata messages: the entries of a manifest's index section. Indices are carried and never
// built here, so an entry stays the bytes it is; this is what conflicts and coverage need of it.
namespace glaive::wire {

// The write-ahead log's entry, which belongs to no field.
inline constexpr std::string_view kMemWalIndexName = "__lance_mem_wal";
// Where rows went that a compaction moved without telling the indices; no field's either.
inline constexpr std::string_view kFragmentReuseIndexName = "__lance_frag_reuse";

struct IndexFile {
  std::string path;
  uint64_t size_bytes = 0;
};

struct IndexEntry {
  std::string uuid;              // 16 bytes; also the name of its folder
  std::vector<int32_t> fields;   // keyed columns, then the covering ones; none for system indices
  std::string name;              // several entries with one name are segments of one index
  uint64_t dataset_version = 0;  // that it was built from
  std::string fragment_bitmap;   // portable Roaring of the fragments covered; empty: not known
  std::string details_type_url;  // "/lance.table.BTreeIndexDetails" and the like
  std::string details;           // a message of that type
  int32_t index_version = 0;     // of the type's own format
  std::optional<uint64_t> created_at_ms;  // since the Unix epoch
  std::optional<uint32_t> base_id;
  std::vector<IndexFile> files;
  uint64_t num_covering_fields = 0;  // of `fields`, from the back

  // Belongs to the table and to no column.
  bool is_system() const { return name == kMemWalIndexName || name == kFragmentReuseIndexName; }
  // Knows rows by where they lie, which they leave when they are rewritten, even where they have
  // stable ids.
  bool stores_row_addresses() const;
};

arrow::Result<IndexEntry> ParseIndexEntry(std::span<const std::byte> message, Location where);

}  // namespace glaive::wire
