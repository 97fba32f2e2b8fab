#pragma once

#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/ranges.h"

namespace glaive::encoding {

// A step machine that asks for bytes until it has all that it needs.
class BufferRead {
 public:
  virtual ~BufferRead() = default;

  virtual const std::vector<ByteRange>& wanted() const = 0;
  virtual arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) = 0;
};

// Several of them that take their steps together. Borrows them.
class BufferReads {
 public:
  void Add(BufferRead& read);
  const std::vector<ByteRange>& wanted() const { return wanted_; }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers);

 private:
  std::vector<BufferRead*> reads_;
  std::vector<ByteRange> wanted_;
};

}  // namespace glaive::encoding
