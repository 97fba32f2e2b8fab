#include "encoding/codec/general.h"

#include <climits>
#include <memory>

#include <lz4.h>
// ZSTD_decompressBound: the most that a frame's blocks can hold.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kLz4Header = sizeof(uint32_t);
constexpr uint64_t kZstdHeader = sizeof(uint64_t);
constexpr uint64_t kLz4MaxRatio = 255;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// A context costs more to make than a chunk to decompress.
ZSTD_DCtx* ThreadContext() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

arrow::Result<uint64_t> Lz4Size(Bytes compressed, Location where) {
  ByteReader reader(compressed, where);
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, reader.Read<uint32_t>("size of lz4 data"));
  if (size > reader.remaining() * kLz4MaxRatio || size > LZ4_MAX_INPUT_SIZE) {
    return Corrupt(where, "{} bytes of lz4 data cannot hold {}", reader.remaining(), size);
  }
  return size;
}

arrow::Result<uint64_t> ZstdSize(Bytes compressed, Location where) {
  ByteReader reader(compressed, where);
  ARROW_ASSIGN_OR_RAISE(const auto size, reader.Read<uint64_t>("size of zstd data"));
  if (static_cast<uint32_t>(size) == ZSTD_MAGICNUMBER) {
    return Unsupported(where, "zstd data without its size in front, as old writers left it");
  }
  ARROW_RETURN_NOT_OK(CheckZstdBound(compressed.subspan(kZstdHeader), size, where));
  return size;
}

arrow::Status CheckMost(uint64_t size, uint64_t most, Location where) {
  if (size <= most) return arrow::Status::OK();
  return Corrupt(where, "compressed data of {} bytes where there are at most {}", size, most);
}

}  // namespace

arrow::Result<GeneralDescription> GeneralDescription::Validate(wire::CompressionScheme scheme,
                                                               Location where) {
  if (scheme != wire::CompressionScheme::kLz4 && scheme != wire::CompressionScheme::kZstd) {
    return Unsupported(where, "general compression scheme {}", static_cast<uint32_t>(scheme));
  }
  return GeneralDescription(scheme);
}

arrow::Result<uint64_t> GeneralDescription::DecompressedSize(Bytes compressed, uint64_t most,
                                                             Location where) const {
  if (compressed.empty()) return 0;
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, scheme_ == wire::CompressionScheme::kLz4
                                                 ? Lz4Size(compressed, where)
                                                 : ZstdSize(compressed, where));
  ARROW_RETURN_NOT_OK(CheckMost(size, most, where));
  return size;
}

arrow::Status GeneralDescription::Decompress(Bytes compressed, std::span<std::byte> out,
                                             Location where) const {
  if (compressed.empty()) return arrow::Status::OK();
  if (scheme_ == wire::CompressionScheme::kLz4) {
    const Bytes block = compressed.subspan(kLz4Header);
    const int size =
        block.size() > INT_MAX
            ? -1
            : LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
                                  reinterpret_cast<char*>(out.data()),
                                  static_cast<int>(block.size()), static_cast<int>(out.size()));
    if (size >= 0 && static_cast<size_t>(size) == out.size()) return arrow::Status::OK();
    return Corrupt(where, "lz4 data that does not decompress to {} bytes", out.size());
  }
  return DecompressZstdFrame(compressed.subspan(kZstdHeader), out, where);
}

bool IsBareZstdFrame(Bytes bytes) {
  if (bytes.empty()) return false;
  if (bytes.size() < kZstdHeader) return true;
  constexpr std::byte kBit{0x10};
  return LoadLittleEndian<uint32_t>(bytes.data()) == ZSTD_MAGICNUMBER &&
         (bytes[sizeof(uint32_t)] & kBit) == std::byte{0};
}

arrow::Status CheckZstdBound(Bytes frame, uint64_t size, Location where) {
  const unsigned long long bound = ZSTD_decompressBound(frame.data(), frame.size());
  if (bound != ZSTD_CONTENTSIZE_ERROR && size <= bound) return arrow::Status::OK();
  return Corrupt(where, "{} bytes of zstd data cannot hold {}", frame.size(), size);
}

arrow::Status DecompressZstdFrame(Bytes frame, std::span<std::byte> out, Location where) {
  const size_t size =
      ZSTD_decompressDCtx(ThreadContext(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size)) {
    return Corrupt(where, "zstd data does not decompress: {}", ZSTD_getErrorName(size));
  }
  if (size == out.size()) return arrow::Status::OK();
  return Corrupt(where, "zstd data holds {} bytes, {} expected", size, out.size());
}

arrow::Result<Bytes> GeneralDescription::Decompress(Bytes compressed, uint64_t most,
                                                    ScratchBytes& scratch, Location where) const {
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, DecompressedSize(compressed, most, where));
  if (scratch.size() < size) scratch.resize(size);
  const std::span<std::byte> out(scratch.data(), size);
  ARROW_RETURN_NOT_OK(Decompress(compressed, out, where));
  return Bytes(out);
}

}  // namespace glaive::encoding
