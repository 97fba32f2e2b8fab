#include "cli/show/page_picture.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "cli/show/terminal.h"

namespace glaive::cli {
namespace {

constexpr size_t kNameWidth = 14;

std::string ShortName(const std::string& name) {
  return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 2) + "..";
}

// What stands in one cell of a line.
struct Cell {
  uint64_t pages_begun = 0;
  bool odd = false;  // of the last page that covers it
};

std::vector<Cell> Cells(const ColumnPages& column, uint64_t num_rows, uint64_t width) {
  std::vector<Cell> cells(width);
  const auto cell_of = [&](uint64_t row) {
    const double place =
        static_cast<double>(row) / static_cast<double>(std::max<uint64_t>(1, num_rows));
    return std::min(width, static_cast<uint64_t>(place * static_cast<double>(width)));
  };
  bool odd = false;
  for (const PageExtent& page : column.pages) {
    const uint64_t begin = std::min(cell_of(page.first_row), width - 1);
    const uint64_t end = std::max(begin + 1, cell_of(page.first_row + page.num_rows));
    ++cells[begin].pages_begun;
    for (uint64_t i = begin; i < end; ++i) cells[i].odd = odd;
    odd = !odd;
  }
  return cells;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

// Measures of the picture, in pixels.
constexpr double kWidth = 860;
constexpr double kMargin = 20;
constexpr double kLaneLeft = 150;
constexpr double kLaneWidth = kWidth - kLaneLeft - kMargin;
constexpr double kLaneHeight = 26;
constexpr double kLaneGap = 8;
constexpr double kLine = 19;

double PanelHeight(const Panel& panel) {
  return 34 + kLine * static_cast<double>(panel.captions.size()) + 14 +
         (kLaneHeight + kLaneGap) * static_cast<double>(panel.layout.columns.size()) + 12;
}

// One column: a rectangle per page, and its name and counts to the left.
std::string SvgLane(const ColumnPages& column, uint64_t num_rows, double top) {
  std::string svg = fmt::format(
      "<text x=\"{}\" y=\"{:.1f}\" class=\"name\">{}</text>"
      "<text x=\"{}\" y=\"{:.1f}\" class=\"note\">{}, {}</text>\n",
      kMargin, top + 11, Escape(ShortName(column.name)), kMargin, top + 24,
      Counted(column.pages.size(), "page"), FormatBytes(column.size_bytes()));
  const double scale = kLaneWidth / static_cast<double>(std::max<uint64_t>(1, num_rows));
  bool odd = false;
  for (const PageExtent& page : column.pages) {
    const double full = static_cast<double>(page.num_rows) * scale;
    const double gap = full > 3 ? 1.0 : 0.0;
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" class=\"{}\"/>\n",
        kLaneLeft + static_cast<double>(page.first_row) * scale, top, std::max(0.3, full - gap),
        kLaneHeight, odd ? "b" : "a");
    odd = !odd;
  }
  return svg;
}

std::string SvgPanel(const Panel& panel, double top) {
  double y = top + 22;
  std::string svg = fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"title\">{}</text>\n", kMargin,
                                y, Escape(panel.title));
  for (const std::string& caption : panel.captions) {
    y += kLine;
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"caption\">{}</text>\n", kMargin, y,
                       Escape(caption));
  }
  y += 18;
  const double scale =
      kLaneWidth / static_cast<double>(std::max<uint64_t>(1, panel.layout.num_rows));
  for (const uint64_t start : panel.layout.fragment_starts) {  // ticks where fragments begin
    svg +=
        fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"1\" height=\"5\" class=\"tick\"/>\n",
                    kLaneLeft + static_cast<double>(start) * scale, y - 7);
  }
  for (const ColumnPages& column : panel.layout.columns) {
    svg += SvgLane(column, panel.layout.num_rows, y);
    y += kLaneHeight + kLaneGap;
  }
  return svg;
}

constexpr std::string_view kSvgStyle =
    "<style>text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#24292f}"
    ".title{font-size:16px;font-weight:600}.caption{font-size:13px}.name{font-size:12px;"
    "font-weight:600}.note{font-size:10px;fill:#57606a}.a{fill:#2f6fb5}.b{fill:#86b6e8}"
    ".tick{fill:#8c959f}</style>\n";

}  // namespace

std::string DrawBlocks(const PageLayout& layout, uint64_t width) {
  constexpr uint64_t kTextWidth = kNameWidth + 26;
  const uint64_t cells = width > kTextWidth + 20 ? width - kTextWidth : 20;
  std::string text;
  for (const ColumnPages& column : layout.columns) {
    std::string line;
    for (const Cell& cell : Cells(column, layout.num_rows, cells)) {
      line += cell.pages_begun > 1 ? "░" : cell.odd ? "▓" : "█";
    }
    text += fmt::format("  {:<{}} {}  {}, {}\n", ShortName(column.name), kNameWidth, line,
                        Counted(column.pages.size(), "page"), FormatBytes(column.size_bytes()));
  }
  return text;
}

arrow::Status WriteSvg(const std::vector<Panel>& panels, const std::string& path) {
  double height = 8;
  for (const Panel& panel : panels) height += PanelHeight(panel);
  std::ofstream file(path);
  file << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0} {1:.0f}\">\n{2}<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, height, kSvgStyle);
  double top = 4;
  for (const Panel& panel : panels) {
    file << SvgPanel(panel, top);
    top += PanelHeight(panel);
  }
  file << "</svg>\n";
  file.close();
  if (!file) return arrow::Status::IOError("could not write ", path);
  return arrow::Status::OK();
}

}  // namespace glaive::cli
