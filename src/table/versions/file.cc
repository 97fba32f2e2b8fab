#include "table/versions/file.h"

#include <algorithm>

#include "core/byte_reader.h"
#include "table/manifest/codec.h"

namespace glaive::table {
namespace {

constexpr uint64_t kTailSize = uint64_t{64} << 10;
constexpr uint64_t kMaxSectionsReadAlong = uint64_t{64} << 10;

std::span<const std::byte> BytesOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// An IndexSection is a list of messages, a Transaction begins with a number or, read from version
// 0, with its uuid.
bool IsTransaction(std::span<const std::byte> message) {
  constexpr std::byte kFirstIndex{0x0a};
  return !message.empty() && message.front() != kFirstIndex;
}

}  // namespace

arrow::Result<ManifestFile> ManifestFile::Open(const TableLocation& table, const std::string& path,
                                               std::optional<uint64_t> size_bytes) {
  ManifestFile file;
  file.path_ = path;
  ARROW_ASSIGN_OR_RAISE(file.reader_, table.store->OpenRead(path, size_bytes));
  const uint64_t size = file.size_bytes();
  file.bytes_offset_ = size - std::min(size, kTailSize);
  ARROW_ASSIGN_OR_RAISE(file.bytes_,
                        file.reader_->Read({file.bytes_offset_, size - file.bytes_offset_}));
  ARROW_ASSIGN_OR_RAISE(file.manifest_offset_,
                        ParseManifestFooter(BytesOf(*file.bytes_), size, path));
  return file;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::Read(uint64_t offset, uint64_t size) {
  if (offset >= bytes_offset_) {
    return arrow::SliceBuffer(bytes_, static_cast<int64_t>(offset - bytes_offset_),
                              static_cast<int64_t>(size));
  }
  return reader_->Read({offset, size});
}

// Of bytes from `bytes_offset` to the file's end, of which the length of the message is there.
arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::SliceMessage(
    const std::shared_ptr<arrow::Buffer>& bytes, uint64_t bytes_offset) const {
  const uint64_t begin = manifest_offset_ + sizeof(uint32_t);
  const auto length =
      LoadLittleEndian<uint32_t>(BytesOf(*bytes).data() + manifest_offset_ - bytes_offset);
  const uint64_t present = size_bytes() - kManifestFooterSize - begin;
  if (length > present) {
    return Corrupt({path_, manifest_offset_}, "the manifest has {} bytes, its length says {}",
                   present, length);
  }
  return arrow::SliceBuffer(bytes, static_cast<int64_t>(begin - bytes_offset), length);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::ReadMessage(
    const io::ObjectReader::Arrived& arrived) {
  std::shared_ptr<arrow::Buffer> message;
  if (manifest_offset_ >= bytes_offset_) {
    ARROW_ASSIGN_OR_RAISE(message, SliceMessage(bytes_, bytes_offset_));
    ARROW_RETURN_NOT_OK(arrived(message, static_cast<uint64_t>(message->size())));
    return message;
  }
  // In one piece, with the tail once more, which is cheaper than putting the two together; small
  // sections before it come along.
  bytes_offset_ = manifest_offset_ <= kMaxSectionsReadAlong ? 0 : manifest_offset_;
  const uint64_t begin = manifest_offset_ + sizeof(uint32_t) - bytes_offset_;
  const auto of_file = [&](const std::shared_ptr<arrow::Buffer>& bytes,
                           uint64_t num_bytes) -> arrow::Status {
    if (num_bytes < begin) return arrow::Status::OK();
    if (message == nullptr) {
      ARROW_ASSIGN_OR_RAISE(message, SliceMessage(bytes, bytes_offset_));
    }
    return arrived(message, std::min(num_bytes - begin, static_cast<uint64_t>(message->size())));
  };
  ARROW_ASSIGN_OR_RAISE(
      bytes_, reader_->ReadInSteps({bytes_offset_, size_bytes() - bytes_offset_}, of_file));
  return message;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::ReadSection(uint64_t offset) {
  if (offset > manifest_offset_ || manifest_offset_ - offset < sizeof(uint32_t)) {
    return Corrupt({path_}, "a section would begin at {}, behind the manifest at {}", offset,
                   manifest_offset_);
  }
  // Mostly one read has it all.
  const uint64_t available = manifest_offset_ - offset;
  ARROW_ASSIGN_OR_RAISE(const auto head, Read(offset, std::min(available, kTailSize)));
  const auto length = LoadLittleEndian<uint32_t>(BytesOf(*head).data());
  if (length > available - sizeof(uint32_t)) {
    return Corrupt({path_, offset}, "a section of {} bytes would pass the manifest at {}", length,
                   manifest_offset_);
  }
  if (sizeof(uint32_t) + uint64_t{length} <= static_cast<uint64_t>(head->size())) {
    return arrow::SliceBuffer(head, sizeof(uint32_t), length);
  }
  return Read(offset + sizeof(uint32_t), length);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::FindTransaction() {
  uint64_t offset = 0;
  while (manifest_offset_ - offset > sizeof(uint32_t)) {
    auto section = ReadSection(offset);
    // Old files have pages of dictionaries there, which no length precedes.
    if (!section.ok() && KindOf(section.status()) == ErrorKind::kCorrupt) return nullptr;
    ARROW_RETURN_NOT_OK(section.status());
    if (IsTransaction(BytesOf(**section))) return section;
    offset += sizeof(uint32_t) + static_cast<uint64_t>((*section)->size());
  }
  return nullptr;
}

}  // namespace glaive::table
