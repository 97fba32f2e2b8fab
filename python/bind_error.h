#pragma once

#include <arrow/result.h>

namespace glaive::python {

// Raises the class of glaive.errors that belongs to the error's kind. Call with the GIL held.
[[noreturn]] void RaiseStatus(const arrow::Status& status);

// The value, or its error raised. For what neither reads nor waits; else Call::Run.
template <typename T>
T ValueOrRaise(arrow::Result<T> result) {
  if (!result.ok()) RaiseStatus(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace glaive::python
