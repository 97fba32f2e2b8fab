#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <arrow/buffer.h>

#include "io/object_store.h"

// What the fuzz targets make of libFuzzer's input.
namespace glaive::fuzz {

inline std::span<const std::byte> Bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

// The input as a file of the memory store.
inline void PutFile(const std::string& path, const uint8_t* data, size_t size) {
  const arrow::Status status = io::MemoryStore()->Put(path, Bytes(data, size));
  if (!status.ok()) status.Abort();
}

// A copy of its own allocation, so that an overrun by one byte is seen.
inline std::shared_ptr<arrow::Buffer> Copy(const uint8_t* data, size_t size) {
  return arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size));
}

}  // namespace glaive::fuzz
