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

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const RepairPlan plan, PlanRepair("/data/images.lance"));
//     for (const RepairStep& step : plan.steps) std::cout << step.reason << "\n";
//     ARROW_ASSIGN_OR_RAISE(const auto repaired, Repair("/data/images.lance", plan));
//     ARROW_ASSIGN_OR_RAISE(const FileSurvey survey, SurveyFiles("/data/images.lance"));
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
  /// Faults that a repair does not change, for example damage in older versions.
  std::vector<std::string> left_alone;
  /// Files that the store failed to read, so that their state is not known.
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

/// Plans the changes that make the newest version readable as a whole. Changes nothing. A fragment
/// is in the plan only if its files are provably unreadable (missing, or Corrupt when read), never
/// for an I/O error or something that this build does not know.
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

enum class TableFileKind : uint8_t {
  kData,         ///< data/, with what lies beside a data file
  kDeletions,    ///< _deletions/
  kTransaction,  ///< _transactions/
  kIndex,        ///< _indices/
  kTemporary,    ///< a name under which a writer had begun a file
};

/// A file of a table that no version refers to.
struct OrphanFile {
  std::string path;  ///< relative to the table's root
  TableFileKind kind = TableFileKind::kData;
  uint64_t size_bytes = 0;
  std::optional<int64_t> modified_ns;  ///< since the Unix epoch, where the store tells
  /// Younger than seven days, so that a writer that is still at work may be about to refer to it.
  bool is_recent = true;
};

/// A file that some version refers to and that is not there.
struct MissingFile {
  std::string path;
  std::string version;  ///< "7", "7 of branch dev", ...: one of those that refer to it
};

struct FileSurvey {
  std::vector<OrphanFile> orphans;   ///< ascending by path
  std::vector<MissingFile> missing;  ///< those that would lie under the table's root
  uint64_t num_files = 0;            ///< looked at
  uint64_t num_versions = 0;         ///< whose references were followed: see below
};

struct SurveyOptions {
  /// Cached versions are not read again; the process-wide session when null. Adds nothing to it,
  /// because a pass over all versions would evict the entries of others.
  std::shared_ptr<Session> session;
  ProgressCallback progress;
};

/// Compares the files below the root of a table with the files of its versions: all versions that
/// are there, tagged or not, detached ones, and those of its branches. Files are listed before
/// versions, so a file that is committed meanwhile is no orphan. The survey does not know other
/// tables that use these files, for example shallow clones.
///
/// Errors: NotFound if there is no table; InvalidInput for the folder of a branch (survey its table
/// instead); Corrupt or Unsupported if a version cannot be read: the files to which it refers are
/// then not known.
arrow::Result<FileSurvey> SurveyFiles(std::string_view uri, const SurveyOptions& options = {});

}  // namespace glaive
