#include "file/growing_page.h"

#include <utility>

#include "core/error.h"

namespace glaive::file {

using encoding::PageStream;

arrow::Result<std::unique_ptr<GrowingPage>> GrowingPage::Begin(
    size_t column, const LeafColumn& leaf, Pieces& pieces,
    const encoding::PageEncodeOptions& options, Executor& executor, uint64_t max_held_bytes,
    io::ObjectWriter& out) {
  ARROW_ASSIGN_OR_RAISE(auto stream, PageStream::Begin(pieces, leaf.path(), options));
  if (stream == nullptr) return nullptr;
  std::unique_ptr<GrowingPage> page(
      new GrowingPage(column, leaf, std::move(stream), executor, max_held_bytes, out));
  for (auto& piece : pieces) {  // which are many, and go one by one
    ARROW_RETURN_NOT_OK(page->AddBlock({std::exchange(piece, nullptr)}).status());
  }
  return page;
}

GrowingPage::GrowingPage(size_t column, const LeafColumn& leaf, std::unique_ptr<PageStream> stream,
                         Executor& executor, uint64_t max_held_bytes, io::ObjectWriter& out)
    : column_(column),
      leaf_(leaf),
      stream_(std::move(stream)),
      out_(out),
      begin_(out.position()),
      budget_(max_held_bytes),
      queue_(executor, budget_) {}

arrow::Result<bool> GrowingPage::Add(Pieces& pieces) { return AddBlock(pieces); }

arrow::Result<bool> GrowingPage::AddBlock(Pieces pieces) {
  if (generation_ != ForkGeneration()) {  // where a thread may hold the lock that is not there
    return InvalidInput("a file that a process began to write cannot go on in its fork");
  }
  const uint64_t num_bits = leaf_.BitsOf(pieces);
  ARROW_ASSIGN_OR_RAISE(auto rows, stream_->Add(std::move(pieces)));
  if (rows == nullptr) return false;
  const auto block = std::make_shared<Block>(Block{std::move(rows)});
  {
    const std::lock_guard lock(mutex_);
    to_encode_.push_back(block);
  }
  ARROW_RETURN_NOT_OK(queue_.Push({.bytes = num_bits / 8,
                                   .run =
                                       [this] {
                                         EncodeBlocks();
                                         return arrow::Status::OK();
                                       },
                                   .emit = [this, block] { return WriteBlock(*block); }}));
  return true;
}

// Encodes what there is, unless another thread is at it, which will then come to these as well.
void GrowingPage::EncodeBlocks() {
  std::unique_lock lock(mutex_);
  if (is_encoding_) return;
  is_encoding_ = true;
  while (!to_encode_.empty()) {
    const std::shared_ptr<Block> block = std::move(to_encode_.front());
    to_encode_.pop_front();
    lock.unlock();
    auto parts = stream_->Encode(std::exchange(block->rows, nullptr));
    lock.lock();
    block->parts = std::move(parts);
    block->is_done = true;
    block_done_.notify_all();
  }
  is_encoding_ = false;
}

// Its unit has run, so that it is encoded or some thread is about to.
arrow::Status GrowingPage::WriteBlock(Block& block) {
  {
    std::unique_lock lock(mutex_);
    block_done_.wait(lock, [&] { return block.is_done; });
  }
  ARROW_ASSIGN_OR_RAISE(const auto parts, std::exchange(block.parts, PageStream::Parts{}));
  return Write(parts);
}

arrow::Status GrowingPage::Write(const PageStream::Parts& parts) {
  for (const auto& part : parts) {
    ARROW_RETURN_NOT_OK(
        out_.Write(std::as_bytes(std::span(part->data(), static_cast<size_t>(part->size())))));
  }
  return arrow::Status::OK();
}

arrow::Result<encoding::EncodedPage> GrowingPage::Finish() {
  ARROW_RETURN_NOT_OK(queue_.Drain());
  ARROW_ASSIGN_OR_RAISE(encoding::EncodedPage page, stream_->Finish());
  ARROW_RETURN_NOT_OK(Write(std::exchange(page.buffers[buffer()], {})));
  return page;
}

}  // namespace glaive::file
