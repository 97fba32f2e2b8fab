#include "cli/exit_code.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// Not a failure of the engine: it did what it was asked.
class Difference final : public arrow::StatusDetail {
 public:
  static constexpr char kTypeId[] = "glaive::cli::Difference";
  const char* type_id() const override { return kTypeId; }
  std::string ToString() const override { return "different"; }
};

KindText Describe(const arrow::Status& status) {
  const auto& detail = status.detail();
  if (detail != nullptr && std::string_view(detail->type_id()) == Difference::kTypeId) {
    return {"different", kDifferent};
  }
  return Describe(KindOf(status));
}

}  // namespace

ExitCode ExitCodeFor(const arrow::Status& status) {
  return status.ok() ? kSuccess : Describe(status).code;
}

arrow::Status DamageFound(std::string message) {
  return {arrow::StatusCode::IOError, std::move(message),
          std::make_shared<ErrorDetail>(ErrorKind::kCorrupt, false, "", std::nullopt)};
}

arrow::Status ReadsFailed(std::string message) {
  return {arrow::StatusCode::IOError, std::move(message),
          std::make_shared<ErrorDetail>(ErrorKind::kIO, false, "", std::nullopt)};
}

arrow::Status DifferenceFound(std::string message) {
  return {arrow::StatusCode::Invalid, std::move(message), std::make_shared<Difference>()};
}

std::string_view NameOf(ErrorKind kind) { return Describe(kind).name; }

std::string ErrorLine(const arrow::Status& status) {
  std::string line(Describe(status).name);
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
