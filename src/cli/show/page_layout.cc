#include "cli/show/page_layout.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <arrow/type.h>
#include <fmt/format.h>

#include "cli/show/terminal.h"
#include "glaive/files.h"

namespace glaive::cli {
namespace {

// Names of the columns of values below a field, in the order in which a file holds them.
void AppendLeafNames(const std::string& name, const arrow::DataType& type,
                     std::vector<std::string>& names) {
  if (type.id() == arrow::Type::STRUCT) {
    for (const auto& child : type.fields()) {
      AppendLeafNames(fmt::format("{}.{}", name, child->name()), *child->type(), names);
    }
  } else if (type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
             type.id() == arrow::Type::MAP) {
    AppendLeafNames(name, *type.field(0)->type(), names);
  } else {
    names.push_back(name);
  }
}

std::vector<std::string> ColumnNames(const FileInfo& file) {
  std::vector<std::string> names;
  for (const auto& field : file.schema->fields()) {
    AppendLeafNames(field->name(), *field->type(), names);
  }
  // Files before 2.1 have columns for lists and structs as well.
  if (names.size() != file.columns.size()) {
    names.clear();
    for (size_t i = 0; i < file.columns.size(); ++i) names.push_back(fmt::format("column {}", i));
  }
  return names;
}

ColumnPages& ColumnOf(PageLayout& layout, const std::string& name) {
  const auto found = std::ranges::find(layout.columns, name, &ColumnPages::name);
  if (found != layout.columns.end()) return *found;
  return layout.columns.emplace_back(ColumnPages{.name = name, .pages = {}});
}

void AddFile(const FileInfo& file, uint64_t first_row, PageLayout& layout) {
  const std::vector<std::string> names = ColumnNames(file);
  for (size_t i = 0; i < file.columns.size(); ++i) {
    ColumnPages& column = ColumnOf(layout, names[i]);
    for (const PageInfo& page : file.columns[i].pages) {
      const uint64_t size =
          std::accumulate(page.buffers.begin(), page.buffers.end(), uint64_t{0},
                          [](uint64_t sum, const BufferInfo& buffer) { return sum + buffer.size; });
      column.pages.push_back(
          {.first_row = first_row + page.first_row, .num_rows = page.num_rows, .size_bytes = size});
    }
  }
}

}  // namespace

uint64_t ColumnPages::size_bytes() const {
  uint64_t sum = 0;
  for (const PageExtent& page : pages) sum += page.size_bytes;
  return sum;
}

uint64_t PageLayout::num_pages() const {
  uint64_t sum = 0;
  for (const ColumnPages& column : columns) sum += column.pages.size();
  return sum;
}

arrow::Result<PageLayout> ReadPageLayout(const Dataset& dataset, uint64_t max_fragments) {
  ARROW_ASSIGN_OR_RAISE(std::vector<FragmentMetadata> fragments, dataset.Fragments());
  PageLayout layout;
  if (max_fragments > 0 && fragments.size() > max_fragments) {
    layout.fragments_left_out = fragments.size() - max_fragments;
    fragments.erase(fragments.begin() + static_cast<ptrdiff_t>(max_fragments), fragments.end());
  }
  layout.num_fragments = fragments.size();
  for (const FragmentMetadata& fragment : fragments) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    layout.fragment_starts.push_back(layout.num_rows);
    for (const DataFileInfo& file : fragment.files()) {
      if (file.base_id) {
        return arrow::Status::NotImplemented("pages of ", file.path,
                                             ", which lies under another base path");
      }
      ARROW_ASSIGN_OR_RAISE(const auto reader, DataFileReader::Open(fmt::format(
                                                   "{}/data/{}", dataset.uri(), file.path)));
      AddFile(reader->info(), layout.num_rows, layout);
      layout.file_bytes += file.file_size_bytes;
    }
    layout.num_rows += fragment.physical_rows();
  }
  return layout;
}

}  // namespace glaive::cli
