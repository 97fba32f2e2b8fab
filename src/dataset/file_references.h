#pragma once

#include <set>
#include <string>
#include <unordered_set>

#include <arrow/status.h>

#include "table/commit.h"

namespace glaive::dataset {

// Names of files in a table's own folders.
struct FileReferences {
  std::set<std::string> data;          // below data/
  std::set<std::string> deletions;     // below _deletions/
  std::set<std::string> transactions;  // below _transactions/
  std::set<std::string> indices;       // folders below _indices/
  // Records of fragments that were followed, by the table whose they are: versions share most.
  std::unordered_set<std::string> seen_fragments;

  // Whether anything but a transaction file is named.
  bool names_files() const { return !data.empty() || !deletions.empty() || !indices.empty(); }
  void Merge(const FileReferences& other);  // without what was seen
};

// Adds what a manifest refers to in the folders of the table `own`, be it its own manifest or one
// of another table that has `own` as a base.
arrow::Status AddReferences(const table::TableLocation& own, const table::TableLocation& location,
                            const table::Manifest& manifest, FileReferences* references);

// Detached versions, which no listing of versions has.
arrow::Result<std::vector<table::VersionEntry>> ListDetached(const table::TableLocation& table);

}  // namespace glaive::dataset
