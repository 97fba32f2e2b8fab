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

}  // namespace glaive::python
