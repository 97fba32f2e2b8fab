#include "cli/show/fragment_strip.h"

#include <algorithm>

namespace glaive::cli {

std::string DrawFragments(const std::map<uint64_t, char>& marks, const std::string& priority,
                          uint64_t width) {
  const uint64_t count = marks.size();
  const uint64_t cells = std::min(std::max<uint64_t>(width, 1), count);
  std::string strip(cells, ' ');
  uint64_t position = 0;
  for (const auto& [id, mark] : marks) {
    char& cell = strip[position++ * cells / count];
    if (cell == ' ' || priority.find(mark) < priority.find(cell)) cell = mark;
  }
  return strip;
}

}  // namespace glaive::cli
