#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "cli/show/page_layout.h"

namespace glaive::cli {

// The pages of each column as blocks, `width` cells wide: along a line run the rows of the table;
// neighbouring pages differ in shade, and a cell in which several pages begin is dotted.
std::string DrawBlocks(const PageLayout& layout, uint64_t width);

// A layout with its headline and the lines below it.
struct Panel {
  std::string title;
  std::vector<std::string> captions;
  PageLayout layout;
};

// The same as an SVG picture, panels below each other.
arrow::Status WriteSvg(const std::vector<Panel>& panels, const std::string& path);

}  // namespace glaive::cli
