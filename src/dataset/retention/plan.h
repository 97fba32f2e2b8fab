#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "dataset/refs/tombstones.h"
#include "dataset/retention/look.h"
#include "glaive/retention.h"
#include "table/versions/versions.h"

namespace glaive::dataset {

// What a clean-up is to look at and what it would delete.
struct CleanupPlan {
  std::vector<CleanupCandidate> files;      // of all kinds but manifests
  std::vector<CleanupCandidate> manifests;  // of all that is in the three lists below
  std::vector<table::VersionEntry> versions;
  std::vector<Tombstone> tombstones;            // that earlier clean-ups left
  std::vector<table::VersionEntry> strays;      // of which the newest version does not descend
  std::vector<table::VersionEntry> lost_names;  // of the other scheme, of creators who are no more
  std::vector<std::string> index_folders;       // that would be left empty
  std::shared_ptr<CleanupLook> look;  // what was seen, to be looked at anew before deleting
  std::vector<ReferencedBranch> referenced_branches;
  // Versions that the options would let go.
  uint64_t num_tagged = 0;
  uint64_t num_branched_off = 0;  // and not tagged
  // What no version refers to, and is too young to go.
  uint64_t young_files = 0;
  uint64_t young_bytes = 0;
};

enum class CleanupScope : uint8_t {
  kAll,
  kVersions,    // and what only they refer to
  kUnverified,  // what no version refers to
};

// What a file stands and falls with, below the root of its table: "data/x.lance" for the large
// values of that file, "_indices/uuid" for the files of an index, and for others the file itself.
std::string WholeOf(const table::TableLocation& table, const std::string& path);

// Looks at every manifest of the branch, at the tags, and at the manifests of all other branches.
// `keep_from`: that version and all after it stay, as does the newest.
//
// InvalidInput for a handle on a detached version; a retryable conflict where the handle's version
// is not in the store, or is another table's.
arrow::Result<CleanupPlan> PlanCleanup(const Dataset& dataset, uint64_t keep_from,
                                       const CleanupOptions& options,
                                       CleanupScope scope = CleanupScope::kAll);

// What all of a plan comes to.
RemovalStats SumOf(const CleanupPlan& plan);

struct CleanupRun {
  RemovalStats removed;
  arrow::Status status;  // the progress callback's or a look's; what stays undeleted is counted
};

inline constexpr std::chrono::nanoseconds kLookEvery = std::chrono::seconds(2);

// Deletes what was planned, but for what is needed by then. Looks at that before it deletes files,
// and again every `look_every`, or less often where one look takes longer than a tenth of it.
CleanupRun RunCleanup(const Dataset& dataset, const CleanupPlan& plan,
                      const CleanupOptions& options,
                      std::chrono::nanoseconds look_every = kLookEvery);

// The clean-ups that the branches' own config asks for, ahead of one of what they refer to.
arrow::Result<RemovalStats> CleanReferencedBranches(const Dataset& dataset,
                                                    const std::vector<ReferencedBranch>& branches,
                                                    const CleanupOptions& options);

void Add(const RemovalStats& other, RemovalStats* stats);

// CleanUp with all that goes before it.
arrow::Result<RemovalStats> CleanUpFrom(const Dataset& dataset, uint64_t keep_from,
                                        const CleanupOptions& options);

// What the table's config says of clean-ups, whenever they are. InvalidInput for values that cannot
// be read.
arrow::Result<CleanupOptions> ConfiguredCleanup(const table::Manifest& manifest);

// What the version's config asks to be cleaned after it was made; nothing where it does not, or not
// this time. InvalidInput for values that cannot be read.
arrow::Result<std::optional<CleanupOptions>> AutoCleanup(const table::Manifest& manifest);

}  // namespace glaive::dataset
