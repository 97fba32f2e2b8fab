#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "core/access.h"
#include "dataset/handle/byte_cache.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "read/snapshot.h"
#include "table/versions/versions.h"

namespace glaive::dataset {

// What a session keeps. Data and deletion files never change under their names. A manifest's name
// may come back when a table is removed and made anew, so it is only believed while size and time
// of its file are the same.
struct SessionState final : read::FileCache {
  explicit SessionState(uint64_t max_bytes) : cache(max_bytes, kMaxOpenFiles) {}

  arrow::Result<std::shared_ptr<file::FileReader>> OpenFile(
      const std::shared_ptr<io::ObjectStore>& store, const std::string& path,
      std::optional<uint64_t> size_bytes) override;
  arrow::Result<table::DeletionVectorPtr> OpenDeletions(const table::TableLocation& location,
                                                        const table::Manifest& manifest,
                                                        const wire::DataFragment& fragment,
                                                        uint64_t physical_rows) override;

  // Errors: NotFound where there is no table.
  arrow::Result<table::ManifestPtr> LatestManifest(const table::TableLocation& location);
  // The write target of the newest version, which is small enough to stay where the manifest does
  // not: then this costs the look-up of that version alone.
  arrow::Result<WriteTarget> LatestTarget(const table::TableLocation& location);
  arrow::Result<WriteTarget> TargetOf(const table::TableLocation& location,
                                      const table::VersionEntry& entry);
  arrow::Result<table::ManifestPtr> ManifestOf(const table::TableLocation& location,
                                               uint64_t version);
  arrow::Result<table::ManifestPtr> ManifestOf(const table::TableLocation& location,
                                               const table::VersionEntry& entry);
  // For a pass over all versions: what is not here is read and not kept, so that the pass does not
  // push out what others use.
  arrow::Result<table::ManifestPtr> PassingManifest(const table::TableLocation& location,
                                                    const table::VersionEntry& entry);

  // Where to look for what this one does not have, before it is read; null but for PassingSession.
  std::shared_ptr<Session> base;

  static constexpr uint64_t kMaxOpenFiles = 128;  // of the 1,024 that a process may have by default
  ByteCache cache;

 private:
  arrow::Result<table::ManifestPtr> ManifestOrOneBefore(const table::TableLocation& location,
                                                        const table::VersionEntry& head);
};

// For data files that are read once and not missed afterwards: it finds what `base` has, and keeps
// no data file itself, so that a pass over many does not push out of `base` what others use.
std::shared_ptr<Session> PassingSession(std::shared_ptr<Session> base);

}  // namespace glaive::dataset
