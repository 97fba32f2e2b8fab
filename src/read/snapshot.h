#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "file/file_reader.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/rows/deletion_vector.h"
#include "table/rows/row_ids.h"
#include "wire/fragment.h"

namespace glaive::read {

// What readers keep of files that never change. Thread safe.
class FileCache {
 public:
  virtual ~FileCache() = default;

  virtual arrow::Result<std::shared_ptr<file::FileReader>> OpenFile(
      const std::shared_ptr<io::ObjectStore>& store, const std::string& path,
      std::optional<uint64_t> size_bytes) = 0;

  // REQUIRES: the fragment has a deletion file, and `physical_rows` rows.
  virtual arrow::Result<table::DeletionVectorPtr> OpenDeletions(
      const table::TableLocation& location, const table::Manifest& manifest,
      const wire::DataFragment& fragment, uint64_t physical_rows) = 0;
};

// One version of a table, to be read. Cheap to copy.
struct Snapshot {
  table::TableLocation location;
  table::ManifestPtr manifest;
  std::shared_ptr<FileCache> cache;
};

// A data file of a fragment, in the table itself or in one of its bases.
arrow::Result<std::shared_ptr<file::FileReader>> OpenDataFile(const Snapshot& snapshot,
                                                              const wire::DataFile& file);

// How many rows lie in the files of a fragment. Opens one of them where the manifest, as old
// writers left it, does not say.
arrow::Result<uint64_t> PhysicalRows(const Snapshot& snapshot, const wire::DataFragment& fragment);

// Never null: an empty vector where nothing is deleted.
arrow::Result<table::DeletionVectorPtr> Deletions(const Snapshot& snapshot,
                                                  const wire::DataFragment& fragment,
                                                  uint64_t physical_rows);

// Rows that a scan of the fragment returns. Reads only what the manifest does not say.
arrow::Result<uint64_t> LiveRows(const Snapshot& snapshot, const wire::DataFragment& fragment);

// The ids of all physical rows of a fragment; nothing on tables without stable row ids, where they
// are the addresses.
arrow::Result<std::optional<table::RowIdSequence>> StableRowIds(const Snapshot& snapshot,
                                                                const wire::DataFragment& fragment,
                                                                uint64_t physical_rows);

}  // namespace glaive::read
