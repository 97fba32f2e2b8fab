#pragma once

#include <utility>

#include <arrow/status.h>
#include <fmt/core.h>

namespace glaive {

// What was asked of one batch takes more bytes than a batch may have, or than 32-bit offsets reach.
// No fault of the data: who asked for many rows asks for fewer (core/pieces.h). Arrow's own
// builders fail with the same code. To users it is an InvalidInput, of a single row that has too
// much.
template <typename... Args>
arrow::Status TooLarge(fmt::format_string<Args...> text, Args&&... args) {
  return arrow::Status::CapacityError(fmt::vformat(text, fmt::make_format_args(args...)));
}

inline bool IsTooLarge(const arrow::Status& status) { return status.IsCapacityError(); }

}  // namespace glaive
