#include "file/array_writer.h"

#include <charconv>
#include <utility>

#include "core/error.h"
#include "file/row_chunk.h"
#include "wire/file_columns.h"

namespace glaive::file {
namespace {

constexpr std::string_view kTypeUrl = "/lance.encodings.ArrayEncoding";

encoding::StringCompression CompressionOf(const wire::Field& field) {
  encoding::StringCompression compression;
  const auto scheme = field.metadata.find("lance-encoding:compression");
  if (scheme == field.metadata.end()) return compression;
  if (scheme->second == "zstd") compression.scheme = wire::CompressionScheme::kZstd;
  if (scheme->second == "lz4") compression.scheme = wire::CompressionScheme::kLz4;
  const auto level = field.metadata.find("lance-encoding:compression-level");
  if (level != field.metadata.end()) {
    int32_t value = 0;
    const std::string& text = level->second;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc()) compression.level = value;
  }
  return compression;
}

}  // namespace

ArrayWriter::ArrayWriter(const wire::Schema& schema) {
  for (const wire::Field& field : schema.fields) {
    top_columns_.push_back(num_columns_);
    std::vector<Brought> brings;
    Walk(field, 0, brings);
  }
  header_slots_.resize(num_columns_);
}

arrow::Status ArrayWriter::CheckTypes(const std::vector<wire::Field>& fields) {
  for (const wire::Field& field : fields) {
    const bool is_struct_list =
        field.logical_type.starts_with("fixed_size_list") && !field.children.empty();
    if (field.logical_type == "map" || is_struct_list) {
      return InvalidInput("column `{}`: files of version 2.0 hold no values of type {}", field.name,
                          field.logical_type);
    }
    ARROW_RETURN_NOT_OK(CheckTypes(field.children));
  }
  return arrow::Status::OK();
}

void ArrayWriter::Walk(const wire::Field& field, size_t depth, std::vector<Brought>& brings) {
  const size_t column = num_columns_++;
  if (!wire::HasChildColumns(field)) {
    leaves_.push_back({.column = column,
                       .brings = std::exchange(brings, {}),
                       .options = {.compression = CompressionOf(field)}});
    return;
  }
  const bool is_list = field.logical_type != "struct";
  if (!is_list) headers_.push_back(column);
  brings.push_back({depth, column, is_list});
  for (const wire::Field& child : field.children) Walk(child, depth + 1, brings);
}

arrow::Result<std::vector<encoding::EncodedPage>> ArrayWriter::Encode(size_t leaf,
                                                                      const LeafColumn& column,
                                                                      Pieces pieces) const {
  RowChunk chunk(column);
  for (auto& piece : pieces) {
    ARROW_RETURN_NOT_OK(chunk.Append(*piece, 0, piece->length, /*skip_hidden=*/true));
    piece.reset();
  }
  ARROW_ASSIGN_OR_RAISE(const auto rows, chunk.Finish());
  const Leaf& place = leaves_[leaf];
  std::vector<encoding::EncodedPage> pages(1);
  const arrow::ArrayData* node = rows.get();
  auto brings = place.brings.begin();
  for (size_t depth = 0; depth + 1 < column.nodes().size(); ++depth) {
    const NodeKind kind = column.nodes()[depth].kind;
    if (kind == NodeKind::kFixedList) break;
    if (kind == NodeKind::kStruct && node->GetNullCount() > 0) {
      return InvalidInput("column `{}`: files of version 2.0 hold no structs that are null",
                          column.nodes()[depth].name);
    }
    if (brings != place.brings.end() && brings->depth == depth) {
      if (brings->is_list) {
        ARROW_ASSIGN_OR_RAISE(pages.emplace_back(), encoding::EncodeArrayLists(*node));
      } else {
        pages.push_back(encoding::ArrayStructHeader(static_cast<uint64_t>(node->length)));
      }
      ++brings;
    }
    node = node->child_data[0].get();
  }
  ARROW_ASSIGN_OR_RAISE(pages.front(), encoding::EncodeArrayLeaf(*node, place.options));
  return pages;
}

void ArrayWriter::Add(size_t leaf, size_t page, const encoding::EncodedPage& encoded,
                      std::vector<ByteRange> buffers, std::vector<wire::ColumnMetadata>& columns) {
  const Leaf& place = leaves_[leaf];
  size_t column = place.column;
  if (page > 0) {
    const Brought& brought = place.brings[page - 1];
    column = brought.column;
    if (!brought.is_list) {
      header_slots_[column] += encoded.num_rows;
      return;
    }
  }
  if (encoded.num_rows == 0) return;  // below lists that are all empty
  columns[column].pages.push_back(
      {.buffers = std::move(buffers),
       .num_rows = encoded.num_rows,
       .encoding = {.type_url = std::string(kTypeUrl), .value = encoded.layout}});
}

arrow::Status ArrayWriter::Finish(uint64_t num_rows, std::vector<wire::ColumnMetadata>& columns) {
  for (const size_t column : headers_) {
    const auto header = encoding::ArrayStructHeader(header_slots_[column]);
    columns[column].pages.push_back(
        {.num_rows = header.num_rows,
         .encoding = {.type_url = std::string(kTypeUrl), .value = header.layout}});
  }
  for (const size_t column : top_columns_) {
    uint64_t rows = 0;
    for (const wire::Page& page : columns[column].pages) rows += page.num_rows;
    if (rows == num_rows) continue;
    return Internal("column {} of a file of {} rows has pages of {}", column, num_rows, rows);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::file
