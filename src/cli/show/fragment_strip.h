#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace glaive::cli {

// Fragments as one line of cells, in order of their ids: a picture of where in a table something
// is. `marks` has a character for each fragment; where several share a cell, the one that comes
// first in `priority` is shown.
std::string DrawFragments(const std::map<uint64_t, char>& marks, const std::string& priority,
                          uint64_t width);

}  // namespace glaive::cli
