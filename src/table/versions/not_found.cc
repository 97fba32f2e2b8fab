#include "table/versions/not_found.h"

#include <optional>
#include <string>

#include "core/error.h"
#include "io/contents.h"
#include "table/versions/versions.h"

namespace glaive::table {
namespace {

constexpr int kMaxDepth = 2;  // of a table's files below its root

// The table that a place is a part of.
std::optional<std::string> TableAbove(const TableLocation& table) {
  std::string folder = table.root;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const size_t slash = folder.rfind('/');
    if (slash == 0 || slash == std::string::npos) return std::nullopt;
    folder.resize(slash);
    const auto latest = LatestVersion({table.store, folder, folder});
    if (latest.ok() && *latest) return folder;
  }
  return std::nullopt;
}

}  // namespace

arrow::Status TableNotFound(const TableLocation& table) {
  const std::string contents = io::DescribeContents(table.store, table.root);
  if (contents.empty()) return NotFound("Dataset at path {} was not found", table.uri);
  if (const auto above = TableAbove(table)) {
    return NotFound("Dataset at path {} was not found: {} lies there, within the table {}",
                    table.uri, contents, *above);
  }
  return NotFound(
      "Dataset at path {} was not found: {} lies there; a table is a folder with manifests in "
      "_versions/",
      table.uri, contents);
}

bool IsGone(const arrow::Status& status) {
  if (status.ok()) return false;
  return KindOf(status) == ErrorKind::kNotFound || KindOf(status) == ErrorKind::kFileNotFound;
}

}  // namespace glaive::table
