#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "core/ranges.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/operation/operation.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// Data files by path and base.
using FileNames = std::set<std::pair<std::string, std::optional<uint32_t>>>;

FileNames FilesOf(const wire::DataFragment& fragment);

// Rows of a fragment in an older version, of which its manifest does not tell whether they are
// still those of the newest.
struct OpenRows {
  uint64_t fragment_id = 0;
  uint64_t read_version = 0;
  bool same_deletions = false;  // none were hidden
  // Known to hold values of these rows. Empty where the fragment is known to have one of them.
  FileNames files;
};

// What was done to the rows of fragments in between two versions, as far as their manifests do not
// show it: an update hides rows by a deletion file as a delete does, but they live on elsewhere,
// with the values that they had; and a merge may say of a fragment whatever it likes.
class RowMoves {
 public:
  // Of the others' files nothing is kept.
  RowMoves(table::TableLocation table, std::set<uint64_t> fragments)
      : table_(std::move(table)), fragments_(std::move(fragments)) {}

  // The transactions of the versions after `after`, up to `version`. Those known are not read
  // again.
  arrow::Status Read(uint64_t after, uint64_t version);

  // The first version that may have moved rows out of the fragment, or that put other rows in
  // their place. REQUIRES: Read up to now, and one of `fragments`
  struct Found {
    uint64_t version;
    const char* what;
  };
  std::optional<Found> FindFor(const OpenRows& rows, const wire::DataFragment& now) const;

  // Whether none of the rows is deleted in that version.
  arrow::Result<bool> AreLive(const table::Manifest& manifest, const wire::DataFragment& fragment,
                              uint64_t physical_rows, const std::vector<RowRange>& rows) const;

 private:
  struct Moves {
    bool is_known = false;
    bool replaces_all = false;
    std::set<uint64_t> fragments;            // that rows were moved out of
    std::map<uint64_t, FileNames> added;     // to the files that a fragment had
    std::map<uint64_t, FileNames> restated;  // all files of a fragment, old and new
  };
  Moves MovesOf(const std::optional<table::Transaction>& transaction) const;

  table::TableLocation table_;
  std::set<uint64_t> fragments_;
  std::map<uint64_t, Moves> moves_;  // of versions that are gone, only the first of each gap
};

}  // namespace glaive::dataset
