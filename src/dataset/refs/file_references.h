#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/file_place.h"
#include "table/manifest/manifest.h"
#include "table/versions/versions.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// The data files of a fragment, those of its overlays included.
arrow::Result<std::vector<wire::DataFile>> FilesOf(const wire::DataFragment& fragment,
                                                   const std::string& manifest_path);

// What manifests refer to, be they of one table or of several. A folder of an index stands for all
// that is in it.
//
// By path in one store, and then files in other stores are none of its concern; or by name, as
// "data/x.lance", "_deletions/x.arrow", "_indices/uuid", wherever that lies and without transaction
// files. Names are unique, and one place may be called by several paths.
class FileReferences {
 public:
  explicit FileReferences(std::shared_ptr<io::ObjectStore> store) : store_(std::move(store)) {}
  static FileReferences ByName() { return FileReferences(nullptr); }

  // `version` is how people call it.
  arrow::Status Add(const table::TableLocation& table, const table::Manifest& manifest,
                    const std::string& version);
  void Merge(const FileReferences& other);

  bool Contains(const std::string& path) const { return files_.contains(path); }
  bool ContainsFolder(const std::string& path) const { return folders_.contains(path); }
  // Whether it has one of these.
  bool ContainsAnyOf(const std::unordered_set<std::string>& files) const;
  // Files and one of the versions that refer to each.
  const std::unordered_map<std::string, std::string>& files() const { return files_; }

 private:
  arrow::Status AddFragment(const table::TableLocation& table, const table::Manifest& manifest,
                            const wire::DataFragment& fragment, const std::string& version);
  arrow::Status AddIndices(const table::TableLocation& table, const table::Manifest& manifest);
  arrow::Status AddFile(const table::TableLocation& table, const table::Manifest& manifest,
                        table::FileKind kind, const std::string& name,
                        std::optional<uint32_t> base_id, const std::string& version);
  bool is_by_name() const { return store_ == nullptr; }

  std::shared_ptr<io::ObjectStore> store_;
  std::unordered_map<std::string, std::string> files_;
  std::unordered_set<std::string> folders_;
  // Records of fragments that were followed: most versions share most of them.
  std::unordered_set<std::string> seen_;
};

// Detached versions, which no listing of versions has.
arrow::Result<std::vector<table::VersionEntry>> ListDetached(const table::TableLocation& table);

// Whether all files to which a version refers are there; its transaction file may be missing, since
// the manifest holds a copy. A request for each file.
arrow::Result<bool> HasAllFiles(const table::TableLocation& table, const table::Manifest& manifest);

}  // namespace glaive::dataset
