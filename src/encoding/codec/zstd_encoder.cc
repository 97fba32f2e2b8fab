#include "encoding/codec/zstd_encoder.h"

#include <cstdint>
#include <cstring>

#include <zstd.h>

namespace glaive::encoding {
namespace {

constexpr int kLevel = 1;

}  // namespace

void ZstdEncoder::FreeContext::operator()(void* context) const {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context));
}

ZstdEncoder::ZstdEncoder() : context_(ZSTD_createCCtx()) {}

std::span<const std::byte> ZstdEncoder::Compress(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const uint64_t size = bytes.size();
  const size_t bound = ZSTD_compressBound(bytes.size());
  if (out_.size() < sizeof(size) + bound) out_.resize(sizeof(size) + bound);
  std::memcpy(out_.data(), &size, sizeof(size));
  // Cannot fail: there is room for the worst case, and a context.
  const size_t compressed =
      ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_.get()), out_.data() + sizeof(size), bound,
                        bytes.data(), bytes.size(), kLevel);
  return {out_.data(), sizeof(size) + compressed};
}

}  // namespace glaive::encoding
