#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/progress.h"

namespace glaive {

class Session;

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
  /// What it has of the versions is not read again; the process-wide one when null. Nothing is
  /// added to it, since a pass over all versions would push out what others use.
  std::shared_ptr<Session> session;
  ProgressCallback progress;
};

/// Compares the files that lie under a table's root with what its versions refer to: all versions
/// that are there, tagged or not, detached ones, and those of its branches. Files are listed before
/// versions, so what is committed meanwhile is no orphan. Tables elsewhere that use these files,
/// such as shallow clones, are not known here.
///
/// Errors: NotFound where there is no table; InvalidInput for a branch's folder (ask about its
/// table); Corrupt or Unsupported when some version cannot be read, since what it refers to is then
/// not known.
arrow::Result<FileSurvey> SurveyFiles(std::string_view uri, const SurveyOptions& options = {});

}  // namespace glaive
