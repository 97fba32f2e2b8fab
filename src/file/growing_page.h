#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/executor.h"
#include "core/memory_budget.h"
#include "core/per_process.h"
#include "encoding/structural/layout/page_stream.h"
#include "file/leaf_column.h"
#include "io/object_store.h"

namespace glaive::file {

// An open page of which the largest buffer is under way in a file. Rows are encoded on the executor
// while the caller brings more, one piece after the other, and written by the caller.
class GrowingPage {
 public:
  using Pieces = encoding::PageStream::Pieces;

  // A page that begins with these rows, which are taken; null where it cannot grow, and they are
  // not. About `max_held_bytes` of rows are in memory beside those that are being encoded. Borrows
  // all.
  static arrow::Result<std::unique_ptr<GrowingPage>> Begin(
      size_t column, const LeafColumn& leaf, Pieces& pieces,
      const encoding::PageEncodeOptions& options, Executor& executor, uint64_t max_held_bytes,
      io::ObjectWriter& out);

  // Takes the next rows; false where they do not go with the others.
  arrow::Result<bool> Add(Pieces& pieces);

  // Writes the rest of the buffer, and returns the page, that buffer empty.
  arrow::Result<encoding::EncodedPage> Finish();

  size_t column() const { return column_; }
  size_t buffer() const { return stream_->buffer(); }  // which one it is
  uint64_t begin() const { return begin_; }            // of it in the file

 private:
  struct Block {
    std::shared_ptr<encoding::PageStream::Rows> rows;
    arrow::Result<encoding::PageStream::Parts> parts = encoding::PageStream::Parts{};
    bool is_done = false;
  };

  GrowingPage(size_t column, const LeafColumn& leaf, std::unique_ptr<encoding::PageStream> stream,
              Executor& executor, uint64_t max_held_bytes, io::ObjectWriter& out);

  arrow::Result<bool> AddBlock(Pieces pieces);
  void EncodeBlocks();
  arrow::Status WriteBlock(Block& block);
  arrow::Status Write(const encoding::PageStream::Parts& parts);

  const size_t column_;
  const LeafColumn& leaf_;
  const std::unique_ptr<encoding::PageStream> stream_;
  io::ObjectWriter& out_;
  const uint64_t begin_;
  const uint64_t generation_ = ForkGeneration();
  std::mutex mutex_;
  std::condition_variable block_done_;
  std::deque<std::shared_ptr<Block>> to_encode_;  // guarded by the mutex
  bool is_encoding_ = false;                      // some thread, the front of them; guarded too
  MemoryBudget budget_;
  UnitQueue queue_;  // ends before what its units use
};

}  // namespace glaive::file
