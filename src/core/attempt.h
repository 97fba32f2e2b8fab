#pragma once

#include <cxxabi.h>

#include <type_traits>

#include <arrow/status.h>

namespace glaive {

// The exception that is being handled, as an error: OutOfMemory of a std::bad_alloc, else Internal
// with its text.
arrow::Status StatusOfException();

// What `work` returns, or what it throws as a Status. For work whose end others wait for, and for
// the work of threads, where an exception would end the process.
template <typename Work>
std::invoke_result_t<Work&> Attempt(Work&& work) {
  try {
    return work();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being ended, and must be
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace glaive
