#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Compresses buffers one by one: [u64 size][zstd frame]; an empty one stays empty.
class ZstdEncoder {
 public:
  static constexpr auto kScheme = wire::CompressionScheme::kZstd;

  ZstdEncoder();

  // Holds until the next call. REQUIRES: at most Lz4Encoder::kMaxInputBytes
  std::span<const std::byte> Compress(std::span<const std::byte> bytes);

 private:
  struct FreeContext {
    void operator()(void* context) const;
  };

  std::unique_ptr<void, FreeContext> context_;
  std::vector<std::byte> out_;
};

}  // namespace glaive::encoding
