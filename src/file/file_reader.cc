#include "file/file_reader.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/fork_lock.h"
#include "core/too_large.h"
#include "encoding/array/page.h"
#include "encoding/structural/layout/open_page.h"
#include "file/array_column.h"
#include "file/page_rows.h"
#include "wire/encodings_v2_3.h"

namespace glaive::file {
namespace {

constexpr std::string_view kArrayEncodingMessage = "lance.encodings.ArrayEncoding";
constexpr std::string_view kColumnEncodingMessage = "lance.encodings.ColumnEncoding";

// A type URL names its message after the last '/'.
std::string_view MessageName(std::string_view type_url) {
  return type_url.substr(type_url.rfind('/') + 1);
}

// Only a column of plain values is read here; the first tag of a ColumnEncoding tells which it is.
arrow::Status CheckColumnEncoding(const wire::ColumnMetadata& column, uint32_t index,
                                  Location where) {
  const std::string_view message = MessageName(column.encoding.type_url);
  if (message != kColumnEncodingMessage) {
    return Corrupt(where, "column {} is encoded by a '{}', a '{}' is expected", index, message,
                   kColumnEncodingMessage);
  }
  const wire::DirectEncoding values = wire::ValuesColumnEncoding();
  if (column.encoding.value.starts_with(values.value)) return arrow::Status::OK();
  constexpr char kZoneIndexTag = 0x12;
  constexpr char kBlobTag = 0x1a;
  const std::string_view value = column.encoding.value;
  if (value.starts_with(kZoneIndexTag)) {
    return Unsupported(where, "column {} has a zone index", index);
  }
  if (value.starts_with(kBlobTag)) return Unsupported(where, "column {} holds blobs", index);
  return Corrupt(where, "the encoding of column {} is none that is known", index);
}

// What ObjectReader::ReadMany gives, out of the bytes of the `whole` file where those are at hand.
arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> Fetch(
    io::ObjectReader& reader, const std::shared_ptr<arrow::Buffer>& whole,
    std::span<const ByteRange> ranges) {
  if (whole == nullptr) return reader.ReadMany(ranges);
  const auto size = static_cast<uint64_t>(whole->size());
  std::vector<std::shared_ptr<arrow::Buffer>> buffers;
  buffers.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    // Where this is not so, the reader says it in the words of every file.
    if (range.offset > size || range.size > size - range.offset) return reader.ReadMany(ranges);
    buffers.push_back(arrow::SliceBuffer(whole, static_cast<int64_t>(range.offset),
                                         static_cast<int64_t>(range.size)));
  }
  return buffers;
}

// Lets all reads take their steps together until none wants anything more.
arrow::Status RunRounds(io::ObjectReader& reader, const std::shared_ptr<arrow::Buffer>& whole,
                        std::span<const std::unique_ptr<encoding::PageRead>> reads) {
  std::vector<ByteRange> wanted;
  std::vector<encoding::PageRead*> waiting;
  while (true) {
    wanted.clear();
    waiting.clear();
    for (const auto& read : reads) {
      if (read->wanted().empty()) continue;
      wanted.insert(wanted.end(), read->wanted().begin(), read->wanted().end());
      waiting.push_back(read.get());
    }
    if (wanted.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto buffers, Fetch(reader, whole, wanted));
    auto next = std::make_move_iterator(buffers.begin());
    for (encoding::PageRead* read : waiting) {
      const auto end = next + static_cast<std::ptrdiff_t>(read->wanted().size());
      ARROW_RETURN_NOT_OK(read->Supply({next, end}));
      next = end;
    }
  }
}

// What of a page's decoded bytes some of its rows make up. In 2.0 a reading knows that itself.
struct Expected {
  const encoding::PageDecoder* decoder;
  uint64_t num_rows;
  const ArrayColumnRead* read = nullptr;

  double BytesOf(int64_t rows) const {
    if (read != nullptr) return read->expected_bytes();
    return static_cast<double>(decoder->decoded_bytes()) /
           static_cast<double>(std::max<uint64_t>(num_rows, 1)) * static_cast<double>(rows);
  }
};

// What a leaf holds so far. The last row may not be whole.
struct LeafSize {
  explicit LeafSize(encoding::LeafBuilder& builder)
      : rows(builder.state().layers.front().num_slots()),
        bytes(builder.state().values.size_bytes()) {}

  int64_t rows;
  uint64_t bytes;
};

arrow::Status CheckPageMessage(const FileMetadata& file, const std::string& path, uint32_t column,
                               size_t page) {
  const wire::Page& metadata = file.columns[column].pages[page];
  const std::string_view message = MessageName(metadata.encoding.type_url);
  const std::string_view expected = file.version == FileVersion::k2_0
                                        ? kArrayEncodingMessage
                                        : MessageName(wire::PageTypeUrl(file.version));
  if (message == expected) return arrow::Status::OK();
  return Corrupt({path, file.column_metadata[column].offset},
                 "page {} of column {} is encoded by a '{}', a '{}' is expected", page, column,
                 message, expected);
}

// The files of 2.0: which columns lie below which lists, and these.
struct ArrayFile {
  const FileMetadata& metadata;
  const std::string& path;
  const std::vector<ArrayColumn>& columns;

  encoding::ArraySource SourceOf(uint32_t column, size_t page) const {
    const wire::ColumnMetadata& of_column = metadata.columns[column];
    return {.page_buffers = of_column.pages[page].buffers,
            .column_buffers = of_column.buffers,
            .file_buffers = metadata.global_buffers,
            .num_slots = of_column.pages[page].num_rows,
            .is_dictionary = columns[column].is_dictionary,
            .path = path,
            .metadata_offset = metadata.column_metadata[column].offset,
            .file_size = metadata.file_size};
  }

  // A column of lists, which has no more items than the column below it.
  arrow::Result<std::shared_ptr<const ListColumn>> OpenLists(uint32_t column,
                                                             uint32_t below) const {
    const wire::ColumnMetadata& of_column = metadata.columns[column];
    const Location where = {path, metadata.column_metadata[column].offset};
    ARROW_RETURN_NOT_OK(CheckColumnEncoding(of_column, column, where));
    auto lists = std::make_shared<ListColumn>();
    lists->first_items.push_back(0);
    const uint64_t num_items = NumRows(metadata.columns[below]);
    for (size_t i = 0; i < of_column.pages.size(); ++i) {
      ARROW_RETURN_NOT_OK(CheckPageMessage(metadata, path, column, i));
      const auto encoding = std::as_bytes(std::span(of_column.pages[i].encoding.value));
      ARROW_ASSIGN_OR_RAISE(auto page, encoding::ListPage::Open(encoding, SourceOf(column, i)));
      if (page->num_items() > num_items - lists->first_items.back()) {
        return Corrupt(where, "page {} of column {} has {} items after {}, column {} has {}", i,
                       column, page->num_items(), lists->first_items.back(), below, num_items);
      }
      lists->first_items.push_back(lists->first_items.back() + page->num_items());
      lists->pages.push_back(std::move(page));
    }
    return lists;
  }
};

}  // namespace

// What a reader keeps for the reads to come. Each of its decoders suits the leaf it was made for
// alone, and which that is the table says, who may contradict itself from one field or version to
// the next.
struct FileReader::Cache {
  using Key = std::pair<uint32_t, size_t>;

  struct Kept {
    encoding::LeafPath path;
    std::shared_ptr<encoding::PageDecoder> decoder;
  };

  std::shared_ptr<encoding::PageDecoder> Find(Key key, const encoding::LeafPath& path) {
    const auto contents = losable.Lock();
    const auto found = contents->decoders.find(key);
    return found != contents->decoders.end() && found->second.path == path ? found->second.decoder
                                                                           : nullptr;
  }

  // The one to use: another thread may have been first.
  std::shared_ptr<encoding::PageDecoder> Add(Key key, const encoding::LeafPath& path,
                                             std::shared_ptr<encoding::PageDecoder> decoder) {
    const auto contents = losable.Lock();
    const Kept& kept = contents->decoders.try_emplace(key, Kept{path, decoder}).first->second;
    return kept.path == path ? kept.decoder : decoder;
  }

  arrow::Result<std::shared_ptr<const ListColumn>> Lists(const ArrayFile& file, uint32_t column,
                                                         uint32_t below) {
    {
      const auto contents = losable.Lock();
      const auto found = contents->lists.find(column);
      if (found != contents->lists.end()) return found->second;
    }
    ARROW_ASSIGN_OR_RAISE(auto lists, file.OpenLists(column, below));
    return losable.Lock()->lists.try_emplace(column, std::move(lists)).first->second;
  }

  // The leaf and the lists above it. Borrows the file.
  arrow::Result<ArrayColumnPages> ArrayPages(const ArrayFile& file, const ColumnRead& column,
                                             ArrayColumnPages::Decoder decoder) {
    const std::vector<uint32_t>& lists = array_columns[column.column].lists;
    if (lists.size() != static_cast<size_t>(column.path->num_lists())) {
      return Corrupt({file.path}, "column {} lies below {} lists, {} expected", column.column,
                     lists.size(), column.path->num_lists());
    }
    ArrayColumnPages pages = {.pages = &file.metadata.columns[column.column].pages,
                              .decoder = std::move(decoder),
                              .path = file.path};
    for (size_t i = 0; i < lists.size(); ++i) {
      const uint32_t below = i + 1 < lists.size() ? lists[i + 1] : column.column;
      ARROW_ASSIGN_OR_RAISE(auto of_list, Lists(file, lists[i], below));
      pages.lists.push_back({&file.metadata.columns[lists[i]].pages, std::move(of_list)});
    }
    return pages;
  }

  // The outermost list above a column, or the column itself.
  uint32_t OutermostOf(uint32_t column) const {
    if (array_columns.empty() || array_columns[column].lists.empty()) return column;
    return array_columns[column].lists.front();
  }

  // How many times what its pages tell a column came to, the last time that it was read.
  double FactorOf(uint32_t column) {
    const auto contents = losable.Lock();
    const auto found = contents->factors.find(column);
    return found == contents->factors.end() ? 1 : found->second;
  }

  // Rows that were expected to take so many bytes have taken so many.
  void Learn(uint32_t column, double expected, uint64_t actual) {
    // What validity or an estimate is off by is of no use, and would take the lock each time.
    constexpr double kNotable = 1.25;
    constexpr double kSmall = 64 << 10;
    const auto bytes = static_cast<double>(actual);
    if (bytes < kSmall) return;
    const double factor = bytes / std::max(expected, 1.0);
    const auto contents = losable.Lock();
    if (factor > kNotable) {
      contents->factors[column] = factor;
    } else if (!contents->factors.empty()) {
      contents->factors.erase(column);
    }
  }

  std::shared_ptr<arrow::Buffer> TakeWhole() {
    return std::exchange(losable.Lock()->whole, nullptr);
  }

  uint64_t memory_bytes() {
    const auto contents = losable.Lock();
    const auto& whole = contents->whole;
    uint64_t bytes = whole == nullptr ? 0 : static_cast<uint64_t>(whole->size());
    for (const auto& [key, kept] : contents->decoders) bytes += kept.decoder->memory_bytes();
    constexpr uint64_t kListPageBytes = sizeof(encoding::ListPage) + 2 * sizeof(uint64_t);
    for (const auto& [key, lists] : contents->lists) bytes += lists->pages.size() * kListPageBytes;
    return bytes;
  }

  struct Contents {
    std::map<Key, Kept> decoders;
    std::map<uint32_t, std::shared_ptr<const ListColumn>> lists;  // of a file of 2.0
    std::map<uint32_t, double> factors;  // of columns that come to more than they tell
    std::shared_ptr<arrow::Buffer>
        whole;  // the file, where it is small and nobody has read columns
  };
  Losable<Contents> losable;
  std::vector<ArrayColumn> array_columns;  // of a file of 2.0, one for each column
};

arrow::Result<std::shared_ptr<FileReader>> FileReader::Open(std::shared_ptr<io::ObjectStore> store,
                                                            std::string path,
                                                            std::optional<uint64_t> size_bytes) {
  std::shared_ptr<FileReader> reader(new FileReader);
  ARROW_ASSIGN_OR_RAISE(reader->reader_, store->OpenRead(path, size_bytes));
  ARROW_ASSIGN_OR_RAISE(OpenedFile file, ReadFileMetadata(*reader->reader_, path));
  reader->metadata_ = std::move(file.metadata);
  reader->path_ = std::move(path);
  reader->cache_ = std::make_shared<Cache>();
  reader->cache_->losable.Lock()->whole = std::move(file.whole);
  const FileMetadata& metadata = *reader->metadata_;
  if (metadata.version == FileVersion::k2_0) {
    ARROW_ASSIGN_OR_RAISE(reader->cache_->array_columns,
                          ArrayColumnsOf(metadata.schema, metadata.columns.size(), reader->path_));
  }
  return reader;
}

arrow::Result<std::shared_ptr<encoding::PageDecoder>> FileReader::Decoder(const ColumnRead& column,
                                                                          size_t page_index) {
  const Cache::Key key = {column.column, page_index};
  if (auto decoder = cache_->Find(key, *column.path)) return decoder;
  const wire::ColumnMetadata& metadata = metadata_->columns[column.column];
  const wire::Page& page = metadata.pages[page_index];
  const uint64_t offset = metadata_->column_metadata[column.column].offset;
  ARROW_RETURN_NOT_OK(CheckColumnEncoding(metadata, column.column, {path_, offset}));
  ARROW_RETURN_NOT_OK(CheckPageMessage(*metadata_, path_, column.column, page_index));
  if (metadata_->version == FileVersion::k2_0) {
    const ArrayFile file = {*metadata_, path_, cache_->array_columns};
    ARROW_ASSIGN_OR_RAISE(
        auto decoder,
        encoding::OpenArrayPage(std::as_bytes(std::span(page.encoding.value)),
                                file.SourceOf(column.column, page_index), *column.path));
    return cache_->Add(key, *column.path, std::move(decoder));
  }
  const encoding::PageSource source = {
      .buffers = page.buffers,
      .num_rows = page.num_rows,
      .layout = std::as_bytes(std::span(page.encoding.value)),
      .version = metadata_->version,
      .path = path_,
      .layout_offset = offset,
      .file_size = metadata_->file_size,
  };
  ARROW_ASSIGN_OR_RAISE(auto decoder, encoding::OpenPage(source, *column.path));
  return cache_->Add(key, *column.path, std::move(decoder));
}

arrow::Result<std::vector<encoding::LeafRows>> FileReader::ReadColumns(
    std::span<const ColumnRead> columns, std::span<const RowRange> rows, uint64_t most_bytes) {
  std::vector<std::unique_ptr<encoding::PageRead>> reads;  // column by column, in row order
  std::vector<Expected> expected;                          // of each of them
  std::vector<size_t> ends;                                // of each column in `reads`
  const ArrayFile of_arrays = {*metadata_, path_, cache_->array_columns};
  const auto decoder_of = [this](const ColumnRead& column) {
    return [this, column](size_t page) { return Decoder(column, page); };
  };
  for (const ColumnRead& column : columns) {
    if (column.column >= metadata_->columns.size()) {
      return Corrupt({path_}, "column {} is asked for, the file has {}", column.column,
                     metadata_->columns.size());
    }
    const wire::ColumnMetadata& metadata = metadata_->columns[column.column];
    const uint64_t num_rows = NumRows(metadata_->columns[cache_->OutermostOf(column.column)]);
    if (!rows.empty() && rows.back().end > num_rows) {
      return Corrupt({path_}, "rows up to {} are asked for, column {} has {}", rows.back().end,
                     column.column, num_rows);
    }
    if (metadata_->version == FileVersion::k2_0) {
      ARROW_ASSIGN_OR_RAISE(auto pages, cache_->ArrayPages(of_arrays, column, decoder_of(column)));
      ARROW_ASSIGN_OR_RAISE(auto read, ArrayColumnRead::Make(std::move(pages), rows));
      expected.push_back({nullptr, 0, read.get()});
      reads.push_back(std::move(read));
      ends.push_back(reads.size());
      continue;
    }
    ARROW_RETURN_NOT_OK(VisitPages(
        metadata.pages, rows, [&](size_t page, std::span<const RowRange> of_page) -> arrow::Status {
          ARROW_ASSIGN_OR_RAISE(const auto decoder, Decoder(column, page));
          ARROW_ASSIGN_OR_RAISE(auto read, decoder->Read(of_page));
          reads.push_back(std::move(read));
          expected.push_back({decoder.get(), metadata.pages[page].num_rows});
          return arrow::Status::OK();
        }));
    ends.push_back(reads.size());
  }
  ARROW_RETURN_NOT_OK(RunRounds(*reader_, cache_->TakeWhole(), reads));

  std::vector<encoding::LeafRows> leaves;
  leaves.reserve(columns.size());
  size_t next = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    encoding::LeafBuilder builder(*columns[i].path, most_bytes);
    for (; next < ends[i]; ++next) {
      const LeafSize before(builder);
      const arrow::Status status = reads[next]->DecodeInto(builder);
      if (status.ok() || IsTooLarge(status)) {
        const LeafSize after(builder);
        cache_->Learn(columns[i].column, expected[next].BytesOf(after.rows - before.rows),
                      after.bytes - before.bytes);
      }
      ARROW_RETURN_NOT_OK(status);
      reads[next].reset();  // the bytes of one page at a time
    }
    most_bytes -= std::min(most_bytes, LeafSize(builder).bytes);
    ARROW_ASSIGN_OR_RAISE(auto leaf, std::move(builder).Finish());
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> FileReader::ReadGlobalBuffer(uint32_t index) {
  if (index >= metadata_->global_buffers.size()) {
    return InvalidInput("global buffer {} is asked for, the file has {} global buffers", index,
                        metadata_->global_buffers.size());
  }
  return reader_->Read(metadata_->global_buffers[index]);
}

FileReader::RowSize FileReader::SizeFrom(std::span<const ColumnRead> columns, uint64_t row) {
  RowSize size;
  const ArrayFile of_arrays = {*metadata_, path_, cache_->array_columns};
  const auto decoder_of = [this](const ColumnRead& column) {
    return [this, column](size_t page) { return Decoder(column, page); };
  };
  for (const ColumnRead& column : columns) {
    if (column.column >= metadata_->columns.size()) continue;
    if (metadata_->version == FileVersion::k2_0) {
      const auto array_pages = cache_->ArrayPages(of_arrays, column, decoder_of(column));
      if (!array_pages.ok()) continue;
      const ArrayRowSize of_column = SizeOfArrayRow(*array_pages, row);
      size.bytes += of_column.bytes * cache_->FactorOf(column.column);
      size.end = std::min(size.end, of_column.end);
      continue;
    }
    const auto& pages = metadata_->columns[column.column].pages;
    const auto after = std::upper_bound(
        pages.begin(), pages.end(), row,
        [](uint64_t wanted, const wire::Page& other) { return wanted < other.priority; });
    if (after == pages.begin()) continue;
    const wire::Page& page = *(after - 1);
    if (after != pages.end()) size.end = std::min(size.end, after->priority);
    const auto decoder = Decoder(column, static_cast<size_t>(after - 1 - pages.begin()));
    if (!decoder.ok() || page.num_rows == 0) continue;
    size.bytes +=
        Expected{decoder->get(), page.num_rows}.BytesOf(1) * cache_->FactorOf(column.column);
  }
  return size;
}

uint64_t FileReader::memory_bytes() const {
  return sizeof(FileReader) + path_.size() + metadata_->memory_bytes() + cache_->memory_bytes();
}

}  // namespace glaive::file
