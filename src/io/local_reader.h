#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "io/object_store.h"

namespace glaive::io {

// Reads a local file by pread; never by mmap, where a file that was cut would be a signal instead
// of an error. Where the size is known nothing is opened before the first read.
//
// Readers may outnumber descriptors: the process keeps a bounded number of files open, those that
// were used last, and opens others again when they are read.
arrow::Result<std::shared_ptr<ObjectReader>> OpenLocalFile(const std::string& path,
                                                           std::optional<uint64_t> size_bytes);

// Closes what no read is using at this moment. Readers stay valid.
void CloseIdleDescriptors();
void CloseIdleDescriptors(const std::string& path);  // those of one file

// Files that readers of this process hold open.
size_t NumOpenDescriptors();
inline constexpr size_t kMaxOpenDescriptors = 128;

}  // namespace glaive::io
