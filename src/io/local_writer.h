#pragma once

#include <memory>
#include <span>
#include <string>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "io/object_store.h"

namespace glaive::io {

// Writes under a temporary name beside `path` (".tmp...", which readers of tables pass over), and
// renames at Finish.
arrow::Result<std::unique_ptr<ObjectWriter>> OpenLocalWriter(const std::string& path);

// Writes under the name itself, which must be new; removed again without Finish.
arrow::Result<std::unique_ptr<ObjectWriter>> OpenNewLocalFile(const std::string& path);

// Replaces `path`, with bytes and name on stable storage: the bytes before they get the name.
arrow::Status PutLocalSynced(const std::string& path, std::span<const std::byte> bytes);

// Makes `path` out of `parts` unless there is one: written under a temporary name and linked, so
// that of racing callers one wins and nobody sees a part of it.
arrow::Status PutLocalIfAbsent(const std::string& path,
                               std::span<const std::shared_ptr<arrow::Buffer>> parts, bool sync);

}  // namespace glaive::io
