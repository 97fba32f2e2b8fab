#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/write_once.h"
#include "encoding/levels/leaf.h"
#include "file/file_reader.h"
#include "file/page_description.h"
#include "glaive/files.h"
#include "io/object_store.h"
#include "read/row_pieces.h"
#include "wire/file_columns.h"

namespace glaive {
namespace {

// Small batches are cut out of pieces of about this size: a page is decoded in blocks, and every
// read of a few rows would decode whole ones. Columns that are stored in next to nothing are
// limited by rows.
constexpr uint64_t kPieceBytes = 8 << 20;
constexpr uint64_t kMaxPieceRows = 128 << 10;

// A top-level field, and the columns of the file that its leaves are.
struct FieldColumns {
  std::shared_ptr<arrow::Field> field;
  std::vector<encoding::LeafPath> leaves;
  std::vector<uint32_t> columns;
};

std::vector<file::ColumnRead> ColumnReads(const std::vector<FieldColumns>& fields) {
  std::vector<file::ColumnRead> reads;
  for (const FieldColumns& field : fields) {
    for (size_t i = 0; i < field.leaves.size(); ++i) {
      reads.push_back({field.columns[i], &field.leaves[i]});
    }
  }
  return reads;
}

// What is read of a file. Shared by the batch readers, which may outlive the DataFileReader.
struct Projection {
  std::shared_ptr<file::FileReader> file;
  std::vector<FieldColumns> fields;
  std::shared_ptr<arrow::Schema> schema;

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(std::span<const RowRange> rows,
                                                          uint64_t most_bytes) const;
  file::FileReader::RowSize SizeFrom(uint64_t row) const {
    return file->SizeFrom(ColumnReads(fields), row);
  }
};

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Projection::Read(std::span<const RowRange> rows,
                                                                    uint64_t most_bytes) const {
  ARROW_ASSIGN_OR_RAISE(auto leaves, file->ReadColumns(ColumnReads(fields), rows, most_bytes));
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  auto next = std::make_move_iterator(leaves.begin());
  for (const FieldColumns& field : fields) {
    const auto end = next + static_cast<std::ptrdiff_t>(field.leaves.size());
    ARROW_ASSIGN_OR_RAISE(auto array, encoding::AssembleField(*field.field, {next, end}));
    arrays.push_back(std::move(array));
    next = end;
  }
  return arrow::RecordBatch::Make(schema, static_cast<int64_t>(CountRows(rows)), std::move(arrays));
}

// The fields of a file that are asked for, all where nothing is said.
arrow::Result<Projection> Project(std::shared_ptr<file::FileReader> file,
                                  const std::optional<std::vector<std::string>>& names) {
  const wire::Schema& schema = file->metadata().schema;
  std::vector<std::vector<uint32_t>> leaf_columns;  // of each field
  uint32_t column = 0;
  for (const wire::Field& field : schema.fields) {
    leaf_columns.emplace_back();
    const wire::Schema alone = {.fields = {field}};
    for (const auto& of_field : wire::FileColumns(alone, file->metadata().version)) {
      if (of_field.is_leaf) leaf_columns.back().push_back(column);
      ++column;
    }
  }
  std::vector<size_t> chosen;
  if (!names) {
    for (size_t i = 0; i < schema.fields.size(); ++i) chosen.push_back(i);
  } else {
    for (const std::string& name : *names) {
      const auto found = std::find_if(schema.fields.begin(), schema.fields.end(),
                                      [&](const auto& field) { return field.name == name; });
      if (found == schema.fields.end()) {
        return InvalidInput("column '{}' is not in the file '{}'", name, file->path());
      }
      chosen.push_back(static_cast<size_t>(found - schema.fields.begin()));
    }
  }
  Projection projection = {.file = std::move(file)};
  std::vector<std::shared_ptr<arrow::Field>> arrow_fields;
  for (const size_t i : chosen) {
    FieldColumns columns = {.columns = leaf_columns[i]};
    ARROW_ASSIGN_OR_RAISE(columns.field, wire::ToArrow(schema.fields[i]));
    ARROW_ASSIGN_OR_RAISE(columns.leaves, encoding::LeavesOf(*columns.field));
    if (columns.leaves.size() != columns.columns.size()) {
      return Corrupt({projection.file->path()}, "column '{}' has {} columns, {} expected",
                     columns.field->name(), columns.columns.size(), columns.leaves.size());
    }
    arrow_fields.push_back(columns.field);
    projection.fields.push_back(std::move(columns));
  }
  ARROW_ASSIGN_OR_RAISE(const auto whole, wire::ToArrow(wire::Schema{.metadata = schema.metadata}));
  projection.schema = arrow::schema(std::move(arrow_fields), whole->metadata());
  return projection;
}

// Batches of the rows of some ranges, read a piece at a time. One ends early where its rows decode
// to more than a batch may hold.
class FileBatches final : public arrow::RecordBatchReader {
 public:
  FileBatches(std::shared_ptr<const Projection> projection, std::vector<RowRange> rows,
              uint64_t batch_size)
      : projection_(std::move(projection)),
        batch_size_(batch_size),
        pieces_(*projection_, std::move(rows),
                {.bytes = kPieceBytes,
                 .min_rows = batch_size,
                 .max_rows = std::max(kMaxPieceRows, batch_size),
                 .multiple = batch_size}) {}

  std::shared_ptr<arrow::Schema> schema() const override { return projection_->schema; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    batch->reset();
    if (piece_ == nullptr || offset_ == piece_->num_rows()) {
      if (pieces_.at_end()) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(piece_, pieces_.Next([](std::shared_ptr<arrow::RecordBatch> rows) {
        return arrow::Result(std::move(rows));
      }));
      offset_ = 0;
    }
    *batch = piece_->Slice(offset_, static_cast<int64_t>(batch_size_));
    offset_ += (*batch)->num_rows();
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<const Projection> projection_;
  uint64_t batch_size_;
  read::RowPieces<Projection> pieces_;
  std::shared_ptr<arrow::RecordBatch> piece_;
  int64_t offset_ = 0;  // in piece_
};

std::vector<BufferInfo> ToInfo(std::span<const ByteRange> ranges) {
  std::vector<BufferInfo> buffers;
  buffers.reserve(ranges.size());
  for (const ByteRange& range : ranges) buffers.push_back({range.offset, range.size});
  return buffers;
}

// The sums are pylance's: column metadata is counted with its table, the data region with padding.
FileInfo MakeInfo(const file::FileMetadata& metadata, std::shared_ptr<arrow::Schema> schema) {
  FileInfo info = {.schema = std::move(schema),
                   .num_rows = metadata.num_rows,
                   .major_version = metadata.footer_major,
                   .minor_version = metadata.footer_minor,
                   .num_column_metadata_bytes = metadata.column_metadata_region.size,
                   .global_buffers = ToInfo(metadata.global_buffers)};
  for (const ByteRange& buffer : metadata.global_buffers) {
    info.num_global_buffer_bytes += buffer.size;
  }
  info.num_data_bytes =
      metadata.column_metadata_region.offset -
      std::min(metadata.column_metadata_region.offset, info.num_global_buffer_bytes);
  for (const wire::ColumnMetadata& column : metadata.columns) {
    ColumnInfo column_info = {.column_buffers = ToInfo(column.buffers)};
    for (const wire::Page& page : column.pages) {
      column_info.pages.push_back({.buffers = ToInfo(page.buffers),
                                   .num_rows = page.num_rows,
                                   .first_row = page.priority,
                                   .encoding = file::DescribePage(page)});
    }
    info.columns.push_back(std::move(column_info));
  }
  return info;
}

class OpenDataFile final : public DataFileReader {
 public:
  OpenDataFile(std::shared_ptr<const Projection> projection,
               std::shared_ptr<arrow::Schema> whole_schema)
      : projection_(std::move(projection)), whole_schema_(std::move(whole_schema)) {}

  const FileInfo& info() const override {
    if (const FileInfo* made = info_.Get()) return *made;
    return info_.Put(MakeInfo(projection_->file->metadata(), whole_schema_));
  }

  std::shared_ptr<arrow::Schema> schema() const override { return projection_->schema; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(uint64_t first_row,
                                                                uint64_t num_rows,
                                                                uint64_t batch_size) override {
    const uint64_t rows_of_file = projection_->file->metadata().num_rows;
    if (first_row > rows_of_file || num_rows > rows_of_file - first_row) {
      return InvalidInput("cannot read {} rows from row {} on: the file has {} rows", num_rows,
                          first_row, rows_of_file);
    }
    return Batches({{first_row, first_row + num_rows}}, batch_size);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Take(std::span<const uint64_t> rows,
                                                                uint64_t batch_size) override {
    std::vector<RowRange> ranges;
    for (const uint64_t row : rows) {
      if (row >= projection_->file->metadata().num_rows) {
        return InvalidInput("cannot read row {}: the file has {} rows", row,
                            projection_->file->metadata().num_rows);
      }
      if (ranges.empty() || row > ranges.back().end) {
        ranges.push_back({row, row + 1});
      } else if (row == ranges.back().end) {
        ++ranges.back().end;
      } else {
        return InvalidInput("rows must be strictly ascending, row {} comes after row {}", row,
                            ranges.back().end - 1);
      }
    }
    return Batches(std::move(ranges), batch_size);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(uint32_t index) override {
    return projection_->file->ReadGlobalBuffer(index);
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Batches(std::vector<RowRange> rows,
                                                                   uint64_t batch_size) const {
    if (batch_size == 0) return InvalidInput("a batch must have at least one row");
    batch_size = std::min<uint64_t>(batch_size, INT64_MAX);
    return std::make_shared<FileBatches>(projection_, std::move(rows), batch_size);
  }

  std::shared_ptr<const Projection> projection_;
  std::shared_ptr<arrow::Schema> whole_schema_;
  mutable WriteOnce<FileInfo> info_;
};

}  // namespace

arrow::Result<std::shared_ptr<DataFileReader>> DataFileReader::Open(
    std::string_view uri, std::optional<std::vector<std::string>> columns) {
  ARROW_ASSIGN_OR_RAISE(const io::ResolvedUri resolved, io::Resolve(uri));
  ARROW_ASSIGN_OR_RAISE(auto file, file::FileReader::Open(resolved.store, resolved.path,
                                                          /*size_bytes=*/std::nullopt));
  ARROW_ASSIGN_OR_RAISE(auto schema, wire::ToArrow(file->metadata().schema));
  ARROW_ASSIGN_OR_RAISE(Projection projection, Project(std::move(file), columns));
  return std::make_shared<OpenDataFile>(std::make_shared<const Projection>(std::move(projection)),
                                        std::move(schema));
}

}  // namespace glaive
