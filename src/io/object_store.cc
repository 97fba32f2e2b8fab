#include <algorithm>
#include <cstdint>
#include <memory>

#include <arrow/buffer.h>

#include "core/error.h"
#include "io/object_store.h"

namespace glaive::io {

arrow::Result<std::shared_ptr<arrow::Buffer>> ObjectReader::ReadInSteps(ByteRange range,
                                                                        const Arrived& arrived) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, Read(range));
  ARROW_RETURN_NOT_OK(arrived(buffer, range.size));
  return buffer;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ObjectStore::ReadWhole(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, OpenRead(path));
  return reader->Read({0, reader->size_bytes()});
}

arrow::Result<std::unique_ptr<ObjectWriter>> ObjectStore::OpenNew(const std::string& path) {
  return OpenWrite(path);
}

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

arrow::Result<std::optional<ObjectInfo>> ObjectStore::FindHighest(const std::string& folder,
                                                                  const NameRank& rank) {
  ARROW_ASSIGN_OR_RAISE(auto objects, List(folder));
  std::optional<ObjectInfo> highest;
  uint64_t highest_rank = 0;
  for (ObjectInfo& object : objects) {
    const auto of_name = rank(std::string_view(object.path).substr(object.path.rfind('/') + 1));
    if (!of_name || (highest && *of_name <= highest_rank)) continue;
    highest = std::move(object);
    highest_rank = *of_name;
  }
  return highest;
}

arrow::Status ObjectStore::PutSynced(const std::string& path, std::span<const std::byte> bytes) {
  ARROW_RETURN_NOT_OK(Put(path, bytes));
  return Sync({&path, 1});
}

arrow::Result<bool> ObjectStore::DeleteIf(const ObjectInfo& seen) {
  ARROW_ASSIGN_OR_RAISE(const auto now, Head(seen.path));
  if (!now) return true;
  if (*now != seen) return false;
  ARROW_RETURN_NOT_OK(Delete(seen.path));
  return true;
}

arrow::Status ObjectStore::DeleteFolder(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, ListRecursive(folder));
  for (const ObjectInfo& object : objects) ARROW_RETURN_NOT_OK(DeleteIf(object).status());
  return arrow::Status::OK();
}

}  // namespace glaive::io
