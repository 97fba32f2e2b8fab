#include "wire/relative_path.h"

#include <algorithm>

namespace glaive::wire {

bool StaysBelow(std::string_view path) {
  constexpr std::string_view kForbidden("\0\\", 2);
  if (path.find_first_of(kForbidden) != std::string_view::npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

arrow::Status CheckStaysBelow(std::string_view path, std::string_view what, Location where) {
  if (StaysBelow(path)) return arrow::Status::OK();
  return Corrupt(where, "the path of {} is '{}', which is none below the table's folder", what,
                 path);
}

}  // namespace glaive::wire
