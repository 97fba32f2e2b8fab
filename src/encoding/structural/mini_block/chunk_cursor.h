#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace glaive::encoding {

// Writes one chunk front to back.
class ChunkCursor {
 public:
  static constexpr size_t kAlignment = 8;

  static constexpr size_t Padded(size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }

  explicit ChunkCursor(std::byte* begin) : begin_(begin), at_(begin) {}

  template <typename T>
  void Put(T value) {
    std::memcpy(at_, &value, sizeof(T));
    at_ += sizeof(T);
  }

  // Room for `size` bytes, from which on the chunk goes on at the next multiple of 8.
  std::byte* Take(size_t size) {
    std::byte* taken = at_;
    at_ += size;
    Pad();
    return taken;
  }

  void Pad() {
    std::byte* end = begin_ + Padded(static_cast<size_t>(at_ - begin_));
    std::fill(at_, end, kPad);
    at_ = end;
  }

 private:
  static constexpr std::byte kPad{0xFE};

  std::byte* begin_;
  std::byte* at_;
};

}  // namespace glaive::encoding
