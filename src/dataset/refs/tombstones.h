#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "table/versions/versions.h"

// What lies beside the versions in `_versions` while clean-ups take some of them, and restores use
// old ones. Listings of versions, pylance's among them, pass over these names:
//
//   <manifest>-gone-<run>     the manifest of a version that this run of a clean-up takes
//   .manifest-fate-<run>      which of the run's versions go for good, and which are put back
//   <manifest>-pin-<n>-<id>   a commit that is about to publish version n needs that version
//
// A run's fate is put once and read by all: whoever finishes the run, be it another clean-up that
// takes its owner for dead, does the same with its versions.
namespace glaive::dataset {

struct Tombstone {
  table::VersionEntry version;  // where it lay, and is put back to
  std::string path;
  std::string run;
};

struct Pin {
  uint64_t version = 0;
  uint64_t published_as = 0;
  std::string path;
};

struct VersionMarks {
  std::vector<Tombstone> tombstones;
  std::vector<Pin> pins;
  std::set<std::string> decided;  // runs
  std::set<uint64_t> attached;    // versions under their own names
};

// By one listing of names, and more where versions of both naming schemes are there.
arrow::Result<VersionMarks> ListMarks(const table::TableLocation& table);

std::string NewRunName();

// Gives the version its other name, and then takes its own. Nothing where another clean-up was
// faster, or another version has the name by now.
arrow::Result<std::optional<Tombstone>> Bury(const table::TableLocation& table,
                                             const table::VersionEntry& entry,
                                             const std::string& run);

// NotFound where the tombstone is gone.
arrow::Result<table::ManifestPtr> ReadTombstone(const table::TableLocation& table,
                                                const Tombstone& tombstone);

// What becomes of a run's versions. Those that it does not name are put back where they have lost
// their names, and else are left to the run's owner, who may be about to take those.
struct Fate {
  std::set<uint64_t> gone;  // for good
  std::set<uint64_t> back;  // had lost their names, or their owner was past taking those
};

// Says what becomes of the run, unless that has been said. Returns what was said first.
arrow::Result<Fate> DecideFate(const table::TableLocation& table, const std::string& run,
                               const Fate& fate);

// Puts a version back under its own name, as its run's fate says. The tombstone goes then.
arrow::Status PutBack(const table::TableLocation& table, const Tombstone& tombstone);

// Removes a tombstone of a decided run whose version was put back and has its name again. Whether
// it was that.
arrow::Result<bool> RemoveSpare(const table::TableLocation& table, const Tombstone& tombstone);

// Forgets what was said of a run, where nothing is left of it.
arrow::Status ForgetFate(const table::TableLocation& table, const std::string& run);

// Changes the table's folder and undoes that, under the name of a run that takes no version: a
// listing that follows shows all that was there before.
arrow::Status MakeAChange(const table::TableLocation& table, const std::string& run);

// Of a version that has lost its name and may still be put back. Nothing where there is none.
arrow::Result<std::optional<Tombstone>> FindTombstone(const table::TableLocation& table,
                                                      uint64_t version);

// The pins of one commit, removed with this object.
class Pins {
 public:
  explicit Pins(const table::TableLocation& table) : table_(table) {}
  ~Pins();
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;

  // Announces that the commit is about to publish the version `published_as`, and that it needs
  // `version` for that. A cleanup that finds the pin keeps `version` until `published_as` exists.
  arrow::Status Put(const table::VersionEntry& version, uint64_t published_as);

  // Leaves the pins: it is not known whether the last attempt published. The next cleanup removes a
  // pin whose version exists.
  void Leave() { paths_.clear(); }

 private:
  const table::TableLocation& table_;
  std::vector<std::string> paths_;
};

}  // namespace glaive::dataset
