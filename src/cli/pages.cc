#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/page_layout.h"
#include "cli/show/page_picture.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"

namespace glaive::cli {
namespace {

nlohmann::ordered_json ToJson(const PageLayout& layout) {
  auto columns = nlohmann::ordered_json::array();
  for (const ColumnPages& column : layout.columns) {
    auto pages = nlohmann::ordered_json::array();
    for (const PageExtent& page : column.pages) {
      pages.push_back(
          {{"first_row", page.first_row}, {"rows", page.num_rows}, {"bytes", page.size_bytes}});
    }
    columns.push_back(
        {{"name", column.name}, {"bytes", column.size_bytes()}, {"pages", std::move(pages)}});
  }
  return {{"rows", layout.num_rows},
          {"fragments", layout.num_fragments},
          {"fragments_left_out", layout.fragments_left_out},
          {"file_bytes", layout.file_bytes},
          {"pages", layout.num_pages()},
          {"columns", std::move(columns)}};
}

}  // namespace

arrow::Status Pages(const PagesOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                        Dataset::Open(options.uri, {.version = options.version}));
  ARROW_ASSIGN_OR_RAISE(PageLayout layout, ReadPageLayout(dataset, options.limit));
  const std::string headline =
      fmt::format("{}  version {}: {}, {}, {}", dataset.uri(), dataset.version(),
                  Counted(layout.num_rows, "row"), Counted(layout.num_fragments, "fragment"),
                  Counted(layout.num_pages(), "page"));
  if (options.json) {
    fmt::print("{}\n", ToJson(layout).dump(2));
  } else {
    fmt::print("{}\n{}", headline, DrawBlocks(layout, TerminalWidth()));
    if (layout.fragments_left_out > 0) {
      fmt::print("  ({} more fragments; --limit 0 shows all)\n",
                 FormatCount(layout.fragments_left_out));
    }
  }
  if (!options.svg_path.empty()) {
    ARROW_RETURN_NOT_OK(WriteSvg({{.title = headline, .captions = {}, .layout = std::move(layout)}},
                                 options.svg_path));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::cli
