#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace glaive::python {

namespace nb = nanobind;

// A `__repr__`: the class with attributes of it, or of what they hold ("metrics.files_added" is
// shown as files_added). Texts that are empty are left out.
class Repr {
 public:
  Repr(std::initializer_list<std::string_view> attributes)
      : attributes_(attributes.begin(), attributes.end()) {}

  std::string operator()(nb::handle self) const {
    std::string text;
    for (std::string_view path : attributes_) {
      nb::object value = nb::borrow(self);
      while (true) {
        const size_t dot = path.find('.');
        value = value.attr(std::string(path.substr(0, dot)).c_str());
        if (dot == std::string_view::npos) break;
        path.remove_prefix(dot + 1);
      }
      if (nb::isinstance<nb::str>(value) && nb::len(value) == 0) continue;
      if (!text.empty()) text += ", ";
      text.append(path).append("=").append(TextOf(value));
    }
    return nb::cast<std::string>(self.type().attr("__name__")) + "(" + text + ")";
  }

 private:
  static std::string TextOf(nb::handle value) {
    if (nb::isinstance<nb::float_>(value)) {
      return nb::cast<std::string>(nb::str("{:.3f}").format(value));
    }
    return nb::cast<std::string>(nb::repr(value));
  }

  std::vector<std::string_view> attributes_;
};

}  // namespace glaive::python
