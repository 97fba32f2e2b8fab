#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "wire/message.h"

// Only .cc files of src/wire include this.
namespace glaive::wire {

constexpr uint64_t Tag(uint32_t number, WireType type) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(type);
}

// Steps through a message, several times as fast as protozero's reader, and without exceptions.
// Bytes that are no message end it, and `ok` says so.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : Cursor(bytes.data(), bytes.data() + bytes.size()) {}

  bool done() const { return at_ == end_; }
  bool ok() const { return ok_; }
  // Whether every varint so far was as short as its value allows, as writers make them.
  bool is_canonical() const { return is_canonical_; }
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

  // REQUIRES: a place in the same message
  void MoveTo(const std::byte* at) { at_ = at; }

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  // Steps over a tag of one byte if that is what comes next.
  bool Match(uint64_t tag) {
    if (at_ == end_ || *at_ != static_cast<std::byte>(tag)) return false;
    ++at_;
    return true;
  }

  // Steps over these bytes if they come next. There are 8 at least.
  bool Match(std::string_view bytes) {
    if (bytes.size() > static_cast<size_t>(end_ - at_)) return false;
    const size_t last = bytes.size() - sizeof(uint64_t);
    bool same = Word(at_ + last) == Word(bytes.data() + last);
    for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
      same = same && Word(at_ + i) == Word(bytes.data() + i);
    }
    if (same) at_ += bytes.size();
    return same;
  }

 private:
  static constexpr std::byte kMore{0x80};
  static constexpr std::byte kTopBit{1};  // all that a tenth byte has room for

  Cursor(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

  static uint64_t Word(const void* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
  }

  uint64_t LongVarint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const std::byte byte = *at_++;
      value |= static_cast<uint64_t>(byte & ~kMore) << shift;
      if (byte < kMore) {
        is_canonical_ = is_canonical_ && byte != std::byte{0} && (shift < 63 || byte == kTopBit);
        return value;
      }
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
  bool is_canonical_ = true;
};

}  // namespace glaive::wire
