#include "call.h"

#include <chrono>

#include <arrow/status.h>

namespace glaive::python {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};  // each look costs a turn of the GIL

}  // namespace

arrow::Status KeptException::Keep(nb::python_error exception) {
  const bool cancelled = exception.matches(PyExc_KeyboardInterrupt);
  const char* text = exception.what();
  arrow::Status status = cancelled ? arrow::Status::Cancelled("interrupted")
                                   : arrow::Status::UnknownError("Python raised ", text);
  exception_.emplace(std::move(exception));
  return status;
}

void KeptException::Raise() {
  if (!exception_.has_value()) return;
  nb::python_error exception = std::move(*exception_);
  exception_.reset();
  throw exception;
}

ProgressCallback Call::PollSignals() const {
  using Clock = std::chrono::steady_clock;
  return [kept = kept_,
          next = Clock::now() + kPollInterval](const Progress&) mutable -> arrow::Status {
    if (Clock::now() < next) return arrow::Status::OK();
    nb::gil_scoped_acquire acquire;
    next = Clock::now() + kPollInterval;
    if (PyErr_CheckSignals() == 0) return arrow::Status::OK();
    return kept->Keep(nb::python_error());
  };
}

// Python would raise it as soon as the call returns, and nobody could tell whether there is a new
// version.
void Call::RaiseIfInterrupted(const Dataset& made) {
  if (PyErr_CheckSignals() == 0) return;
  nb::python_error exception;
  if (exception.matches(PyExc_KeyboardInterrupt)) {
    nb::raise_from(exception, PyExc_KeyboardInterrupt,
                   "interrupted when the call had succeeded: %s is at version %llu",
                   made.uri().c_str(), static_cast<unsigned long long>(made.version()));
  }
  throw exception;
}

}  // namespace glaive::python
