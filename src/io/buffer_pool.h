#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/result.h>

namespace glaive::io {

// A buffer of `size` bytes to read bytes of a file into. Large ones come from memory that earlier
// reads have used: touching fresh pages costs several times what reading cached bytes does. The
// memory goes back when the last reference is dropped; what is kept for reuse is bounded, and a
// forked child begins with none.
//
// The data lies at an address that is congruent to `file_offset` modulo 64, so that whatever is
// aligned in the file is aligned in memory too, and at least 64 bytes after it may be read.
arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateReadBuffer(uint64_t size,
                                                                 uint64_t file_offset);

// Bytes that this process keeps for reuse; bounded by kMaxPooledBytes.
uint64_t PooledBytes();
inline constexpr uint64_t kMaxPooledBytes = uint64_t{32} << 20;

}  // namespace glaive::io
