#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// A whole buffer compressed by lz4 or zstd:
//
//   lz4    [u32 size][raw block]        zstd   [u64 size][frame]
//
// The size is of what comes out; an empty buffer stays empty.
namespace glaive::encoding {

class GeneralDescription {
 public:
  static arrow::Result<GeneralDescription> Validate(wire::CompressionScheme scheme, Location where);

  // How much will come out. More than `most`, which the caller has use for at most, and more than
  // the compressed bytes can hold is refused, so that a size which is damaged allocates nothing.
  arrow::Result<uint64_t> DecompressedSize(Bytes compressed, uint64_t most, Location where) const;

  // REQUIRES: `out` is of DecompressedSize
  arrow::Status Decompress(Bytes compressed, std::span<std::byte> out, Location where) const;

  // Both into a buffer that is kept for the next time.
  arrow::Result<Bytes> Decompress(Bytes compressed, uint64_t most, ScratchBytes& scratch,
                                  Location where) const;

 private:
  explicit GeneralDescription(wire::CompressionScheme scheme) : scheme_(scheme) {}

  wire::CompressionScheme scheme_;
};

// A zstd frame without its size in front, which files of 2.0 may have.
bool IsBareZstdFrame(Bytes bytes);
// Corrupt if the frame cannot hold so many bytes.
arrow::Status CheckZstdBound(Bytes frame, uint64_t size, Location where);
arrow::Status DecompressZstdFrame(Bytes frame, std::span<std::byte> out, Location where);

}  // namespace glaive::encoding
