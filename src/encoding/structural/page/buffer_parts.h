#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

namespace glaive::encoding {

// A page buffer that grows by parts, so that nothing is copied again when it does.
class BufferParts {
 public:
  // Room for `size` bytes in one piece, all of which the caller fills. Holds until the next call.
  arrow::Result<std::byte*> Append(size_t size) {
    if (size > room_) ARROW_RETURN_NOT_OK(StartPart(size));
    std::byte* at = end_;
    end_ += size;
    room_ -= size;
    size_bytes_ += size;
    return at;
  }

  // Appends a buffer as it is, without a copy.
  arrow::Status AppendShared(std::shared_ptr<arrow::Buffer> buffer);

  uint64_t size_bytes() const { return size_bytes_; }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> Finish() &&;

 private:
  arrow::Status StartPart(size_t size);
  arrow::Status FinishPart();

  std::vector<std::shared_ptr<arrow::Buffer>> parts_;
  std::shared_ptr<arrow::ResizableBuffer> open_;
  std::byte* end_ = nullptr;
  size_t room_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace glaive::encoding
