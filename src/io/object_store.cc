#include <algorithm>
#include <cstdint>
#include <memory>

#include <arrow/buffer.h>

#include "core/error.h"
#include "io/object_store.h"

namespace glaive::io {

arrow::Result<bool> ObjectStore::Link(const std::string& from, const std::string& to) {
  constexpr uint64_t kChunk = uint64_t{8} << 20;
  ARROW_ASSIGN_OR_RAISE(const auto existing, Head(to));
  if (existing) return AlreadyExists(Location{to}, "there is an object of this name");
  ARROW_ASSIGN_OR_RAISE(const auto reader, OpenRead(from));
  ARROW_ASSIGN_OR_RAISE(const auto writer, OpenWrite(to));
  for (uint64_t offset = 0; offset < reader->size_bytes(); offset += kChunk) {
    const uint64_t size = std::min(kChunk, reader->size_bytes() - offset);
    ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({offset, size}));
    ARROW_RETURN_NOT_OK(writer->Write(std::as_bytes(std::span(bytes->data(), size))));
  }
  ARROW_RETURN_NOT_OK(writer->Finish());
  return false;
}

arrow::Status ObjectStore::DeleteFolder(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, ListRecursive(folder));
  for (const ObjectInfo& object : objects) ARROW_RETURN_NOT_OK(Delete(object.path));
  return arrow::Status::OK();
}

}  // namespace glaive::io
