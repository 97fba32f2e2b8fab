#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/file_place.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

// The files that a commit brings into a table, whoever wrote them.
namespace glaive::dataset {

// Collects the data, deletion and index files of operations, without those that the version they
// were made of has already. A durable commit syncs them all: who wrote them may not have.
class BroughtFiles {
 public:
  explicit BroughtFiles(table::TableLocation table) : table_(std::move(table)) {}

  // `before` null: there is no version before.
  arrow::Status Add(const table::Operation& operation, const table::ManifestPtr& before);
  void AddPaths(const std::vector<std::string>& paths) { Add(table_.store, paths); }

  // Those in the table's store that were not taken before. Files of bases in other stores are
  // synced by this.
  arrow::Result<std::vector<std::string>> Take();

 private:
  using Store = std::shared_ptr<io::ObjectStore>;

  arrow::Status AddFragment(const wire::DataFragment& fragment);
  arrow::Status AddDataFile(const wire::DataFile& file);
  arrow::Status AddOverlay(const std::string& overlay);
  arrow::Status AddFile(table::FileKind kind, const std::string& name,
                        std::optional<uint32_t> base_id);
  arrow::Status AddFolder(table::FileKind kind, const std::string& name,
                          std::optional<uint32_t> base_id);
  void Add(const Store& store, const std::vector<std::string>& paths);
  arrow::Result<std::optional<table::FilePlace>> Place(table::FileKind kind,
                                                       const std::string& name,
                                                       std::optional<uint32_t> base_id) const;

  table::TableLocation table_;
  table::ManifestPtr before_;
  std::vector<table::BasePath> new_bases_;
  bool has_blobs_ = false;
  std::map<Store, std::vector<std::string>> waiting_;
  std::set<std::pair<Store, std::string>> known_;
};

}  // namespace glaive::dataset
