#include "io/object_bytes.h"

#include <algorithm>
#include <utility>

namespace glaive::io {
namespace {

std::span<const std::byte> BytesOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

uint64_t SizeOf(const std::vector<std::shared_ptr<arrow::Buffer>>& parts) {
  uint64_t size = 0;
  for (const auto& part : parts) size += static_cast<uint64_t>(part->size());
  return size;
}

}  // namespace

ObjectBytes::ObjectBytes(std::vector<std::shared_ptr<arrow::Buffer>> parts)
    : size_bytes_(SizeOf(parts)),
      produce_([parts = std::move(parts)](const Sink& sink) -> arrow::Status {
        for (const auto& part : parts) ARROW_RETURN_NOT_OK(sink(BytesOf(*part)));
        return arrow::Status::OK();
      }) {}

arrow::Result<std::shared_ptr<arrow::Buffer>> ObjectBytes::ToBuffer() const {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(size_bytes_)));
  auto* out = reinterpret_cast<std::byte*>(buffer->mutable_data());
  ARROW_RETURN_NOT_OK(WriteTo([&](std::span<const std::byte> piece) {
    out = std::ranges::copy(piece, out).out;
    return arrow::Status::OK();
  }));
  return buffer;
}

}  // namespace glaive::io
