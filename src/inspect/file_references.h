#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <arrow/result.h>

#include "table/commit.h"
#include "table/file_place.h"
#include "table/manifest.h"
#include "wire/fragment.h"

namespace glaive::inspect {

// The data files of a fragment, those of its overlays included.
arrow::Result<std::vector<wire::DataFile>> FilesOf(const wire::DataFragment& fragment,
                                                   const std::string& manifest_path);

// What the manifests of a table refer to, by absolute path in one store. A folder of an index
// stands for all that is in it.
class FileReferences {
 public:
  explicit FileReferences(std::shared_ptr<io::ObjectStore> store) : store_(std::move(store)) {}

  // `version` is how people call it.
  arrow::Status Add(const table::TableLocation& table, const table::Manifest& manifest,
                    const std::string& version);

  bool Contains(const std::string& path) const { return files_.contains(path); }
  bool ContainsFolder(const std::string& path) const { return folders_.contains(path); }
  // Files and one of the versions that refer to each.
  const std::unordered_map<std::string, std::string>& files() const { return files_; }

 private:
  arrow::Status AddFragment(const table::TableLocation& table, const table::Manifest& manifest,
                            const wire::DataFragment& fragment, const std::string& version);
  arrow::Status AddIndices(const table::TableLocation& table, const table::Manifest& manifest);
  void AddFile(const table::FilePlace& place, const std::string& version);

  std::shared_ptr<io::ObjectStore> store_;
  std::unordered_map<std::string, std::string> files_;
  std::unordered_set<std::string> folders_;
  // Records of fragments that were followed: most versions share most of them.
  std::unordered_set<std::string> seen_;
};

}  // namespace glaive::inspect
