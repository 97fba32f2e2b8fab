#define LZ4_STATIC_LINKING_ONLY  // for the call that does not clear its tables first

#include "encoding/codec/lz4_encoder.h"

#include <lz4.h>

#include <cstdint>
#include <cstring>

namespace glaive::encoding {

Lz4Encoder::Lz4Encoder() : state_(static_cast<size_t>(LZ4_sizeofState())) {
  LZ4_initStream(state_.data(), state_.size());
}

std::span<const std::byte> Lz4Encoder::Compress(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const auto size = static_cast<uint32_t>(bytes.size());
  const int bound = LZ4_compressBound(static_cast<int>(size));
  const size_t needed = sizeof(size) + static_cast<size_t>(bound);
  if (out_.size() < needed) out_.resize(needed);
  std::memcpy(out_.data(), &size, sizeof(size));
  const int compressed = LZ4_compress_fast_extState_fastReset(
      state_.data(), reinterpret_cast<const char*>(bytes.data()),
      reinterpret_cast<char*>(out_.data() + sizeof(size)), static_cast<int>(size), bound,
      /*acceleration=*/1);
  return {out_.data(), sizeof(size) + static_cast<size_t>(compressed)};
}

}  // namespace glaive::encoding
