#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "glaive/fragment.h"

#include "bind_error.h"
#include "bindings.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

nb::object Text(const std::string& text) {
  // A path that is no UTF-8 shows as in ToJson().
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal(decoded);
}

template <typename Int>
nb::object OrNone(const std::optional<Int>& value) {
  if (!value) return nb::none();
  return nb::int_(*value);
}

nb::list Integers(const std::vector<int32_t>& values) {
  nb::list integers;
  for (const int32_t value : values) integers.append(value);
  return integers;
}

// Id, rows, files as the arguments of the package's DataFile, and written_for as in ToJson(), of
// fragments that have no more to tell.
nb::object PlainValues(const FragmentMetadata& fragment) {
  if (!fragment.has_files_only()) return nb::none();
  nb::list files;
  for (const DataFileInfo& file : fragment.files()) {
    files.append(nb::make_tuple(
        Text(file.path), Integers(file.fields), Integers(file.column_indices),
        file.file_major_version, file.file_minor_version,
        OrNone(file.file_size_bytes == 0 ? std::nullopt : std::optional(file.file_size_bytes)),
        OrNone(file.base_id)));
  }
  nb::object written_for = nb::none();
  if (const auto target = fragment.written_for()) {
    nb::dict values;
    values["version"] = target->version;
    values["transaction"] = Text(target->transaction);
    written_for = std::move(values);
  }
  return nb::make_tuple(fragment.id(), fragment.physical_rows(), std::move(files),
                        std::move(written_for));
}

}  // namespace

void BindFragment(nb::module_& m) {
  nb::class_<FragmentMetadata>(m, "FragmentMetadata")
      .def_static(
          "from_json",
          [](const std::string& json) { return ValueOrRaise(FragmentMetadata::FromJson(json)); },
          "json"_a)
      .def("to_json", &FragmentMetadata::ToJson)
      .def("plain_values", &PlainValues)
      .def_prop_ro("id", &FragmentMetadata::id)
      .def_prop_ro("physical_rows", &FragmentMetadata::physical_rows)
      .def_prop_ro("num_deletions", &FragmentMetadata::num_deletions)
      .def_prop_ro("num_rows", &FragmentMetadata::num_rows)
      .def_prop_ro("deletion_path",
                   [](const FragmentMetadata& fragment) -> nb::object {
                     const auto file = fragment.deletion_file();
                     return file.has_value() ? nb::cast(file->path) : nb::none();
                   })
      .def("__eq__", [](const FragmentMetadata& left, const FragmentMetadata& right) {
        return left == right;
      });
}

}  // namespace glaive::python
