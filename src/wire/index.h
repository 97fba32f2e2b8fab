#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "core/error.h"
#include "glaive/metadata.h"

// IndexMetadata messages: the entries of a manifest's index section, and what operations say of
// them. Indices are carried and never built here.
namespace glaive::wire {

// The write-ahead log's entry, which belongs to no field.
inline constexpr std::string_view kMemWalIndexName = "__lance_mem_wal";
// Where rows went that a compaction moved without telling the indices; no field's either.
inline constexpr std::string_view kFragmentReuseIndexName = "__lance_frag_reuse";

// Of its details; empty where it has none.
std::string_view TypeOf(const IndexMetadata& index);
// Belongs to the table and to no column.
inline bool IsSystem(const IndexMetadata& index) {
  return index.name == kMemWalIndexName || index.name == kFragmentReuseIndexName;
}
// Knows rows by where they lie, which they leave when they are rewritten, even where they have
// stable ids.
bool StoresRowAddresses(const IndexMetadata& index);

// 36 characters. Messages have the 16 bytes that they stand for.
bool IsUuid(std::string_view text);

// Errors: Corrupt, also for files outside of the index's folder.
arrow::Result<IndexMetadata> ParseIndex(std::span<const std::byte> message, Location where);
arrow::Result<RewrittenIndex> ParseRewrittenIndex(std::span<const std::byte> message,
                                                  Location where);
// The bytes that pylance writes for the same values. REQUIRES: uuids that are some
std::string Serialize(const IndexMetadata& index);
std::string Serialize(const RewrittenIndex& index);

}  // namespace glaive::wire
