#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

#include <arrow/result.h>

#include "call.h"

namespace glaive::python {

// Calls Python from inside of the engine: takes the GIL, keeps what is raised.
template <typename Work>
auto CallBack(const std::shared_ptr<KeptException>& kept, Work&& work)
    -> arrow::Result<decltype(work())> {
  nb::gil_scoped_acquire acquire;
  try {
    return work();
  } catch (nb::python_error& error) {
    return kept->Keep(std::move(error));
  } catch (const std::exception& error) {  // of a cast: not what was to be returned
    return arrow::Status::TypeError(error.what());
  }
}

// A Python object in a function of the engine, which may be destroyed without the GIL.
class Held {
 public:
  explicit Held(nb::object object) : object_(new nb::object(std::move(object)), &Release) {}
  const nb::object& operator*() const { return *object_; }

 private:
  static void Release(nb::object* object) {
    nb::gil_scoped_acquire acquire;
    delete object;
  }
  std::shared_ptr<nb::object> object_;
};

}  // namespace glaive::python
