#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>

#include "table/packed_file_name.h"
#include "wire/fragment_parts.h"
#include "wire/fragment_scan.h"

// How a run keeps its fragments in memory: what they have in common once, as a shape, and of each
// the rest. A fragment of one file takes some 22 bytes in place of 80 to 140.
//
//   shape      varint  its number among the run's shapes; 0: the message lies here as it is
//   id step    varint  how many ids were left out since the fragment before
//   of each file       packed name (16 bytes), or varint length and path | size varint
//   deletion file      varint length, message
//   rows       varint
//   rest               varint length, fields
//
// Parts that the shape says there are none of are left out. What is unpacked are the bytes that
// were packed.
namespace glaive::table {

struct FragmentShape {
  struct File {
    bool has_packed_name;
    bool has_size;
    std::string middle;
    std::string tail;
    bool operator==(const File&) const = default;
  };
  bool has_id;
  bool has_deletion_file;
  bool has_rows;
  bool has_rest;
  std::vector<File> files;
  bool operator==(const FragmentShape&) const = default;
};

class FragmentShapes {
 public:
  // Numbered from 1.
  const FragmentShape& operator[](uint32_t number) const { return shapes_[number - 1]; }
  // That of a fragment, which is added if it is new. 0, that of no shape, where there are too many.
  // `is_packed` tells of the names of its files.
  uint32_t NumberOf(const wire::FragmentParts& parts, std::span<const bool> is_packed);
  // Of one of other shapes.
  uint32_t NumberOf(const FragmentShape& shape);
  uint64_t memory_bytes() const;

 private:
  std::vector<FragmentShape> shapes_;
};

inline uint64_t VarintSize(uint64_t value) {
  return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Of a message as field 2 of a Manifest: with tag and length.
inline uint64_t RecordSize(uint64_t message_size) {
  return 1 + VarintSize(message_size) + message_size;
}

// A packed fragment, its parts where they lie.
struct PackedFragment {
  struct File {
    const char* path = nullptr;  // packed or not
    uint32_t path_size = 0;
    uint64_t size_bytes = 0;
  };

  const FragmentShape* shape = nullptr;  // null: `rest` is the message
  uint32_t shape_number = 0;
  uint32_t id_step = 0;
  const char* parts = nullptr;  // behind the id step
  std::array<File, wire::FragmentParts::kMaxFiles> files;
  std::string_view deletion_file;
  uint64_t rows = 0;
  std::string_view rest;
  const char* end = nullptr;

  // REQUIRES: `packed` points to what Pack appended, with these shapes
  PackedFragment(const FragmentShapes& shapes, const char* packed);

  struct Sizes {
    uint64_t message;
    std::array<uint64_t, wire::FragmentParts::kMaxFiles> files = {};  // of their messages
  };
  Sizes SizesOf(uint32_t id) const;
  // Both return where they end. REQUIRES: room
  char* WriteMessage(uint32_t id, const Sizes& sizes, char* out) const;
  char* WriteRecord(uint32_t id, char* out) const;
};

std::string MessageOf(const PackedFragment& fragment, uint32_t id);

// Bytes that are written at their end, in memory of few page faults.
class PackedBytes {
 public:
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

  void Reserve(size_t num_bytes);
  // Where the next bytes go, with room for so many; Extend tells where they end.
  char* Room(size_t num_bytes) {
    if (capacity_ - size_ < num_bytes) Reserve(std::max(2 * capacity_, size_ + num_bytes));
    return data_ + size_;
  }
  void Extend(const char* end) { size_ = static_cast<size_t>(end - data_); }

 private:
  std::shared_ptr<arrow::Buffer> buffer_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

struct PackedFragments {
  FragmentShapes shapes;
  PackedBytes bytes;
};

void PackFragment(std::span<const std::byte> message, uint32_t id_step, PackedFragments& to);

// The same, quicker, for fragments that a scan found alike.
class AlikePacker {
 public:
  // What those have in common that follow.
  void SetMiddle(std::string_view middle, PackedFragments& to);
  void Pack(const wire::FoundFragment& found, uint32_t id_step, PackedFragments& to);

 private:
  std::string middle_;
  uint32_t number_ = 0;  // of their shape
};

// Packs fragments of one run for another.
class PackedCopier {
 public:
  void Copy(const PackedFragment& fragment, uint32_t id, uint32_t id_step, PackedFragments& to);

 private:
  std::vector<uint32_t> numbers_;  // of the shapes there, by those here; 0: not known
};

}  // namespace glaive::table
