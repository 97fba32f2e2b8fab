#include "encoding/structural/page/buffer_parts.h"

#include <algorithm>
#include <utility>

#include "core/recycling_pool.h"

namespace glaive::encoding {
namespace {

// Small pages must not cost a large part, large ones not many small ones.
constexpr size_t kFirstPart = 4 * 1024;
constexpr size_t kLargestPart = 1024 * 1024;

}  // namespace

arrow::Status BufferParts::AppendShared(std::shared_ptr<arrow::Buffer> buffer) {
  ARROW_RETURN_NOT_OK(FinishPart());
  size_bytes_ += static_cast<uint64_t>(buffer->size());
  parts_.push_back(std::move(buffer));
  return arrow::Status::OK();
}

arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> BufferParts::Finish() && {
  ARROW_RETURN_NOT_OK(FinishPart());
  return std::move(parts_);
}

arrow::Status BufferParts::StartPart(size_t size) {
  ARROW_RETURN_NOT_OK(FinishPart());
  const size_t usual = std::clamp<size_t>(size_bytes_, kFirstPart, kLargestPart);
  const size_t part = std::max(size, usual);
  ARROW_ASSIGN_OR_RAISE(
      open_, arrow::AllocateResizableBuffer(static_cast<int64_t>(part), RecyclingPool()));
  end_ = reinterpret_cast<std::byte*>(open_->mutable_data());
  room_ = part;
  return arrow::Status::OK();
}

arrow::Status BufferParts::FinishPart() {
  if (open_ == nullptr) return arrow::Status::OK();
  const int64_t used = open_->size() - static_cast<int64_t>(room_);
  ARROW_RETURN_NOT_OK(open_->Resize(used, /*shrink_to_fit=*/used < open_->size() / 2));
  if (used > 0) parts_.push_back(std::move(open_));
  open_ = nullptr;
  room_ = 0;
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
