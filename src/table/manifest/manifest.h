#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file_version.h"
#include "glaive/metadata.h"
#include "table/manifest/fragment_table.h"
#include "wire/schema.h"

namespace glaive::table {

// Bits of the two feature-flag words; docs/file_format.md says who must understand which.
namespace feature {
inline constexpr uint64_t kDeletionFiles = 1u << 0;
inline constexpr uint64_t kStableRowIds = 1u << 1;
inline constexpr uint64_t kV2Format = 1u << 2;
inline constexpr uint64_t kTableConfig = 1u << 3;  // writer word only
inline constexpr uint64_t kBasePaths = 1u << 4;
inline constexpr uint64_t kNoTransactionFile = 1u << 5;  // writer word only
inline constexpr uint64_t kOverlays = 1u << 6;
inline constexpr uint64_t kCoveringIndexColumns = 1u << 7;
inline constexpr uint64_t kMixedFileVersions = 1u << 8;
inline constexpr uint64_t kReuseIndexStableRowIds = 1u << 9;
inline constexpr uint64_t kTaggedReuseHistory = 1u << 10;
inline constexpr uint64_t kSpilledRowLineage = 1u << 11;
inline constexpr uint64_t kFragmentTree = 1u << 12;
inline constexpr uint64_t kIndependentCoveringFields = 1u << 13;
inline constexpr uint64_t kManagedBlobs = 1u << 14;
inline constexpr uint64_t kNonReusableFieldIds = 1u << 15;  // writer word only
inline constexpr uint64_t kZoneSeeds = 1u << 16;
inline constexpr uint64_t kObjectMetadata = 1u << 17;  // writer word only
}  // namespace feature

using BasePath = DatasetBasePath;

struct WriterVersion {
  std::string library;
  std::string version;
  std::optional<std::string> prerelease;
  std::optional<std::string> build_metadata;
};

enum class NamingScheme : uint8_t { kV1, kV2 };

// How many of the versions before it a manifest names.
inline constexpr size_t kMaxAncestors = 32;
// Stands for the version before the first one.
inline constexpr uint64_t kNoVersionBefore = 1;

// One version of a table: the Manifest message, its fragments still in the bytes they were read
// from. A value: Apply makes the next one out of it.
struct Manifest {
  uint64_t version = 0;
  FragmentTable fragments;
  wire::Schema schema;  // fields and schema_metadata
  wire::StringMap config;
  wire::StringMap table_metadata;
  FileVersion data_file_version = FileVersion::k2_2;
  std::string data_format_unknown_fields;   // of the message that names that version
  std::optional<uint32_t> max_fragment_id;  // ever used or reserved; absent before the first
  uint64_t next_row_id = 0;
  uint64_t reader_feature_flags = 0;
  uint64_t writer_feature_flags = 0;
  int64_t timestamp_ns = 0;  // since the Unix epoch, UTC
  std::string tag;
  std::string transaction_file;  // name in _transactions/, may be empty
  std::optional<WriterVersion> writer_version;
  std::optional<std::string> branch;  // absent = main
  std::vector<BasePath> base_paths;
  std::optional<int32_t> max_allocated_field_id;
  std::vector<uint64_t> ancestors;  // table/versions/chain.h; the version before comes first
  std::string index_section;        // IndexSection message, as it lay in the file; empty: no index
  std::string unknown_fields;       // of the Manifest message

  // Where and how it was found; not part of the message.
  NamingScheme naming_scheme = NamingScheme::kV2;
  std::string path;                             // of the manifest file in the store
  uint64_t size_bytes = 0;                      // of the manifest file
  std::optional<uint64_t> transaction_section;  // offset of the inline transaction in the file

  bool has_stable_row_ids() const { return (reader_feature_flags & feature::kStableRowIds) != 0; }
  // The highest field id that the table ever showed: schema, data files, or the recorded maximum.
  int32_t MaxFieldId() const;
};

using ManifestPtr = std::shared_ptr<const Manifest>;

// The uuid of the transaction that made the version, from the name of its file. Nothing where the
// version names no file.
std::optional<std::string> TransactionUuidOf(const Manifest& manifest);

}  // namespace glaive::table
