#include <memory>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include "glaive/session.h"

#include "bindings.h"

namespace glaive::python {

using namespace nb::literals;

void BindSession(nb::module_& m) {
  nb::class_<Session>(m, "Session")
      .def(nb::new_([](const nb::int_& bytes) {
             // OverflowError where it is negative or has more than 64 bits.
             const uint64_t number = PyLong_AsUnsignedLongLong(bytes.ptr());
             if (PyErr_Occurred() != nullptr) throw nb::python_error();
             return std::make_shared<Session>(number);
           }),
           "metadata_cache_bytes"_a = Session::kDefaultMetadataCacheBytes)
      .def_static("default", [] { return Session::Default(); })
      .def("size_bytes", &Session::size_bytes)
      .def(
          "is_same_as", [](const Session& self, const Session& other) { return &self == &other; },
          "other"_a);

  nb::class_<IoStats>(m, "IoStats")
      .def_ro("get_requests", &IoStats::get_requests)
      .def_ro("put_requests", &IoStats::put_requests)
      .def_ro("list_requests", &IoStats::list_requests)
      .def_ro("head_requests", &IoStats::head_requests)
      .def_ro("delete_requests", &IoStats::delete_requests)
      .def_ro("bytes_read", &IoStats::bytes_read)
      .def_ro("bytes_written", &IoStats::bytes_written)
      .def_ro("dependent_rounds", &IoStats::dependent_rounds);
  nb::class_<IoRecorder>(m, "IoRecorder").def(nb::init<>()).def("stats", &IoRecorder::stats);
}

}  // namespace glaive::python
