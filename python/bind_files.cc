#include "glaive/files.h"

#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindFileLists(nb::module_& m) {
  nb::class_<TrackedFile>(m, "TrackedFile")
      .def_ro("version", &TrackedFile::version)
      .def_ro("base_uri", &TrackedFile::base_uri)
      .def_ro("path", &TrackedFile::path)
      .def_prop_ro("role", [](const TrackedFile& file) { return NameOf(file.role); });
  nb::class_<StoredFile>(m, "StoredFile")
      .def_ro("path", &StoredFile::path)
      .def_ro("size_bytes", &StoredFile::size_bytes)
      .def_ro("modified_ns", &StoredFile::modified_ns);
  m.def(
      "tracked_files",
      [](const Dataset& dataset, std::optional<uint64_t> min_version, nb::object progress) {
        const Call call;
        VersionProgress report;
        if (!progress.is_none()) {
          report = [&](uint64_t done, uint64_t total) -> arrow::Status {
            nb::gil_scoped_acquire acquire;
            try {
              progress(done, total);
            } catch (nb::python_error& error) {
              return call.kept()->Keep(std::move(error));
            }
            return arrow::Status::OK();
          };
        }
        return call.Run([&] { return TrackedFiles(dataset, min_version, report); });
      },
      "dataset"_a, "min_version"_a.none(), "progress"_a.none());
  m.def(
      "stored_files",
      [](const Dataset& dataset) { return Call().Run([&] { return StoredFiles(dataset); }); },
      "dataset"_a);
  m.def(
      "bytes_of_fields",
      [](const Dataset& dataset) {
        const auto sizes = Call().Run([&] { return BytesOfFields(dataset); });
        std::vector<std::pair<int32_t, uint64_t>> pairs;
        for (const FieldBytes& size : sizes) pairs.emplace_back(size.field_id, size.bytes);
        return pairs;
      },
      "dataset"_a);
}

}  // namespace glaive::python
