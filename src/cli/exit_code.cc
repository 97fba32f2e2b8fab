#include "cli/exit_code.h"

#include <string>
#include <string_view>

#include "glaive/error.h"

namespace glaive::cli {
namespace {

struct KindText {
  std::string_view name;
  ExitCode code;
};

KindText Describe(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidInput: return {"invalid input", kUsage};
    case ErrorKind::kNotFound: return {"not found", kNotFound};
    case ErrorKind::kFileNotFound: return {"file not found", kNotFound};
    case ErrorKind::kAlreadyExists: return {"already exists", kFailure};
    case ErrorKind::kIO: return {"I/O error", kFailure};
    case ErrorKind::kCorrupt: return {"damaged", kDamaged};
    case ErrorKind::kCommitUnknown: return {"outcome unknown", kFailure};
    case ErrorKind::kCommitConflict: return {"conflict", kConflict};
    case ErrorKind::kUnsupported: return {"not supported", kUnsupported};
    case ErrorKind::kCancelled: return {"interrupted", kInterrupted};
    case ErrorKind::kOutOfMemory: return {"out of memory", kFailure};
    case ErrorKind::kInternal: return {"internal error", kFailure};
  }
  return {"error", kFailure};
}

}  // namespace

ExitCode ExitCodeFor(const arrow::Status& status) {
  return status.ok() ? kSuccess : Describe(KindOf(status)).code;
}

std::string ErrorLine(const arrow::Status& status) {
  std::string line(Describe(KindOf(status)).name);
  line += ": ";
  for (const char c : status.message()) {
    if (c != '\n') {
      line += c;
    } else if (!line.ends_with("; ")) {
      line += "; ";
    }
  }
  return line;
}

}  // namespace glaive::cli
