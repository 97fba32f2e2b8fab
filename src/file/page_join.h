#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "encoding/structural/mini_block/join.h"
#include "file/file_reader.h"
#include "file/file_writer.h"
#include "file/leaf_column.h"
#include "wire/encodings_v2_1.h"

namespace glaive::file {

// Of smaller pages the requests cost more than decoding them with their neighbours.
inline constexpr uint64_t kMinJoinedBytes = uint64_t{64} << 10;

// A page of an open file.
struct PageRef {
  std::shared_ptr<FileReader> file;
  uint32_t column = 0;
  size_t page = 0;

  const wire::Page& metadata() const { return file->metadata().columns[column].pages[page]; }
};

// A page of a new file, made of the bytes of others: one as it is, or several behind each other.
struct CopiedPage {
  std::vector<PageRef> sources;
  uint64_t num_rows = 0;
  uint64_t num_bytes = 0;  // of the sources' buffers
  uint64_t num_bits = 0;   // of the rows, by the measure of the page rule
  // How they are joined, if they are several.
  std::optional<encoding::MiniBlockJoin> chunks;
  std::optional<wire::FullZipLayout> entries;
};

// Joins neighbours as far as their descriptions and sizes let them, up to `max_page_bytes` by the
// measure of the page rule. The descriptions are validated, and where the buffers lie; what is in
// them is not looked at.
arrow::Result<std::vector<CopiedPage>> PlanPageCopy(const LeafColumn& leaf,
                                                    std::span<const PageRef> pages,
                                                    uint64_t max_page_bytes);

// Whether the pages may be those of one column: a struct above a list may be null in all of them or
// in none; see encoding::SharedFacts.
arrow::Result<bool> AgreeOnNulls(const LeafColumn& leaf, std::span<const PageRef> pages);

// Whether the pages are as good as those that a writer of the rows makes: none above the limit but
// of one row, all but the last near to it, and none with many chunks that are smaller than they
// need be.
bool AreAsGoodAsNew(std::span<const CopiedPage> pages, uint64_t max_page_bytes);

// Writes a page, in pieces of which about `max_held_bytes` are in memory. Chunk tables and indices
// of joined pages are checked as a reader would; levels and values of chunks that stay whole are
// copied unseen. `progress` is asked between the pieces. False where the pages cannot be joined
// after all: what was written then is of no use.
arrow::Result<bool> WriteCopiedPage(const CopiedPage& page, size_t column, PageEnd end,
                                    uint64_t max_held_bytes,
                                    const std::function<arrow::Status(uint64_t bytes)>& progress,
                                    FileWriter& writer);

}  // namespace glaive::file
