#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

// The versions that are in a table's folder, and what made them.
namespace glaive::table {

struct Transaction;

struct VersionEntry {
  uint64_t version = 0;
  std::string path;
  NamingScheme scheme = NamingScheme::kV2;
  uint64_t size_bytes = 0;                            // 0: not known
  std::optional<int64_t> modified_ns = std::nullopt;  // where the look-up told
  uint64_t file_id = 0;                               // likewise
};

// How often the newest version is looked for again because it went before it was read: a newer one
// came, and a clean-up took it.
inline constexpr int kMostLooksForNewest = 32;

// Versions outside of a table's history have numbers with this bit.
inline constexpr uint64_t kDetachedVersionBit = uint64_t{1} << 63;
inline constexpr bool IsDetached(uint64_t version) { return (version & kDetachedVersionBit) != 0; }

// Where a version of that number lies, attached or detached. NotFound names it.
arrow::Result<VersionEntry> FindVersion(const TableLocation& table, uint64_t version);

// All attached versions, ascending. Both schemes in one folder: Corrupt. Temporary leftovers and
// detached versions are passed over. Empty where there is no _versions folder.
arrow::Result<std::vector<VersionEntry>> ListVersions(const TableLocation& table);

// All detached versions, in no order.
arrow::Result<std::vector<VersionEntry>> ListDetachedVersions(const TableLocation& table);

// The newest version, or nothing where there is none. By one listing; where listings are dear, by
// the hint that writers leave, which is checked: its version has to be there, and the next one not.
arrow::Result<std::optional<VersionEntry>> LatestVersion(const TableLocation& table);

// Reads and indexes one manifest; refuses unknown reader flags by name. NotFound names the version.
arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, const VersionEntry& entry);
// By number, under either name.
arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, uint64_t version);
// The newest; a torn head is passed over for the version before it, with a warning.
arrow::Result<ManifestPtr> ReadLatestManifest(const TableLocation& table);

// The transaction that made a version: the copy in its manifest, or else the file that it names.
// Nothing where the version does not say.
arrow::Result<std::optional<Transaction>> ReadTransaction(const TableLocation& table,
                                                          const VersionEntry& entry);

}  // namespace glaive::table
