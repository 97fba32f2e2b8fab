#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Compresses buffers one by one: [u32 size][raw lz4 block]; an empty one stays empty.
class Lz4Encoder {
 public:
  static constexpr auto kScheme = wire::CompressionScheme::kLz4;
  static constexpr size_t kMaxInputBytes = 0x7E000000;

  Lz4Encoder();

  // Holds until the next call. REQUIRES: at most kMaxInputBytes
  std::span<const std::byte> Compress(std::span<const std::byte> bytes);

 private:
  std::vector<std::byte> state_;
  std::vector<std::byte> out_;
};

}  // namespace glaive::encoding
