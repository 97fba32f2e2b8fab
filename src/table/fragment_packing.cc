#include "table/fragment_packing.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <arrow/memory_pool.h>

#include "io/read_buffer.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

constexpr size_t kMaxShapes = 64;  // they are compared one by one; of others, fragments stay whole

constexpr char kFragmentTag = 2 << 3 | 2;  // of Manifest.fragments
constexpr char kIdTag = 1 << 3;
constexpr char kFileTag = 2 << 3 | 2;
constexpr char kDeletionFileTag = 3 << 3 | 2;
constexpr char kRowsTag = 4 << 3;
constexpr char kPathTag = 1 << 3 | 2;
constexpr char kSizeTag = 6 << 3;

constexpr size_t kMaxVarint = 10;

char* WriteVarint(uint64_t value, char* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}

char* WriteBytes(std::string_view bytes, char* out) {
  std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

char* WriteSized(std::string_view bytes, char* out) {
  return WriteBytes(bytes, WriteVarint(bytes.size(), out));
}

// Of bytes that were written above.
uint64_t ReadVarint(const char*& at) {
  auto byte = static_cast<uint8_t>(*at++);
  if (byte < 0x80) [[likely]]
    return byte;
  uint64_t value = byte & 0x7f;
  for (uint32_t shift = 7;; shift += 7) {
    byte = static_cast<uint8_t>(*at++);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::string_view ReadSized(const char*& at) {
  const uint64_t size = ReadVarint(at);
  const std::string_view bytes(at, size);
  at += size;
  return bytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateSmall(size_t num_bytes) {
  return arrow::AllocateBuffer(static_cast<int64_t>(num_bytes), arrow::system_memory_pool());
}

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t FileMessageSize(const FragmentShape::File& shape, const PackedFragment::File& file) {
  const uint64_t path_size = shape.has_packed_name ? kFileNameSize : file.path_size;
  return 1 + VarintSize(path_size) + path_size + shape.middle.size() +
         (shape.has_size ? 1 + VarintSize(file.size_bytes) : 0) + shape.tail.size();
}

char* WriteFile(const FragmentShape::File& shape, const PackedFragment::File& file,
                uint64_t message_size, char* out) {
  *out++ = kFileTag;
  out = WriteVarint(message_size, out);
  *out++ = kPathTag;
  if (shape.has_packed_name) {
    *out++ = static_cast<char>(kFileNameSize);
    const auto* packed = reinterpret_cast<const uint8_t*>(file.path);
    UnpackFileName(std::span<const uint8_t, std::tuple_size_v<PackedFileName>>(
                       packed, std::tuple_size_v<PackedFileName>),
                   out);
    out += kFileNameSize;
  } else {
    out = WriteVarint(file.path_size, out);
    out = WriteBytes({file.path, file.path_size}, out);
  }
  out = WriteBytes(shape.middle, out);
  if (shape.has_size) {
    *out++ = kSizeTag;
    out = WriteVarint(file.size_bytes, out);
  }
  return WriteBytes(shape.tail, out);
}

bool Fits(const FragmentShape& shape, const wire::FragmentParts& parts,
          std::span<const bool> is_packed) {
  if (shape.has_id != parts.id.has_value() ||
      shape.has_deletion_file != parts.deletion_file.has_value() ||
      shape.has_rows != parts.physical_rows.has_value() || shape.has_rest == parts.rest.empty() ||
      shape.files.size() != parts.num_files) {
    return false;
  }
  for (size_t i = 0; i < parts.num_files; ++i) {
    const FragmentShape::File& like = shape.files[i];
    const wire::FileParts& file = parts.files[i];
    if (like.has_packed_name != is_packed[i] || like.has_size != file.size_bytes.has_value() ||
        like.middle != file.middle || like.tail != file.tail) {
      return false;
    }
  }
  return true;
}

}  // namespace

uint32_t FragmentShapes::NumberOf(const wire::FragmentParts& parts,
                                  std::span<const bool> is_packed) {
  const auto fits = [&](const FragmentShape& shape) { return Fits(shape, parts, is_packed); };
  // Mostly it is one of the last ones.
  const auto found = std::find_if(shapes_.rbegin(), shapes_.rend(), fits);
  if (found != shapes_.rend()) return static_cast<uint32_t>(shapes_.rend() - found);
  if (shapes_.size() == kMaxShapes) return 0;
  FragmentShape& shape = shapes_.emplace_back();
  shape.has_id = parts.id.has_value();
  shape.has_deletion_file = parts.deletion_file.has_value();
  shape.has_rows = parts.physical_rows.has_value();
  shape.has_rest = !parts.rest.empty();
  for (size_t i = 0; i < parts.num_files; ++i) {
    const wire::FileParts& file = parts.files[i];
    shape.files.push_back({is_packed[i], file.size_bytes.has_value(), std::string(file.middle),
                           std::string(file.tail)});
  }
  return static_cast<uint32_t>(shapes_.size());
}

uint32_t FragmentShapes::NumberOf(const FragmentShape& shape) {
  const auto found = std::ranges::find(shapes_, shape);
  if (found == shapes_.end() && shapes_.size() == kMaxShapes) return 0;
  const auto number = static_cast<uint32_t>(found - shapes_.begin()) + 1;
  if (found == shapes_.end()) shapes_.push_back(shape);
  return number;
}

uint64_t FragmentShapes::memory_bytes() const {
  uint64_t bytes = 0;
  for (const FragmentShape& shape : shapes_) {
    bytes += sizeof(shape) + shape.files.capacity() * sizeof(FragmentShape::File);
    for (const auto& file : shape.files) bytes += file.middle.capacity() + file.tail.capacity();
  }
  return bytes;
}

PackedFragment::PackedFragment(const FragmentShapes& shapes, const char* packed) {
  const char* at = packed;
  shape_number = static_cast<uint32_t>(ReadVarint(at));
  id_step = static_cast<uint32_t>(ReadVarint(at));
  parts = at;
  if (shape_number == 0) {
    rest = ReadSized(at);
    end = at;
    return;
  }
  shape = &shapes[shape_number];
  for (size_t i = 0; i < shape->files.size(); ++i) {
    const FragmentShape::File& like = shape->files[i];
    const uint64_t path_size =
        like.has_packed_name ? std::tuple_size_v<PackedFileName> : ReadVarint(at);
    files[i].path = at;
    files[i].path_size = static_cast<uint32_t>(path_size);
    at += path_size;
    if (like.has_size) files[i].size_bytes = ReadVarint(at);
  }
  if (shape->has_deletion_file) deletion_file = ReadSized(at);
  if (shape->has_rows) rows = ReadVarint(at);
  if (shape->has_rest) rest = ReadSized(at);
  end = at;
}

PackedFragment::Sizes PackedFragment::SizesOf(uint32_t id) const {
  Sizes sizes = {.message = rest.size()};
  if (shape == nullptr) return sizes;
  if (shape->has_id) sizes.message += 1 + VarintSize(id);
  for (size_t i = 0; i < shape->files.size(); ++i) {
    sizes.files[i] = FileMessageSize(shape->files[i], files[i]);
    sizes.message += 1 + VarintSize(sizes.files[i]) + sizes.files[i];
  }
  if (shape->has_deletion_file) {
    sizes.message += 1 + VarintSize(deletion_file.size()) + deletion_file.size();
  }
  if (shape->has_rows) sizes.message += 1 + VarintSize(rows);
  return sizes;
}

char* PackedFragment::WriteMessage(uint32_t id, const Sizes& sizes, char* out) const {
  if (shape == nullptr) return WriteBytes(rest, out);
  if (shape->has_id) {
    *out++ = kIdTag;
    out = WriteVarint(id, out);
  }
  for (size_t i = 0; i < shape->files.size(); ++i) {
    out = WriteFile(shape->files[i], files[i], sizes.files[i], out);
  }
  if (shape->has_deletion_file) {
    *out++ = kDeletionFileTag;
    out = WriteVarint(deletion_file.size(), out);
    out = WriteBytes(deletion_file, out);
  }
  if (shape->has_rows) {
    *out++ = kRowsTag;
    out = WriteVarint(rows, out);
  }
  return WriteBytes(rest, out);
}

char* PackedFragment::WriteRecord(uint32_t id, char* out) const {
  const Sizes sizes = SizesOf(id);
  *out++ = kFragmentTag;
  out = WriteVarint(sizes.message, out);
  return WriteMessage(id, sizes, out);
}

std::string MessageOf(const PackedFragment& fragment, uint32_t id) {
  const auto sizes = fragment.SizesOf(id);
  std::string message(sizes.message, '\0');
  fragment.WriteMessage(id, sizes, message.data());
  return message;
}

void PackedBytes::Reserve(size_t num_bytes) {
  if (num_bytes <= capacity_) return;
  // Fresh pages of large ones come as huge pages.
  constexpr size_t kMinHuge = size_t{4} << 20;
  auto buffer =
      num_bytes >= kMinHuge ? io::AllocateReadBuffer(num_bytes, 0) : AllocateSmall(num_bytes);
  if (!buffer.ok()) throw std::bad_alloc();  // as other containers do
  auto* const data = reinterpret_cast<char*>((*buffer)->mutable_data());
  if (size_ > 0) std::memcpy(data, data_, size_);
  buffer_ = *std::move(buffer);
  data_ = data;
  capacity_ = num_bytes;
}

void PackFragment(std::span<const std::byte> message, uint32_t id_step, PackedFragments& to) {
  // No part becomes longer, and each of a few has a length.
  char* const begin = to.bytes.Room(message.size() + 8 * kMaxVarint);
  const auto parts = wire::SplitFragment(message);
  std::array<PackedFileName, wire::FragmentParts::kMaxFiles> names;
  std::array<bool, wire::FragmentParts::kMaxFiles> is_packed = {};
  uint32_t number = 0;
  if (parts) {
    for (size_t i = 0; i < parts->num_files; ++i) {
      is_packed[i] = PackFileName(parts->files[i].path, names[i]);
    }
    number = to.shapes.NumberOf(*parts, is_packed);
  }
  char* out = WriteVarint(id_step, WriteVarint(number, begin));
  if (number == 0) return to.bytes.Extend(WriteSized(TextOf(message), out));
  for (size_t i = 0; i < parts->num_files; ++i) {
    const wire::FileParts& file = parts->files[i];
    out = is_packed[i] ? WriteBytes(TextOf(std::as_bytes(std::span(names[i]))), out)
                       : WriteSized(file.path, out);
    if (file.size_bytes) out = WriteVarint(*file.size_bytes, out);
  }
  if (parts->deletion_file) out = WriteSized(*parts->deletion_file, out);
  if (parts->physical_rows) out = WriteVarint(*parts->physical_rows, out);
  if (!parts->rest.empty()) out = WriteSized(parts->rest, out);
  to.bytes.Extend(out);
}

void AlikePacker::SetMiddle(std::string_view middle, PackedFragments& to) {
  if (number_ != 0 && middle == middle_) return;
  middle_ = middle;
  wire::FragmentParts parts;
  parts.id = parts.physical_rows = 0;
  parts.files[0] = {.path = {}, .middle = middle_, .size_bytes = 0, .tail = {}};
  parts.num_files = 1;
  number_ = to.shapes.NumberOf(parts, std::array{true});
}

void AlikePacker::Pack(const wire::FoundFragment& found, uint32_t id_step, PackedFragments& to) {
  constexpr size_t kNameSize = std::tuple_size_v<PackedFileName>;
  char* out = to.bytes.Room(4 * kMaxVarint + kNameSize);
  out = WriteVarint(id_step, WriteVarint(number_, out));
  const std::span<uint8_t, kNameSize> name(reinterpret_cast<uint8_t*>(out), kNameSize);
  if (number_ == 0 || !PackFileName(found.path, name)) {
    return PackFragment(found.message, id_step, to);
  }
  out = WriteVarint(found.file_size_bytes, out + kNameSize);
  to.bytes.Extend(WriteVarint(found.live_rows, out));
}

void PackedCopier::Copy(const PackedFragment& fragment, uint32_t id, uint32_t id_step,
                        PackedFragments& to) {
  uint32_t number = 0;
  if (fragment.shape != nullptr) {
    if (numbers_.size() <= fragment.shape_number) numbers_.resize(fragment.shape_number + 1);
    uint32_t& known = numbers_[fragment.shape_number];
    if (known == 0) known = to.shapes.NumberOf(*fragment.shape);
    number = known;
    if (number == 0) {
      return PackFragment(wire::AsBytes(MessageOf(fragment, id)), id_step, to);
    }
  }
  const std::string_view parts(fragment.parts, fragment.end);
  char* out = to.bytes.Room(2 * kMaxVarint + parts.size());
  to.bytes.Extend(WriteBytes(parts, WriteVarint(id_step, WriteVarint(number, out))));
}

}  // namespace glaive::table
