#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"

#include "bind_error.h"

namespace glaive::python {

namespace nb = nanobind;

// The Python exception that ended a call from inside: a source's own, or what a signal handler
// raised. A Status can only carry its text through the engine; the exception itself waits here.
// Touched with the GIL held only.
class KeptException {
 public:
  // Takes over an exception that was just caught, and gives the error for the engine to return.
  arrow::Status Keep(nb::python_error exception);

  // Raises it, if there is one.
  void Raise();

 private:
  std::optional<nb::python_error> exception_;
};

// One call from Python into the engine. The GIL is held on entry and return, and not while the
// engine works.
class Call {
 public:
  const std::shared_ptr<KeptException>& kept() const { return kept_; }

  // Lets Ctrl-C end the call: the engine then removes what is unfinished, and KeyboardInterrupt (or
  // whatever the handler raised) is raised.
  ProgressCallback PollSignals() const;

  // What `work` returns, an arrow::Result, or its error raised. A Ctrl-C that came too late to end
  // a call which gives a dataset is raised with the version that there is now.
  template <typename Work>
  auto Run(Work&& work) const {
    auto result = [&] {
      nb::gil_scoped_release release;
      return std::forward<Work>(work)();
    }();
    if (!result.ok()) {
      kept_->Raise();
      RaiseStatus(result.status());
    }
    if (const Dataset* made = DatasetIn(*result)) RaiseIfInterrupted(*made);
    return std::move(result).ValueUnsafe();
  }

  // The same for an arrow::Status.
  template <typename Work>
  void RunStatus(Work&& work) const {
    Run([&]() -> arrow::Result<bool> {
      ARROW_RETURN_NOT_OK(std::forward<Work>(work)());
      return true;
    });
  }

 private:
  template <typename Value>
  static const Dataset* DatasetIn(const Value& value) {
    if constexpr (std::is_same_v<Value, Dataset>) {
      return &value;
    } else if constexpr (requires {
                           { value.dataset } -> std::convertible_to<const Dataset&>;
                         }) {
      return &value.dataset;
    } else {
      return nullptr;
    }
  }
  static void RaiseIfInterrupted(const Dataset& made);

  std::shared_ptr<KeptException> kept_ = std::make_shared<KeptException>();
};

}  // namespace glaive::python
