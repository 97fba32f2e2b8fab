#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"

namespace glaive {

enum class FileRole : uint8_t { kManifest, kTransaction, kData, kDeletion, kIndex };
/// "manifest", "transaction file", "data file", ...
std::string_view NameOf(FileRole role);

/// A file that a version refers to.
struct TrackedFile {
  uint64_t version = 0;
  std::string base_uri;  ///< of the table, or of the base where the file lies
  std::string path;      ///< relative to it
  FileRole role = FileRole::kData;
};

/// After each version that was looked at: how many of how many.
using VersionProgress = std::function<arrow::Status(uint64_t done, uint64_t total)>;

/// The files of all versions from `min_version` on, the newest version's first; a file that several
/// refer to comes with each.
arrow::Result<std::vector<TrackedFile>> TrackedFiles(
    const Dataset& dataset, std::optional<uint64_t> min_version = std::nullopt,
    const VersionProgress& progress = nullptr);

/// A file that lies below the table's root.
struct StoredFile {
  std::string path;  ///< relative to the root
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;  ///< since the Unix epoch, UTC
};

/// Whoever's they are, in no order. Those of bases are not among them.
arrow::Result<std::vector<StoredFile>> StoredFiles(const Dataset& dataset);

struct FieldBytes {
  int32_t field_id = 0;
  uint64_t bytes = 0;  ///< encoded, in all data files of the version
};

/// Of every field of the schema, in its order; 0 for those whose children hold the values. Reads
/// the footers of all data files.
arrow::Result<std::vector<FieldBytes>> BytesOfFields(const Dataset& dataset);

}  // namespace glaive
