#include <algorithm>

#include "wire/file_version.h"
#include "wire/fragment.h"
#include "wire/message.h"

// Opening a table walks over every field of every fragment. protozero's reader reports bad bytes by
// exceptions and takes several times as long; it is asked only to say what is wrong.
namespace glaive::wire {
namespace {

constexpr uint64_t Tag(uint32_t number, WireType type) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(type);
}

// Steps through a message. Bytes that are no message end it, and `ok` says so.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : Cursor(bytes.data(), bytes.data() + bytes.size()) {}

  bool done() const { return at_ == end_; }
  bool ok() const { return ok_; }
  const std::byte* at() const { return at_; }

  uint64_t Varint() {
    if (at_ != end_ && *at_ < kMore) [[likely]] {
      return static_cast<uint64_t>(*at_++);
    }
    return LongVarint();
  }

  std::span<const std::byte> Bytes() {
    const uint64_t size = Varint();
    if (size > static_cast<uint64_t>(end_ - at_)) {
      Fail();
      return {};
    }
    const std::byte* begin = at_;
    at_ += size;
    return {begin, at_};
  }

  // The value of a field with this tag. Fields are numbered from 1.
  void Skip(uint64_t tag) {
    if (tag < 8) return Fail();
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::varint: Varint(); return;
      case WireType::length_delimited: Bytes(); return;
      case WireType::fixed64: return SkipBytes(8);
      case WireType::fixed32: return SkipBytes(4);
      default: Fail();
    }
  }

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  static constexpr std::byte kMore{0x80};

  Cursor(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

  uint64_t LongVarint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const std::byte byte = *at_++;
      value |= static_cast<uint64_t>(byte & ~kMore) << shift;
      if (byte < kMore) return value;
    }
    Fail();
    return 0;
  }

  void SkipBytes(ptrdiff_t size) {
    if (end_ - at_ < size) return Fail();
    at_ += size;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

// False where the bytes are no message.
bool ScanFields(std::span<const std::byte> packed, FragmentFacts& facts) {
  Cursor ids(packed);
  while (!ids.done()) {
    facts.max_field_id = std::max(facts.max_field_id, static_cast<int32_t>(ids.Varint()));
  }
  return ids.ok();
}

bool ScanDataFile(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor file(message);
  uint32_t major = 0;
  uint32_t minor = 0;
  while (!file.done()) {
    const uint64_t tag = file.Varint();
    switch (tag) {
      case Tag(2, kVarint):
        facts.max_field_id = std::max(facts.max_field_id, static_cast<int32_t>(file.Varint()));
        break;
      case Tag(2, kLengthDelimited):
        if (!ScanFields(file.Bytes(), facts)) return false;
        break;
      case Tag(4, kVarint): major = static_cast<uint32_t>(file.Varint()); break;
      case Tag(5, kVarint): minor = static_cast<uint32_t>(file.Varint()); break;
      case Tag(6, kVarint): facts.data_file_bytes += file.Varint(); break;
      default: file.Skip(tag);
    }
  }
  if (const auto version = FileVersionOf(major, minor)) {
    ++facts.files_by_version[static_cast<size_t>(*version)];
  } else {
    ++facts.files_of_unknown_version;
  }
  return file.ok();
}

bool ScanDeletionFile(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor file(message);
  while (!file.done()) {
    const uint64_t tag = file.Varint();
    if (tag == Tag(4, kVarint)) {
      facts.deleted_rows = file.Varint();
    } else {
      file.Skip(tag);
    }
  }
  return file.ok();
}

// A field's id is taken while an overlay supplies the field.
bool ScanOverlay(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor overlay(message);
  while (!overlay.done()) {
    const uint64_t tag = overlay.Varint();
    if (tag != Tag(1, kLengthDelimited)) {
      overlay.Skip(tag);
      continue;
    }
    FragmentFacts of_file;
    if (!ScanDataFile(overlay.Bytes(), of_file)) return false;
    facts.max_field_id = std::max(facts.max_field_id, of_file.max_field_id);
  }
  return overlay.ok();
}

// False also where the numbers contradict each other.
bool ScanFragment(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor fragment(message);
  while (!fragment.done()) {
    const uint64_t tag = fragment.Varint();
    switch (tag) {
      case Tag(1, kVarint): facts.id = fragment.Varint(); continue;
      case Tag(2, kLengthDelimited):
        if (!ScanDataFile(fragment.Bytes(), facts)) return false;
        continue;
      case Tag(3, kLengthDelimited):
        facts.has_deletion_file = true;
        if (!ScanDeletionFile(fragment.Bytes(), facts)) return false;
        continue;
      case Tag(4, kVarint): facts.physical_rows = fragment.Varint(); continue;
      case Tag(5, kLengthDelimited): facts.has_row_ids = true; break;
      case Tag(11, kLengthDelimited):
        ++facts.num_overlays;
        if (!ScanOverlay(fragment.Bytes(), facts)) return false;
        continue;
      case Tag(12, kLengthDelimited):
        facts.has_row_ids = true;
        facts.has_spilled_lineage = true;
        break;
      case Tag(13, kLengthDelimited):
      case Tag(14, kLengthDelimited): facts.has_spilled_lineage = true; break;
      default: break;
    }
    fragment.Skip(tag);
  }
  return fragment.ok() && (facts.deleted_rows <= facts.physical_rows || facts.physical_rows == 0);
}

// REQUIRES: ScanFragment failed
arrow::Status WhatIsWrong(std::span<const std::byte> message, Location where,
                          const FragmentFacts& facts) {
  ARROW_RETURN_NOT_OK(ParseDataFragment(message, where));
  if (facts.deleted_rows > facts.physical_rows && facts.physical_rows != 0) {
    return Corrupt(where, "fragment {} has {} rows and {} deleted ones", facts.id,
                   facts.physical_rows, facts.deleted_rows);
  }
  return Corrupt(where, "DataFragment is not a valid message");
}

}  // namespace

arrow::Result<FragmentFacts> ScanDataFragment(std::span<const std::byte> message, Location where) {
  FragmentFacts facts;
  if (!ScanFragment(message, facts)) return WhatIsWrong(message, where, facts);
  return facts;
}

arrow::Status VisitFragments(
    std::span<const std::byte> manifest, Location where,
    const std::function<arrow::Status(const FragmentFacts&, ByteRange record)>& visit) {
  constexpr uint64_t kFragments = Tag(2, kLengthDelimited);
  const auto offset_of = [&](const std::byte* at) {
    return static_cast<uint64_t>(at - manifest.data());
  };
  Cursor fields(manifest);
  while (!fields.done()) {
    const uint64_t begin = offset_of(fields.at());
    const uint64_t tag = fields.Varint();
    if (tag != kFragments) {
      fields.Skip(tag);
      continue;
    }
    const auto message = fields.Bytes();
    if (!fields.ok()) break;
    FragmentFacts facts;
    if (!ScanFragment(message, facts)) [[unlikely]] {
      return WhatIsWrong(message, where.Plus(offset_of(message.data())), facts);
    }
    ARROW_RETURN_NOT_OK(visit(facts, {begin, offset_of(fields.at()) - begin}));
  }
  if (fields.ok()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(ReadMessage(manifest, where, "Manifest", [](FieldReader& r) { r.skip(); }));
  return Corrupt(where, "Manifest is not a valid message");
}

}  // namespace glaive::wire
