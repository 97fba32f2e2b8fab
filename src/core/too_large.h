#pragma once

#include <utility>

#include <arrow/status.h>
#include <fmt/core.h>

namespace glaive {

// The rows of one batch take more bytes than a batch may have, or than 32-bit offsets can reach.
// The data is fine: the caller asks for fewer rows (core/pieces.h). Arrow's builders fail with the
// same code. Users see this error only for a single row that is too large, and then as
// InvalidInput.
template <typename... Args>
arrow::Status TooLarge(fmt::format_string<Args...> text, Args&&... args) {
  return arrow::Status::CapacityError(fmt::vformat(text, fmt::make_format_args(args...)));
}

inline bool IsTooLarge(const arrow::Status& status) { return status.IsCapacityError(); }

}  // namespace glaive
