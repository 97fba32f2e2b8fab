#include "table/manifest_file.h"

#include <algorithm>

#include "core/byte_reader.h"
#include "table/manifest_codec.h"

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
  file.tail_offset_ = size - std::min(size, kTailSize);
  ARROW_ASSIGN_OR_RAISE(file.tail_,
                        file.reader_->Read({file.tail_offset_, size - file.tail_offset_}));
  ARROW_ASSIGN_OR_RAISE(file.manifest_offset_,
                        ParseManifestFooter(BytesOf(*file.tail_), size, path));
  file.message_size_ = size - kManifestFooterSize - sizeof(uint32_t) - file.manifest_offset_;
  return file;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ManifestFile::Read(uint64_t offset, uint64_t size) {
  const auto slice = [&](const std::shared_ptr<arrow::Buffer>& buffer, uint64_t begin) {
    return arrow::SliceBuffer(buffer, static_cast<int64_t>(offset - begin),
                              static_cast<int64_t>(size));
  };
  if (offset >= tail_offset_) return slice(tail_, tail_offset_);
  if (head_ != nullptr && offset + size <= static_cast<uint64_t>(head_->size())) {
    return slice(head_, 0);
  }
  return reader_->Read({offset, size});
}

// `bytes` begin with the length of the message.
arrow::Status ManifestFile::TakeLength(std::span<const std::byte> bytes) {
  const auto length = LoadLittleEndian<uint32_t>(bytes.data());
  const uint64_t present = size_bytes() - kManifestFooterSize - sizeof(uint32_t) - manifest_offset_;
  if (length > present) {
    return Corrupt({path_, manifest_offset_}, "the manifest has {} bytes, its length says {}",
                   present, length);
  }
  message_size_ = length;
  return arrow::Status::OK();
}

arrow::Status ManifestFile::ReadMessage(const io::ObjectReader::Visit& visit) {
  uint64_t left = 0;  // of the message
  const auto visit_message = [&](std::span<const std::byte> bytes) {
    const auto of_message = bytes.first(std::min<uint64_t>(left, bytes.size()));
    left -= of_message.size();
    return visit(of_message);
  };
  if (manifest_offset_ >= tail_offset_) {
    const auto bytes = BytesOf(*tail_).subspan(manifest_offset_ - tail_offset_);
    ARROW_RETURN_NOT_OK(TakeLength(bytes));
    left = message_size_;
    return visit_message(bytes.subspan(sizeof(uint32_t)));
  }
  // In one go, with the tail once more, which is cheaper than putting the two together; small
  // sections before it come along.
  const uint64_t begin = manifest_offset_ <= kMaxSectionsReadAlong ? 0 : manifest_offset_;
  std::string head;  // up to the message
  const uint64_t head_size = manifest_offset_ + sizeof(uint32_t) - begin;
  const auto visit_file = [&](std::span<const std::byte> bytes) -> arrow::Status {
    if (head.size() < head_size) {
      const auto of_head = bytes.first(std::min<uint64_t>(head_size - head.size(), bytes.size()));
      head.append(reinterpret_cast<const char*>(of_head.data()), of_head.size());
      if (head.size() < head_size) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(TakeLength(std::as_bytes(std::span(head)).last(sizeof(uint32_t))));
      left = message_size_;
      bytes = bytes.subspan(of_head.size());
    }
    return visit_message(bytes);
  };
  ARROW_RETURN_NOT_OK(reader_->ReadInPieces({begin, size_bytes() - begin}, visit_file));
  if (begin == 0) head_ = arrow::Buffer::FromString(std::move(head));
  return arrow::Status::OK();
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
