#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/result.h>

namespace glaive::io {

// A buffer of `size` bytes to read bytes of a file into, as long-lived as its last reference. Its
// memory is recycled; that of buffers above 16 MiB is the system's, in huge pages.
//
// The data lies at an address that is congruent to `file_offset` modulo 64, so that whatever is
// aligned in the file is aligned in memory too, and at least 64 bytes after it may be read.
arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateReadBuffer(uint64_t size,
                                                                 uint64_t file_offset);

}  // namespace glaive::io
