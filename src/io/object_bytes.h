#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>

namespace glaive::io {

// The bytes of an object that is to be written, which need not all be there at a time.
class ObjectBytes {
 public:
  // Called with piece after piece, on the thread that asked for them.
  using Sink = std::function<arrow::Status(std::span<const std::byte>)>;

  // `produce` gives `size_bytes` bytes to the sink, front to back, each time that it is called.
  ObjectBytes(uint64_t size_bytes, std::function<arrow::Status(const Sink&)> produce)
      : size_bytes_(size_bytes), produce_(std::move(produce)) {}
  // Buffers back to back.
  ObjectBytes(std::vector<std::shared_ptr<arrow::Buffer>> parts);  // NOLINT: they are its bytes

  uint64_t size_bytes() const { return size_bytes_; }
  arrow::Status WriteTo(const Sink& sink) const { return produce_(sink); }
  // All in one.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ToBuffer() const;

 private:
  uint64_t size_bytes_;
  std::function<arrow::Status(const Sink&)> produce_;
};

}  // namespace glaive::io
