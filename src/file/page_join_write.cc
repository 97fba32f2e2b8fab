#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/byte_reader.h"
#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "encoding/structural/mini_block/index.h"
#include "file/page_join.h"

namespace glaive::file {
namespace {

using encoding::ChunkRange;
using encoding::JoinedChunks;
using encoding::MiniBlockIndex;
using encoding::SourceChunk;
using Behind = encoding::MiniBlockJoin::Behind;

// Small enough to be written out of the cache that reading brought it to.
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
constexpr uint64_t kMinHeldBytes = 4 * kPieceBytes;

std::span<const std::byte> BytesOf(const arrow::Buffer& buffer) {
  return std::as_bytes(std::span(buffer.data(), static_cast<size_t>(buffer.size())));
}

template <typename T>
std::span<const std::byte> BytesOf(const std::vector<T>& words) {
  return std::as_bytes(std::span(words));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ReadRange(FileReader& file, ByteRange range) {
  ARROW_ASSIGN_OR_RAISE(auto buffers, file.ReadBytes({&range, 1}));
  return std::move(buffers.front());
}

// A source page of chunks, and where they are.
struct ChunkedPage {
  std::shared_ptr<FileReader> file;
  ByteRange data;
  uint64_t num_items = 0;
  std::shared_ptr<arrow::Buffer> words;
  std::shared_ptr<arrow::Buffer> repetition_index;  // null without lists
  MiniBlockIndex index;

  uint64_t num_chunks() const { return index.num_chunks(); }
};

// Chunks [chunks) of a page, to be made anew with what is left over of the one before them.
struct ChunksToCut {
  std::shared_ptr<const ChunkedPage> page;
  std::shared_ptr<const ChunkedPage> before_page;  // null: nothing is left over
  uint64_t before_chunk = 0;
  ChunkRange chunks;
  Behind behind = Behind::kSamePage;
};

class PageWriter {
 public:
  PageWriter(const CopiedPage& page, uint64_t max_held_bytes,
             const std::function<arrow::Status(uint64_t)>& progress, FileWriter& writer)
      : page_(page),
        progress_(progress),
        writer_(writer),
        budget_(std::max(max_held_bytes, kMinHeldBytes)),
        queue_(ProcessExecutor(), budget_) {}

  arrow::Status WriteAlone(wire::Page& out);
  arrow::Status WriteEntries(wire::Page& out);
  arrow::Status WriteChunks(wire::Page& out);

  bool cannot() const { return cannot_; }

 private:
  arrow::Status CopyBytes(const std::shared_ptr<FileReader>& file, ByteRange range);
  arrow::Status CopyChunks(const std::shared_ptr<const ChunkedPage>& page, ChunkRange chunks);
  arrow::Status CutChunks(ChunksToCut cut);
  arrow::Status CutChunksInPieces(const ChunksToCut& cut);
  arrow::Result<bool> Cut(const ChunksToCut& cut, JoinedChunks& out) const;
  arrow::Status AddChunkedPage(const std::shared_ptr<const ChunkedPage>& page,
                               const std::shared_ptr<const ChunkedPage>& before, bool is_last);
  arrow::Result<std::shared_ptr<const ChunkedPage>> OpenChunks(const PageRef& ref) const;
  arrow::Status Emit(std::span<const std::byte> bytes);
  arrow::Result<ByteRange> WriteWhole(std::span<const std::byte> bytes);
  void AddWord(uint32_t word);

  std::unique_ptr<JoinedChunks> TakeRoom();
  void GiveRoom(std::unique_ptr<JoinedChunks> room);

  const CopiedPage& page_;
  const std::function<arrow::Status(uint64_t)>& progress_;
  FileWriter& writer_;
  MemoryBudget budget_;
  std::atomic<bool> cannot_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<JoinedChunks>> rooms_;  // guarded by the mutex
  std::vector<std::byte> words_;
  std::vector<std::byte> repetition_index_;
  UnitQueue queue_;  // ends before what its units use
};

arrow::Status PageWriter::Emit(std::span<const std::byte> bytes) {
  ARROW_RETURN_NOT_OK(writer_.WriteBuffer(bytes));
  return progress_(bytes.size());
}

// Units are read by any thread and written in order by this one.
arrow::Status PageWriter::CopyBytes(const std::shared_ptr<FileReader>& file, ByteRange range) {
  for (uint64_t at = 0; at < range.size; at += kPieceBytes) {
    const ByteRange piece = {range.offset + at, std::min(kPieceBytes, range.size - at)};
    const auto read = std::make_shared<std::shared_ptr<arrow::Buffer>>();
    ARROW_RETURN_NOT_OK(queue_.Push(
        {.bytes = piece.size,
         .run = [file, piece, read] { return ReadRange(*file, piece).Value(read.get()); },
         .emit =
             [this, read] {
               const auto bytes = std::exchange(*read, nullptr);
               return Emit(BytesOf(*bytes));
             }}));
  }
  return arrow::Status::OK();
}

arrow::Result<ByteRange> PageWriter::WriteWhole(std::span<const std::byte> bytes) {
  ARROW_RETURN_NOT_OK(writer_.BeginBuffer());
  ARROW_RETURN_NOT_OK(writer_.WriteBuffer(bytes));
  return writer_.EndBuffer();
}

arrow::Status PageWriter::WriteAlone(wire::Page& out) {
  const PageRef& source = page_.sources.front();
  out.encoding = source.metadata().encoding;
  for (const ByteRange& range : source.metadata().buffers) {
    ARROW_RETURN_NOT_OK(writer_.BeginBuffer());
    ARROW_RETURN_NOT_OK(CopyBytes(source.file, range));
    ARROW_RETURN_NOT_OK(queue_.Drain());
    ARROW_ASSIGN_OR_RAISE(out.buffers.emplace_back(), writer_.EndBuffer());
  }
  return arrow::Status::OK();
}

// Entries of a full-zip page say nothing of each other. The index has where each row begins, and
// the end.
arrow::Status PageWriter::WriteEntries(wire::Page& out) {
  out.encoding = {.type_url = page_.sources.front().metadata().encoding.type_url,
                  .value = wire::Serialize(wire::PageLayout(*page_.entries))};
  ARROW_RETURN_NOT_OK(writer_.BeginBuffer());
  uint64_t num_bytes = 0;
  for (const PageRef& source : page_.sources) {
    const ByteRange entries = source.metadata().buffers[0];
    ARROW_RETURN_NOT_OK(CopyBytes(source.file, entries));
    num_bytes += entries.size;
  }
  ARROW_RETURN_NOT_OK(queue_.Drain());
  ARROW_ASSIGN_OR_RAISE(out.buffers.emplace_back(), writer_.EndBuffer());
  if (page_.sources.front().metadata().buffers.size() < 2) return arrow::Status::OK();

  size_t width = sizeof(uint64_t);
  while (width > 1 && num_bytes >> (4 * width) == 0) width /= 2;
  std::vector<std::byte> index;
  index.reserve((page_.num_rows + 1) * width);
  const auto put = [&](uint64_t value) {
    const auto bytes = std::as_bytes(std::span(&value, 1)).first(width);
    index.insert(index.end(), bytes.begin(), bytes.end());
  };
  uint64_t begin = 0;  // of the source's entries
  for (const PageRef& source : page_.sources) {
    const wire::Page& page = source.metadata();
    ARROW_ASSIGN_OR_RAISE(const auto starts, ReadRange(*source.file, page.buffers[1]));
    const uint64_t source_width = page.buffers[1].size / (page.num_rows + 1);
    uint64_t previous = 0;
    for (uint64_t row = 0; row <= page.num_rows; ++row) {
      uint64_t start = 0;
      std::memcpy(&start, starts->data() + row * source_width, source_width);
      const bool in_place = row == 0               ? start == 0
                            : row == page.num_rows ? start == page.buffers[0].size
                                                   : start >= previous;
      if (!in_place || start > page.buffers[0].size) {
        return Corrupt({source.file->path(), page.buffers[1].offset},
                       "row {} of {} starts at byte {} of {}, after {}", row, page.num_rows, start,
                       page.buffers[0].size, previous);
      }
      if (row < page.num_rows) put(begin + start);
      previous = start;
    }
    begin += page.buffers[0].size;
  }
  put(begin);
  ARROW_ASSIGN_OR_RAISE(out.buffers.emplace_back(), WriteWhole(index));
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<const ChunkedPage>> PageWriter::OpenChunks(const PageRef& ref) const {
  const wire::Page& page = ref.metadata();
  const std::string& path = ref.file->path();
  const Location where = {path, ref.file->metadata().column_metadata[ref.column].offset};
  ARROW_ASSIGN_OR_RAISE(
      const wire::PageLayout layout,
      wire::ParsePageLayout(std::as_bytes(std::span(page.encoding.value)), where));
  const auto& mini_block = std::get<wire::MiniBlockLayout>(layout);
  std::vector<ByteRange> ranges = {page.buffers[0]};
  if (page_.chunks->has_lists()) ranges.push_back(page.buffers[2]);
  ARROW_ASSIGN_OR_RAISE(auto buffers, ref.file->ReadBytes(ranges));
  std::optional<encoding::Bytes> repetition_index;
  if (buffers.size() > 1) repetition_index = BytesOf(*buffers[1]);
  ARROW_ASSIGN_OR_RAISE(
      auto index,
      MiniBlockIndex::Parse(BytesOf(*buffers[0]), repetition_index,
                            {.num_rows = page.num_rows,
                             .num_values = mini_block.num_items,
                             .data_bytes = page.buffers[1].size,
                             .large_chunks = page_.chunks->large_chunks()},
                            {path, ranges.front().offset}, {path, ranges.back().offset}));
  return std::make_shared<const ChunkedPage>(
      ChunkedPage{.file = ref.file,
                  .data = page.buffers[1],
                  .num_items = mini_block.num_items,
                  .words = buffers[0],
                  .repetition_index = buffers.size() > 1 ? buffers[1] : nullptr,
                  .index = std::move(index)});
}

std::unique_ptr<JoinedChunks> PageWriter::TakeRoom() {
  const std::lock_guard lock(mutex_);
  if (rooms_.empty()) return std::make_unique<JoinedChunks>();
  auto room = std::move(rooms_.back());
  rooms_.pop_back();
  room->Clear();
  return room;
}

void PageWriter::GiveRoom(std::unique_ptr<JoinedChunks> room) {
  const std::lock_guard lock(mutex_);
  rooms_.push_back(std::move(room));
}

void PageWriter::AddWord(uint32_t word) {
  const auto bytes = std::as_bytes(std::span(&word, 1))
                         .first(page_.chunks->large_chunks() ? sizeof(uint32_t) : sizeof(uint16_t));
  words_.insert(words_.end(), bytes.begin(), bytes.end());
}

// Chunks as they are. REQUIRES: they are not the last of a page, or that page is the last
arrow::Status PageWriter::CopyChunks(const std::shared_ptr<const ChunkedPage>& page,
                                     ChunkRange chunks) {
  if (chunks.begin == chunks.end) return arrow::Status::OK();
  const ByteRange bytes = page->index.bytes(chunks);
  ARROW_RETURN_NOT_OK(queue_.Push(
      {.bytes = 0,
       .run = [] { return arrow::Status::OK(); },
       .emit =
           [this, page, chunks] {
             const auto entries = [&](const arrow::Buffer& of) {
               const size_t size = static_cast<size_t>(of.size()) / page->num_chunks();
               return BytesOf(of).subspan(size * chunks.begin, size * (chunks.end - chunks.begin));
             };
             const auto words = entries(*page->words);
             words_.insert(words_.end(), words.begin(), words.end());
             if (page->repetition_index == nullptr) {
               return arrow::Status::OK();
             }
             const auto index = entries(*page->repetition_index);
             repetition_index_.insert(repetition_index_.end(), index.begin(), index.end());
             return arrow::Status::OK();
           }}));
  return CopyBytes(page->file, {page->data.offset + bytes.offset, bytes.size});
}

arrow::Result<bool> PageWriter::Cut(const ChunksToCut& cut, JoinedChunks& out) const {
  const auto place = [](const ChunkedPage& page, ChunkRange chunks) {
    const ByteRange bytes = page.index.bytes(chunks);
    return ByteRange{page.data.offset + bytes.offset, bytes.size};
  };
  std::optional<SourceChunk> before;
  std::shared_ptr<arrow::Buffer> before_bytes;
  if (cut.before_page != nullptr) {
    const ChunkedPage& page = *cut.before_page;
    const ByteRange range = place(page, {cut.before_chunk, cut.before_chunk + 1});
    ARROW_ASSIGN_OR_RAISE(before_bytes, ReadRange(*page.file, range));
    before = SourceChunk{.bytes = BytesOf(*before_bytes),
                         .num_values = page.index.num_values(cut.before_chunk),
                         .num_rows_begun = page.index.rows_begun(cut.before_chunk).size(),
                         .where = {page.file->path(), range.offset}};
  }
  const MiniBlockIndex& index = cut.page->index;
  const ByteRange range = place(*cut.page, cut.chunks);
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadRange(*cut.page->file, range));
  std::vector<SourceChunk> chunks;
  for (uint64_t c = cut.chunks.begin; c < cut.chunks.end; ++c) {
    const ByteRange chunk = place(*cut.page, {c, c + 1});
    chunks.push_back({.bytes = BytesOf(*bytes).subspan(chunk.offset - range.offset, chunk.size),
                      .num_values = index.num_values(c),
                      .num_rows_begun = index.rows_begun(c).size(),
                      .where = {cut.page->file->path(), chunk.offset}});
  }
  return page_.chunks->Cut(before ? &*before : nullptr, chunks, cut.behind, out);
}

arrow::Status PageWriter::CutChunks(ChunksToCut cut) {
  struct Work {
    ChunksToCut cut;
    std::unique_ptr<JoinedChunks> made = {};
  };
  const uint64_t num_bytes = cut.page->index.bytes(cut.chunks).size;
  const auto work = std::make_shared<Work>(Work{std::move(cut)});
  return queue_.Push({.bytes = 2 * num_bytes,
                      .run = [this, work]() -> arrow::Status {
                        work->made = TakeRoom();
                        ARROW_ASSIGN_OR_RAISE(const bool done, Cut(work->cut, *work->made));
                        if (done) return arrow::Status::OK();
                        cannot_ = true;
                        return Unsupported("pages with too many levels for their values");
                      },
                      .emit = [this, work]() -> arrow::Status {
                        const JoinedChunks& made = *work->made;
                        for (const uint32_t word : made.words) AddWord(word);
                        const auto index = BytesOf(made.repetition_index);
                        repetition_index_.insert(repetition_index_.end(), index.begin(),
                                                 index.end());
                        ARROW_RETURN_NOT_OK(Emit(made.bytes));
                        GiveRoom(std::move(work->made));
                        return arrow::Status::OK();
                      }});
}

// The chunks of a page that all move by a value.
arrow::Status PageWriter::CutChunksInPieces(const ChunksToCut& all) {
  ChunksToCut piece = all;
  const MiniBlockIndex& index = all.page->index;
  for (uint64_t begin = 0; begin < all.page->num_chunks(); begin = piece.chunks.end) {
    uint64_t end = begin + 1;
    while (end < all.page->num_chunks() && index.bytes({begin, end + 1}).size <= kPieceBytes) ++end;
    piece.chunks = {begin, end};
    piece.behind = end == all.page->num_chunks() ? all.behind : Behind::kSamePage;
    ARROW_RETURN_NOT_OK(CutChunks(piece));
    piece.before_page = all.page;
    piece.before_chunk = end - 1;
  }
  return arrow::Status::OK();
}

arrow::Status PageWriter::AddChunkedPage(const std::shared_ptr<const ChunkedPage>& page,
                                         const std::shared_ptr<const ChunkedPage>& before,
                                         bool is_last) {
  const Behind behind = is_last ? Behind::kNothing : Behind::kNextPage;
  if (before != nullptr) {
    return CutChunksInPieces({.page = page,
                              .before_page = before,
                              .before_chunk = before->num_chunks() - 1,
                              .chunks = {},
                              .behind = behind});
  }
  const uint64_t num_chunks = page->num_chunks();
  ARROW_RETURN_NOT_OK(CopyChunks(page, {0, is_last ? num_chunks : num_chunks - 1}));
  if (is_last) return arrow::Status::OK();
  return CutChunks({.page = page,
                    .before_page = nullptr,
                    .chunks = {num_chunks - 1, num_chunks},
                    .behind = behind});
}

arrow::Status PageWriter::WriteChunks(wire::Page& out) {
  ARROW_RETURN_NOT_OK(writer_.BeginBuffer());
  uint64_t num_items = 0;
  std::shared_ptr<const ChunkedPage> before;
  for (size_t i = 0; i < page_.sources.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto page, OpenChunks(page_.sources[i]));
    if (page->num_chunks() == 0) {
      cannot_ = true;
      return Unsupported("a page without values");
    }
    ARROW_RETURN_NOT_OK(
        AddChunkedPage(page, num_items % 2 == 1 ? before : nullptr, i + 1 == page_.sources.size()));
    num_items += page->num_items;
    before = std::move(page);
  }
  ARROW_RETURN_NOT_OK(queue_.Drain());
  ARROW_ASSIGN_OR_RAISE(const ByteRange chunks, writer_.EndBuffer());
  ARROW_ASSIGN_OR_RAISE(const ByteRange words, WriteWhole(words_));
  out.buffers = {words, chunks};
  if (page_.chunks->has_lists()) {
    ARROW_ASSIGN_OR_RAISE(out.buffers.emplace_back(), WriteWhole(repetition_index_));
  }
  out.encoding = {.type_url = page_.sources.front().metadata().encoding.type_url,
                  .value = page_.chunks->Layout(num_items)};
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<bool> WriteCopiedPage(const CopiedPage& page, size_t column, PageEnd end,
                                    uint64_t max_held_bytes,
                                    const std::function<arrow::Status(uint64_t)>& progress,
                                    FileWriter& writer) {
  PageWriter copy(page, max_held_bytes, progress, writer);
  wire::Page out = {.num_rows = page.num_rows};
  const arrow::Status status = page.sources.size() == 1 ? copy.WriteAlone(out)
                               : page.chunks            ? copy.WriteChunks(out)
                                                        : copy.WriteEntries(out);
  if (copy.cannot()) return false;
  ARROW_RETURN_NOT_OK(status);
  writer.AddPage(column, std::move(out), end);
  return true;
}

}  // namespace glaive::file
