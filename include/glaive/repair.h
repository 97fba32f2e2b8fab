#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

class Session;

/// One thing that a repair does. Nothing is overwritten, and no data file is removed.
struct RepairStep {
  enum class Kind : uint8_t {
    kMoveManifestAside,  ///< of a version above all readable ones: it gets another name
    kDropFragment,       ///< a commit that takes it out; older versions keep it
    kDropIndex,          ///< the same for an index whose files are gone
    kReleaseName,        ///< no table is there, since its creator died while it held this name
  };
  Kind kind = Kind::kMoveManifestAside;
  std::string path;          ///< the manifest, the name, or the file that cannot be read
  std::string new_path;      ///< of a manifest moved aside
  uint64_t fragment_id = 0;  ///< kDropFragment
  uint64_t rows_lost = 0;    ///< kDropFragment: that were live
  std::string index_uuid;    ///< kDropIndex
  std::string reason;        ///< what was found, for people
};

struct RepairPlan {
  uint64_t version = 0;  ///< the newest readable one, which the fragments are of; 0: none is there
  std::vector<RepairStep> steps;
  /// What is wrong and is not for a repair to change: damage in older versions, say.
  std::vector<std::string> left_alone;
  /// What the store failed to read, so that nobody knows whether it is damaged.
  std::vector<std::string> unread;
};

struct RepairOptions {
  /// Whether to decode every value in the search for fragments that cannot be read; without, only
  /// files that are missing, cut or have a damaged end are found.
  bool read_values = true;
  /// Of the handle that Repair gives; the process-wide one when null. What is wrong is looked for
  /// in the store, whatever a session has of it.
  std::shared_ptr<Session> session;
  VersionOptions version;  ///< of all versions that it makes
};

/// What has to be done for the newest version to be readable whole. Changes nothing. A fragment is
/// in the plan only if its files are provably unreadable (missing, or Corrupt when read), never for
/// an I/O error or something that this build does not know.
///
/// A creator of a table of V1 names that is at work looks like one that died: call this while there
/// is none.
///
/// Errors: NotFound where there is no table; Corrupt if no version is readable at all.
arrow::Result<RepairPlan> PlanRepair(std::string_view uri, const RepairOptions& options = {});

/// Carries out a plan. Each step is checked again before: one that no longer holds ends the call
/// with InvalidInput, having changed nothing. Fragments and indices go in one commit, which loses
/// against concurrent writers as a delete does. Nothing is returned where the plan has no version.
arrow::Result<std::optional<Dataset>> Repair(std::string_view uri, const RepairPlan& plan,
                                             const RepairOptions& options = {});

}  // namespace glaive
