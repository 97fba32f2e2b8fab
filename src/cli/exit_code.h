#pragma once

#include <string>
#include <string_view>

#include <arrow/status.h>

#include "glaive/error.h"

namespace glaive::cli {

// What the command ends with. Scripts rely on these; they are listed by `glaive --help`.
enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,      // the store, memory, or a defect
  kUsage = 2,        // an argument that cannot work
  kNotFound = 3,     // no such table, version or file
  kConflict = 4,     // another writer was in the way; doing it again may help
  kDamaged = 5,      // bytes that break a rule of the format
  kUnsupported = 6,  // valid, but not built here
  kDifferent = 7,    // two tables that were compared are not equal
  kInterrupted = 130,
};

inline constexpr char kExitCodesHelp[] =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict with another writer,\n"
    "5 damaged file, 6 not supported, 7 compared and different, 130 interrupted.";

ExitCode ExitCodeFor(const arrow::Status& status);

// What a verb found out, as the error that it ends with.
arrow::Status DamageFound(std::string message);
arrow::Status ReadsFailed(std::string message);
arrow::Status DifferenceFound(std::string message);

// "damaged", "I/O error", ...
std::string_view NameOf(ErrorKind kind);

// An error as one line: "Corrupt: data/a.lance at byte 12: ...".
std::string ErrorLine(const arrow::Status& status);

}  // namespace glaive::cli
