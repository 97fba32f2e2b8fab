#include "file/file_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "encoding/structural/layout/encode_page.h"
#include "file/array_writer.h"
#include "file/coalescer.h"
#include "file/footer.h"
#include "file/growing_page.h"
#include "wire/encodings_v2_3.h"
#include "wire/file_columns.h"
#include "wire/file_metadata.h"

namespace glaive::file {
namespace {

// A data file of 2.1 and later, front to back:
//
//   page buffers and extra global buffers, each padded to 64 bytes
//   file descriptor (global buffer 0)
//   one ColumnMetadata message for each column
//   column table: position and size of each message, 8 bytes each
//   global buffer table: position and size of each buffer
//   footer, 40 bytes
constexpr uint64_t kAlignment = 64;
constexpr uint8_t kPadding = 'H';
constexpr std::string_view kMagic = "LANC";
// The allocator keeps what was freed for a while; of large pages that would be as much as the limit
// on memory lets be in use.
constexpr uint64_t kReleasedPageBits = uint64_t{8} * (8 << 20);
constexpr uint64_t kInlinePageBits = uint64_t{8} * (256 << 10);  // less is not worth a thread
constexpr uint64_t kHeldBatchBits = uint64_t{8} * (8 << 20);  // what is held beside what is charged
constexpr uint64_t kMaxGrowingBytes = 8 << 20;  // rows of a growing page that wait for others
// A growing page is encoded by one thread at a time. Narrow rows, which take longer to encode than
// to keep, are better encoded page by page on all of them.
constexpr uint64_t kMinGrowingRowBytes = 1024;
constexpr uint64_t kMostArrayBytes = 256 << 20;
constexpr uint64_t kPageOverheadBytes = 64 << 10;  // more than levels, padding and layout ever add

template <typename Int>
void AppendInt(Int value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));  // the format and every machine built for agree
  out->append(bytes, sizeof(bytes));
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

arrow::Status CheckIsWritten(FileVersion version) {
  const char* name = "";
  switch (version) {
    case FileVersion::k2_0:
    case FileVersion::k2_1:
    case FileVersion::k2_2:
    case FileVersion::k2_3: return arrow::Status::OK();
    case FileVersion::k0_1: name = "0.1"; break;
  }
  return Unsupported("data files of version {} are not written yet", name);
}

// Values that are laid out in ways of their own.
arrow::Status RefuseSpecialFields(const std::vector<wire::Field>& fields) {
  for (const wire::Field& field : fields) {
    const auto extension = field.metadata.find("ARROW:extension:name");
    if (field.metadata.contains("lance-encoding:blob") ||
        (extension != field.metadata.end() && extension->second == "lance.blob.v2")) {
      return Unsupported("column `{}`: blobs are not written yet", field.name);
    }
    if (field.metadata.contains("lance-encoding:packed") || field.metadata.contains("packed")) {
      return Unsupported("column `{}`: packed structs are not written yet", field.name);
    }
    ARROW_RETURN_NOT_OK(RefuseSpecialFields(field.children));
  }
  return arrow::Status::OK();
}

}  // namespace

struct FileWriter::State {
  State(std::string its_path, wire::Schema its_schema, const FileWriterOptions& its_options,
        InputMatcher its_matcher, std::vector<size_t> its_column_of, size_t num_columns)
      : path(std::move(its_path)),
        schema(std::move(its_schema)),
        options(its_options),
        matcher(std::move(its_matcher)),
        column_of(std::move(its_column_of)),
        columns(num_columns),
        arrays(ArraysOf(schema, options)),
        budget(options.data_cache_bytes),
        queue(executor(), budget),
        coalescer(
            matcher.columns(), LimitsOf(options), options.keep_slices || options.rows_stay,
            [this](ClosedPage page) -> arrow::Result<uint64_t> {
              if (IsGrowing(page)) {
                ARROW_RETURN_NOT_OK(EndGrowing(page));
                return MaxBytes();
              }
              closed_bytes += RowBytes(page);
              if (page.num_bits < kInlinePageBits && queue.empty()) {
                ARROW_RETURN_NOT_OK(EncodeAndWrite(std::move(page)));
              } else {
                // The rows that come take the place of these, which stay until they are encoded.
                const uint64_t bytes = RowBytes(page);
                ARROW_RETURN_NOT_OK(Queue(std::move(page), options.rows_stay ? bytes : 2 * bytes));
              }
              return MaxBytes();
            },
            [this]() -> arrow::Result<uint64_t> {
              ARROW_RETURN_NOT_OK(queue.Drain());
              return MaxBytes();
            },
            [this](size_t column, Coalescer::Pieces& pieces) { return TakeRows(column, pieces); }) {
  }

  Executor& executor() const {
    return options.executor != nullptr ? *options.executor : ProcessExecutor();
  }

  static std::unique_ptr<ArrayWriter> ArraysOf(const wire::Schema& schema,
                                               const FileWriterOptions& options) {
    if (options.version != FileVersion::k2_0) return nullptr;
    return std::make_unique<ArrayWriter>(schema);
  }

  static CoalescerLimits LimitsOf(const FileWriterOptions& options) {
    // A page of 2.0 is made of one array, whose offsets may have 32 bits.
    const uint64_t most = options.version == FileVersion::k2_0 ? kMostArrayBytes : UINT64_MAX;
    return {.data_cache_bytes = options.data_cache_bytes,
            .max_page_bytes = std::min(options.max_page_bytes, most),
            .max_rows_per_group = options.max_rows_per_group,
            .max_rows = options.max_rows,
            .max_bytes = options.max_bytes};
  }

  encoding::PageEncodeOptions PageOptions(const LeafColumn& column, bool is_only) const {
    return {.version = options.version,
            .column_name = column.name(),
            .elsewhere = is_only ? std::vector<encoding::LayerFacts>() : column.SharedFacts()};
  }

  // The rows are let go of as soon as they are encoded. On any thread.
  arrow::Result<std::vector<encoding::EncodedPage>> Encode(ClosedPage& page) const {
    const LeafColumn& column = matcher.columns()[page.column];
    auto pieces = std::exchange(page.pieces, {});
    if (arrays != nullptr) {
      auto encoded = arrays->Encode(page.column, column, std::move(pieces));
      ReleaseUnused(page);
      return encoded;
    }
    const bool is_only = page.first_row == 0 && page.end == PageEnd::kFileEnd;
    auto pages = encoding::EncodePages(pieces, column.path(), PageOptions(column, is_only));
    pieces.clear();
    ReleaseUnused(page);
    return pages;
  }

  bool IsGrowing(const ClosedPage& page) const {
    return growing != nullptr && growing->column() == page.column;
  }

  // Of the file with all closed pages; exact where none is in the queue.
  uint64_t MaxBytes() const {
    return (growing != nullptr ? growing->begin() : out->position()) + max_bytes_in_queue +
           waiting_bytes;
  }

  static uint64_t RowBytes(const ClosedPage& page) { return page.num_bits / 8; }

  // Rows, and the pages that are made of them, which take as much again.
  void TellHeld() {
    if (!options.on_held) return;
    const uint64_t held = coalescer.open_bytes() + 2 * closed_bytes;
    options.on_held(static_cast<int64_t>(held) - static_cast<int64_t>(told_bytes));
    told_bytes = held;
  }

  static void ReleaseUnused(const ClosedPage& page) {
    if (page.num_bits >= kReleasedPageBits) arrow::default_memory_pool()->ReleaseUnused();
  }

  arrow::Result<Coalescer::Offer> TakeRows(size_t column, Coalescer::Pieces& pieces);
  arrow::Status EndGrowing(const ClosedPage& rows);
  void AddWritten(const ClosedPage& rows, const encoding::EncodedPage& page,
                  std::vector<ByteRange> buffers, uint64_t first_row, PageEnd end);
  arrow::Status CheckEncoded(const ClosedPage& rows, uint64_t num_rows) const;
  arrow::Status Place(ClosedPage rows, std::vector<encoding::EncodedPage> pages);
  arrow::Status WritePages(const ClosedPage& rows, std::vector<encoding::EncodedPage> pages);
  arrow::Status EncodeAndWrite(ClosedPage page);
  arrow::Status Queue(ClosedPage page, uint64_t charged_bytes);
  arrow::Result<ByteRange> WriteBuffer(std::span<const std::shared_ptr<arrow::Buffer>> parts);
  arrow::Status WritePadding(uint64_t size);
  uint64_t NumRows() const;
  arrow::Status CheckRows();
  arrow::Status WriteMetadata();

  std::string path;
  wire::Schema schema;
  FileWriterOptions options;
  InputMatcher matcher;
  std::vector<size_t> column_of;  // of the file, for each of the matcher's
  std::vector<wire::ColumnMetadata> columns;
  std::unique_ptr<ArrayWriter> arrays;  // of a file of 2.0
  std::unique_ptr<io::ObjectWriter> out;
  uint64_t buffer_begin = 0;              // of the buffer under way
  std::vector<ByteRange> global_buffers;  // from 1 on
  FileSummary summary;
  MemoryBudget budget;
  struct WaitingPages {
    ClosedPage rows;
    std::vector<encoding::EncodedPage> pages;
  };

  std::unique_ptr<GrowingPage> growing;  // while it does, no other page is written
  std::vector<WaitingPages> waiting;     // until it ends
  uint64_t waiting_bytes = 0;            // as they will be in the file
  std::vector<std::pair<size_t, std::shared_ptr<arrow::Buffer>>> waiting_global_buffers;
  uint64_t closed_bytes = 0;        // rows of pages that are not written yet
  uint64_t told_bytes = 0;          // to on_held
  uint64_t max_bytes_in_queue = 0;  // as they will be in the file
  UnitQueue queue;                  // encodes pages, and writes them in the order they were closed
  Coalescer coalescer;              // borrows the matcher's columns
};

arrow::Result<ByteRange> FileWriter::State::WriteBuffer(
    std::span<const std::shared_ptr<arrow::Buffer>> parts) {
  ByteRange range = {.offset = out->position(), .size = 0};
  for (const auto& part : parts) {
    range.size += static_cast<uint64_t>(part->size());
    ARROW_RETURN_NOT_OK(
        out->Write(std::as_bytes(std::span(part->data(), static_cast<size_t>(part->size())))));
  }
  ARROW_RETURN_NOT_OK(WritePadding(range.size));
  return range;
}

// Behind a buffer of that size.
arrow::Status FileWriter::State::WritePadding(uint64_t size) {
  static constexpr auto kFill = [] {
    std::array<uint8_t, kAlignment> fill;
    fill.fill(kPadding);
    return fill;
  }();
  const uint64_t rest = size % kAlignment;
  if (rest == 0) return arrow::Status::OK();
  return out->Write(std::as_bytes(std::span(kFill)).first(kAlignment - rest));
}

// Begins to write a page, or goes on with it.
arrow::Result<Coalescer::Offer> FileWriter::State::TakeRows(size_t column,
                                                            Coalescer::Pieces& pieces) {
  if (arrays != nullptr) return Coalescer::Offer::kNever;
  if (growing != nullptr && growing->column() != column) return Coalescer::Offer::kLater;
  if (growing != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const bool taken, growing->Add(pieces));
    return taken ? Coalescer::Offer::kTaken : Coalescer::Offer::kEndPage;
  }
  const LeafColumn& leaf = matcher.columns()[column];
  uint64_t num_rows = 0;
  for (const auto& piece : pieces) num_rows += static_cast<uint64_t>(piece->length);
  if (leaf.BitsOf(pieces) / 8 < num_rows * kMinGrowingRowBytes) return Coalescer::Offer::kNever;
  ARROW_RETURN_NOT_OK(queue.Drain());
  ARROW_ASSIGN_OR_RAISE(
      growing,
      GrowingPage::Begin(column, leaf, pieces, PageOptions(leaf, /*is_only=*/false), executor(),
                         std::min(kMaxGrowingBytes, options.data_cache_bytes / 8), *out));
  if (growing == nullptr) return Coalescer::Offer::kNever;
  arrow::default_memory_pool()->ReleaseUnused();
  return Coalescer::Offer::kTaken;
}

arrow::Status FileWriter::State::EndGrowing(const ClosedPage& rows) {
  ARROW_ASSIGN_OR_RAISE(const auto page, growing->Finish());
  std::vector<ByteRange> buffers(page.buffers.size());
  ByteRange& grown = buffers[growing->buffer()];
  grown = {growing->begin(), out->position() - growing->begin()};
  ARROW_RETURN_NOT_OK(WritePadding(grown.size));
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (&buffers[i] == &grown) continue;
    ARROW_ASSIGN_OR_RAISE(buffers[i], WriteBuffer(page.buffers[i]));
  }
  growing.reset();
  AddWritten(rows, page, std::move(buffers), rows.first_row, rows.end);
  ARROW_RETURN_NOT_OK(CheckEncoded(rows, page.num_rows));
  waiting_bytes = 0;
  for (WaitingPages& pages : std::exchange(waiting, {})) {
    ARROW_RETURN_NOT_OK(WritePages(pages.rows, std::move(pages.pages)));
  }
  for (auto& [index, buffer] : std::exchange(waiting_global_buffers, {})) {
    ARROW_ASSIGN_OR_RAISE(global_buffers[index], WriteBuffer({&buffer, 1}));
  }
  return arrow::Status::OK();
}

void FileWriter::State::AddWritten(const ClosedPage& rows, const encoding::EncodedPage& page,
                                   std::vector<ByteRange> buffers, uint64_t first_row,
                                   PageEnd end) {
  columns[column_of[rows.column]].pages.push_back(
      {.buffers = std::move(buffers),
       .num_rows = page.num_rows,
       .encoding = {.type_url = std::string(wire::PageTypeUrl(options.version)),
                    .value = page.layout},
       .priority = first_row});
  ++summary.num_pages;
  ++summary.pages_ended_by[static_cast<size_t>(end)];
}

arrow::Status FileWriter::State::CheckEncoded(const ClosedPage& rows, uint64_t num_rows) const {
  if (num_rows == rows.num_rows) return arrow::Status::OK();
  return Internal("column `{}`: {} rows were encoded as {}", matcher.columns()[rows.column].name(),
                  rows.num_rows, num_rows);
}

arrow::Status FileWriter::State::WritePages(const ClosedPage& rows,
                                            std::vector<encoding::EncodedPage> pages) {
  uint64_t num_rows = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    const encoding::EncodedPage page = std::move(pages[i]);
    std::vector<ByteRange> buffers;
    for (const auto& parts : page.buffers) {
      ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), WriteBuffer(parts));
    }
    if (arrays != nullptr) {
      arrays->Add(rows.column, i, page, std::move(buffers), columns);
      num_rows = rows.num_rows;
      summary.num_pages += i == 0 ? 1 : 0;
      summary.pages_ended_by[static_cast<size_t>(rows.end)] += i == 0 ? 1 : 0;
      continue;
    }
    AddWritten(rows, page, std::move(buffers), rows.first_row + num_rows,
               i + 1 == pages.size() ? rows.end : PageEnd::kFormatLimit);
    num_rows += page.num_rows;
  }
  pages.clear();
  ReleaseUnused(rows);
  closed_bytes -= RowBytes(rows);
  TellHeld();
  return CheckEncoded(rows, num_rows);
}

arrow::Status FileWriter::State::Place(ClosedPage rows, std::vector<encoding::EncodedPage> pages) {
  if (growing == nullptr) return WritePages(rows, std::move(pages));
  for (const encoding::EncodedPage& page : pages) {
    for (const auto& parts : page.buffers) {
      uint64_t size = 0;
      for (const auto& part : parts) size += static_cast<uint64_t>(part->size());
      waiting_bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  waiting.push_back({std::move(rows), std::move(pages)});
  return arrow::Status::OK();
}

arrow::Status FileWriter::State::EncodeAndWrite(ClosedPage page) {
  ARROW_ASSIGN_OR_RAISE(auto encoded, Encode(page));
  return Place(std::move(page), std::move(encoded));
}

// The same by the executor. Encoded bytes are about as many as those of the rows, and never twice
// as many.
arrow::Status FileWriter::State::Queue(ClosedPage page, uint64_t charged_bytes) {
  struct Work {
    ClosedPage page;
    std::vector<encoding::EncodedPage> encoded = {};
  };
  const uint64_t max_bytes = page.num_bits / 4 + kPageOverheadBytes;
  max_bytes_in_queue += max_bytes;
  const auto work = std::make_shared<Work>(std::move(page));
  return queue.Push({.bytes = charged_bytes,
                     .run = [this, work]() -> arrow::Status {
                       ARROW_ASSIGN_OR_RAISE(work->encoded, Encode(work->page));
                       return arrow::Status::OK();
                     },
                     .emit =
                         [this, work, max_bytes]() {
                           max_bytes_in_queue -= max_bytes;
                           return Place(std::move(work->page), std::move(work->encoded));
                         }});
}

uint64_t FileWriter::State::NumRows() const {
  if (!column_of.empty() || columns.empty() || columns[0].pages.empty()) {
    return coalescer.num_rows();
  }
  return columns[0].pages.back().priority + columns[0].pages.back().num_rows;
}

arrow::Status FileWriter::State::CheckRows() {
  if (arrays != nullptr) return arrays->Finish(summary.num_rows, columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& pages = columns[i].pages;
    const uint64_t rows = pages.empty() ? 0 : pages.back().priority + pages.back().num_rows;
    if (rows == summary.num_rows) continue;
    return Internal("column {} of a file of {} rows has pages of {}", i, summary.num_rows, rows);
  }
  return arrow::Status::OK();
}

arrow::Status FileWriter::State::WriteMetadata() {
  const auto write = [&](const std::string& bytes) {
    const ByteRange range = {.offset = out->position(), .size = bytes.size()};
    return std::pair(range, out->Write(BytesOf(bytes)));
  };
  const auto table = [](const std::vector<ByteRange>& ranges) {
    std::string bytes;
    for (const ByteRange& range : ranges) {
      AppendInt(range.offset, &bytes);
      AppendInt(range.size, &bytes);
    }
    return bytes;
  };

  const auto [descriptor, descriptor_status] =
      write(Serialize(wire::FileDescriptor{.schema = schema, .num_rows = summary.num_rows}));
  ARROW_RETURN_NOT_OK(descriptor_status);
  global_buffers.insert(global_buffers.begin(), descriptor);
  const uint64_t columns_begin = out->position();
  std::vector<ByteRange> messages;
  for (wire::ColumnMetadata& column : columns) {
    column.encoding = wire::ValuesColumnEncoding();
    const auto [range, status] = write(Serialize(column));
    ARROW_RETURN_NOT_OK(status);
    messages.push_back(range);
  }
  const auto [column_table, column_status] = write(table(messages));
  ARROW_RETURN_NOT_OK(column_status);
  const auto [buffer_table, buffer_status] = write(table(global_buffers));
  ARROW_RETURN_NOT_OK(buffer_status);

  std::string footer;
  AppendInt(columns_begin, &footer);
  AppendInt(column_table.offset, &footer);
  AppendInt(buffer_table.offset, &footer);
  AppendInt(static_cast<uint32_t>(global_buffers.size()), &footer);
  AppendInt(static_cast<uint32_t>(columns.size()), &footer);
  const FooterVersion version = FooterVersionOf(options.version);
  AppendInt(version.major, &footer);
  AppendInt(version.minor, &footer);
  footer += kMagic;
  return out->Write(BytesOf(footer));
}

FileWriter::FileWriter() = default;
FileWriter::~FileWriter() = default;

arrow::Result<std::unique_ptr<FileWriter>> FileWriter::Create(
    std::shared_ptr<io::ObjectStore> store, std::string path, wire::Schema schema,
    FileWriterOptions options) {
  ARROW_RETURN_NOT_OK(CheckIsWritten(options.version));
  if (options.max_rows == 0) return InvalidInput("a file of at most 0 rows");
  ARROW_RETURN_NOT_OK(RefuseSpecialFields(schema.fields));
  if (options.version == FileVersion::k2_0) {
    ARROW_RETURN_NOT_OK(ArrayWriter::CheckTypes(schema.fields));
  }
  ARROW_ASSIGN_OR_RAISE(auto arrow_schema, wire::ToArrow(schema));
  std::vector<size_t> column_of;
  arrow::FieldVector fields;
  size_t num_columns = 0;
  for (int i = 0; i < arrow_schema->num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto leaves, LeafColumn::Of(*arrow_schema->field(i)));
    const bool copied = std::ranges::binary_search(options.copied_fields, i);
    if (!copied) fields.push_back(arrow_schema->field(i));
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf, ++num_columns) {
      if (!copied) column_of.push_back(num_columns);
    }
  }
  if (options.version == FileVersion::k2_0) num_columns = ArrayWriter(schema).num_columns();
  ARROW_ASSIGN_OR_RAISE(auto matcher, InputMatcher::Make(arrow::schema(std::move(fields))));
  std::unique_ptr<FileWriter> writer(new FileWriter());
  writer->state_ = std::make_unique<State>(path, std::move(schema), options, std::move(matcher),
                                           std::move(column_of), num_columns);
  ARROW_ASSIGN_OR_RAISE(auto out, options.is_new ? store->OpenNew(path) : store->OpenWrite(path));
  writer->state_->out = options.output ? options.output(std::move(out)) : std::move(out);
  return writer;
}

arrow::Result<int64_t> FileWriter::Write(const std::shared_ptr<arrow::RecordBatch>& batch,
                                         int64_t offset) {
  ARROW_ASSIGN_OR_RAISE(auto rows, state_->matcher.Match(*batch));
  return Write(std::move(rows), offset);
}

arrow::Result<int64_t> FileWriter::Write(std::shared_ptr<const InputRows> rows, int64_t offset) {
  State& state = *state_;
  if (state.coalescer.full()) return 0;
  uint64_t num_bits = 0;
  for (size_t i = 0; i < rows->columns.size(); ++i) {
    num_bits += state.matcher.columns()[i].BitsBefore(*rows->columns[i], rows->num_rows);
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t taken, state.coalescer.Add(std::move(rows), offset));
  // A batch may wait for the one behind it, which then finds less of it open, but not a large one:
  // the two and the open pages would be more than the budget allows for. Nor may pages that hold a
  // slice of one.
  state.TellHeld();
  if (state.options.rows_stay) return taken;
  if (num_bits > kHeldBatchBits && !state.options.keep_slices) {
    ARROW_RETURN_NOT_OK(state.queue.Drain());
  }
  if (num_bits / 8 > state.options.data_cache_bytes) {
    ARROW_RETURN_NOT_OK(state.coalescer.LetGoOfInput());
  }
  return taken;
}

bool FileWriter::full() const { return state_->coalescer.full(); }

uint64_t FileWriter::num_rows() const { return state_->coalescer.num_rows(); }

arrow::Status FileWriter::LetGoOfInput() { return state_->coalescer.LetGoOfInput(); }

arrow::Status FileWriter::BeginBuffer() {
  ARROW_RETURN_NOT_OK(state_->queue.Drain());
  state_->buffer_begin = state_->out->position();
  return arrow::Status::OK();
}

arrow::Status FileWriter::WriteBuffer(std::span<const std::byte> bytes) {
  return state_->out->Write(bytes);
}

arrow::Result<ByteRange> FileWriter::EndBuffer() {
  const uint64_t begin = state_->buffer_begin;
  const ByteRange range = {begin, state_->out->position() - begin};
  ARROW_RETURN_NOT_OK(state_->WritePadding(range.size));
  return range;
}

void FileWriter::AddPage(size_t column, wire::Page page, PageEnd end) {
  auto& pages = state_->columns[column].pages;
  page.priority = pages.empty() ? 0 : pages.back().priority + pages.back().num_rows;
  pages.push_back(std::move(page));
  ++state_->summary.num_pages;
  ++state_->summary.pages_ended_by[static_cast<size_t>(end)];
}

void FileWriter::AddSchemaMetadata(std::string key, std::string value) {
  state_->schema.metadata[std::move(key)] = std::move(value);
}

arrow::Result<uint32_t> FileWriter::AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer) {
  ARROW_RETURN_NOT_OK(state_->queue.Drain());
  std::vector<ByteRange>& buffers = state_->global_buffers;
  if (state_->growing != nullptr) {
    state_->waiting_global_buffers.emplace_back(buffers.size(), std::move(buffer));
    buffers.emplace_back();
  } else {
    ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), state_->WriteBuffer({&buffer, 1}));
  }
  return static_cast<uint32_t>(buffers.size());
}

arrow::Result<FileSummary> FileWriter::Finish() {
  State& state = *state_;
  ARROW_ASSIGN_OR_RAISE(auto pages, state.coalescer.Finish());
  uint64_t num_bits = 0;
  if (!pages.empty() && state.IsGrowing(pages.front())) {
    ARROW_RETURN_NOT_OK(state.EndGrowing(pages.front()));
    pages.erase(pages.begin());
  }
  for (const ClosedPage& page : pages) {
    num_bits += page.num_bits;
    state.closed_bytes += State::RowBytes(page);
  }
  state.TellHeld();
  for (ClosedPage& page : pages) {
    const uint64_t bytes = State::RowBytes(page);
    ARROW_RETURN_NOT_OK(num_bits < kInlinePageBits && state.queue.empty()
                            ? state.EncodeAndWrite(std::move(page))
                            : state.Queue(std::move(page), bytes));
  }
  ARROW_RETURN_NOT_OK(state.queue.Drain());
  state.summary.num_rows = state.NumRows();
  ARROW_RETURN_NOT_OK(state.CheckRows());
  ARROW_RETURN_NOT_OK(state.WriteMetadata());
  state.summary.path = state.path;
  state.summary.size_bytes = state.out->position();
  state.summary.version = state.options.version;
  for (const int32_t field : wire::FileFieldIds(state.schema, state.options.version)) {
    state.summary.column_indices.push_back(static_cast<int32_t>(state.summary.fields.size()));
    state.summary.fields.push_back(field);
  }
  ARROW_RETURN_NOT_OK(state.out->Finish());
  return std::move(state.summary);
}

}  // namespace glaive::file
