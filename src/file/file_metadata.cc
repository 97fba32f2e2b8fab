#include "file/file_metadata.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/error.h"
#include "file/footer.h"

namespace glaive::file {
namespace {

// Enough for the metadata of most files, and less than the wait for another answer costs.
constexpr uint64_t kTailSize = uint64_t{64} << 10;

using BufferPtr = std::shared_ptr<arrow::Buffer>;

std::span<const std::byte> AsBytes(const arrow::Buffer& buffer) {
  return std::as_bytes(std::span(buffer.data(), static_cast<size_t>(buffer.size())));
}

// A file whose last bytes were read already.
class TailedFile {
 public:
  static arrow::Result<TailedFile> Open(io::ObjectReader& reader) {
    const uint64_t size = std::min(reader.size_bytes(), kTailSize);
    TailedFile file(reader, reader.size_bytes() - size);
    ARROW_ASSIGN_OR_RAISE(file.tail_, reader.Read({file.tail_begin_, size}));
    return file;
  }

  // Ranges out of the tail where it holds them; the others in one round.
  template <size_t kCount>
  arrow::Result<std::array<BufferPtr, kCount>> Read(const std::array<ByteRange, kCount>& ranges) {
    std::array<BufferPtr, kCount> buffers;
    std::vector<ByteRange> missing;
    for (size_t i = 0; i < kCount; ++i) {
      if (ranges[i].offset < tail_begin_) {
        missing.push_back(ranges[i]);
      } else {
        buffers[i] = arrow::SliceBuffer(tail_, static_cast<int64_t>(ranges[i].offset - tail_begin_),
                                        static_cast<int64_t>(ranges[i].size));
      }
    }
    if (missing.empty()) return buffers;
    ARROW_ASSIGN_OR_RAISE(auto read, reader_.ReadMany(missing));
    auto next = read.begin();
    for (BufferPtr& buffer : buffers) {
      if (buffer == nullptr) buffer = std::move(*next++);
    }
    return buffers;
  }

  // Null where the file is longer than its tail.
  BufferPtr Whole() const { return tail_begin_ == 0 ? tail_ : nullptr; }

 private:
  TailedFile(io::ObjectReader& reader, uint64_t tail_begin)
      : reader_(reader), tail_begin_(tail_begin) {}

  io::ObjectReader& reader_;
  uint64_t tail_begin_;
  BufferPtr tail_;
};

arrow::Result<Footer> ReadFooter(TailedFile& file, uint64_t file_size, const std::string& path) {
  if (file_size < kFooterSize) {
    return Corrupt({path, 0}, "the file has {} bytes, its footer alone should have {}", file_size,
                   kFooterSize);
  }
  ARROW_ASSIGN_OR_RAISE(const auto bytes,
                        file.Read(std::array{ByteRange{file_size - kFooterSize, kFooterSize}}));
  return ParseFooter(AsBytes(*bytes[0]).first<kFooterSize>(), file_size, path);
}

arrow::Result<std::vector<ByteRange>> ReadGlobalBufferTable(TailedFile& file, const Footer& footer,
                                                            const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file.Read(std::array{footer.global_buffer_table}));
  const Location where = {path, footer.global_buffer_table.offset};
  ARROW_ASSIGN_OR_RAISE(auto buffers,
                        ParseOffsetTable(AsBytes(*bytes[0]), where, footer.column_metadata_position,
                                         "global buffer"));
  for (size_t i = 0; i < buffers.size() && footer.version != FileVersion::k2_0; ++i) {
    if (buffers[i].offset % kBufferAlignment != 0) {
      return Corrupt(where.Plus(i * kTableEntrySize),
                     "the global buffer {} is at byte {}, no multiple of {}", i, buffers[i].offset,
                     kBufferAlignment);
    }
  }
  return buffers;
}

// In 2.0 pages do not say which of their column's slots they begin with. Those of items are as many
// as the lists want.
arrow::Status CountArraySlots(wire::ColumnMetadata& column, size_t column_index, Location where) {
  constexpr uint64_t kMostSlots = uint64_t{1} << 60;
  uint64_t slots = 0;
  for (wire::Page& page : column.pages) {
    page.priority = slots;
    if (page.num_rows > kMostSlots - slots) {
      return Corrupt(where, "column {} has {} + {} slots", column_index, slots, page.num_rows);
    }
    slots += page.num_rows;
  }
  return arrow::Status::OK();
}

// Pages follow each other without a gap, and lie in the data region.
arrow::Status CheckPages(const wire::ColumnMetadata& column, size_t column_index,
                         const FileMetadata& file, uint64_t data_end, Location where) {
  uint64_t rows = 0;
  const bool of_arrays = file.version == FileVersion::k2_0;
  for (size_t i = 0; i < column.pages.size(); ++i) {
    const wire::Page& page = column.pages[i];
    if (page.priority != rows) {
      return Corrupt(where, "page {} of column {} begins at row {}, {} expected", i, column_index,
                     page.priority, rows);
    }
    if (!of_arrays && page.num_rows > file.num_rows - rows) {
      return Corrupt(where, "page {} of column {} has rows {} to {} + {}, the file has {} rows", i,
                     column_index, rows, rows, page.num_rows, file.num_rows);
    }
    rows += page.num_rows;
    for (const ByteRange& buffer : page.buffers) {
      if (buffer.offset > data_end || buffer.size > data_end - buffer.offset) {
        return Corrupt(where,
                       "page {} of column {} has a buffer at byte {} with {} bytes, expected "
                       "before byte {}",
                       i, column_index, buffer.offset, buffer.size, data_end);
      }
      if (!of_arrays && buffer.size != 0 && buffer.offset % kBufferAlignment != 0) {
        return Corrupt(where, "page {} of column {} has a buffer at byte {}, no multiple of {}", i,
                       column_index, buffer.offset, kBufferAlignment);
      }
    }
  }
  return arrow::Status::OK();
}

// `end` holds the file from the first column metadata on.
arrow::Status ReadColumns(std::span<const std::byte> end, const Footer& footer,
                          const std::string& path, FileMetadata& file) {
  const uint64_t begin = footer.column_metadata_position;
  ARROW_ASSIGN_OR_RAISE(
      file.column_metadata,
      ParseOffsetTable(end.subspan(footer.column_table.offset - begin, footer.column_table.size),
                       {path, footer.column_table.offset}, footer.position(),
                       "metadata of column"));
  file.columns.reserve(file.column_metadata.size());
  for (size_t i = 0; i < file.column_metadata.size(); ++i) {
    const ByteRange& range = file.column_metadata[i];
    if (range.offset < begin) {
      return Corrupt({path, footer.column_table.offset + i * kTableEntrySize},
                     "the metadata of column {} is at byte {}, expected from byte {} on", i,
                     range.offset, begin);
    }
    const Location where = {path, range.offset};
    ARROW_ASSIGN_OR_RAISE(auto column, wire::ParseColumnMetadata(
                                           end.subspan(range.offset - begin, range.size), where));
    if (file.version == FileVersion::k2_0) {
      ARROW_RETURN_NOT_OK(CountArraySlots(column, i, where));
    }
    ARROW_RETURN_NOT_OK(CheckPages(column, i, file, begin, where));
    file.columns.push_back(std::move(column));
  }
  return arrow::Status::OK();
}

uint64_t MemoryBytes(const wire::Field& field) {
  uint64_t bytes = sizeof(wire::Field) + field.name.size() + field.logical_type.size();
  for (const auto& [key, value] : field.metadata) bytes += 128 + key.size() + value.size();
  for (const wire::Field& child : field.children) bytes += MemoryBytes(child);
  return bytes;
}

}  // namespace

uint64_t FileMetadata::memory_bytes() const {
  uint64_t bytes = sizeof(FileMetadata);
  for (const wire::Field& field : schema.fields) bytes += MemoryBytes(field);
  for (const auto& [key, value] : schema.metadata) bytes += 128 + key.size() + value.size();
  for (const wire::ColumnMetadata& column : columns) {
    bytes += sizeof(column) + sizeof(ByteRange) * (column.buffers.size() + 1) +
             column.encoding.type_url.size();
    for (const wire::Page& page : column.pages) {
      bytes += sizeof(page) + sizeof(ByteRange) * page.buffers.size() +
               page.encoding.type_url.size() + page.encoding.value.size();
    }
  }
  return bytes + sizeof(ByteRange) * global_buffers.size();
}

arrow::Result<OpenedFile> ReadFileMetadata(io::ObjectReader& reader, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(TailedFile file, TailedFile::Open(reader));
  ARROW_ASSIGN_OR_RAISE(const Footer footer, ReadFooter(file, reader.size_bytes(), path));
  auto metadata = std::make_shared<FileMetadata>(FileMetadata{.version = footer.version,
                                                              .footer_major = footer.major,
                                                              .footer_minor = footer.minor,
                                                              .file_size = footer.file_size});
  metadata->column_metadata_region = {
      footer.column_metadata_position,
      footer.global_buffer_table.offset - footer.column_metadata_position};
  ARROW_ASSIGN_OR_RAISE(metadata->global_buffers, ReadGlobalBufferTable(file, footer, path));

  const ByteRange descriptor_range = metadata->global_buffers[0];
  const ByteRange end_range = {footer.column_metadata_position,
                               footer.position() - footer.column_metadata_position};
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file.Read(std::array{descriptor_range, end_range}));
  ARROW_ASSIGN_OR_RAISE(
      wire::FileDescriptor descriptor,
      wire::ParseFileDescriptor(AsBytes(*bytes[0]), {path, descriptor_range.offset}));
  metadata->schema = std::move(descriptor.schema);
  metadata->num_rows = descriptor.num_rows;
  ARROW_RETURN_NOT_OK(ReadColumns(AsBytes(*bytes[1]), footer, path, *metadata));
  return OpenedFile{std::move(metadata), file.Whole()};
}

}  // namespace glaive::file
