#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "table/manifest/manifest.h"

// The bytes of a manifest file:
//
//   [index section]        u32 length, IndexSection message
//   [transaction section]  u32 length, Transaction message
//   manifest               u32 length, Manifest message
//   footer                 i64 offset of the manifest's length | i16 major 0 | i16 minor 2 | "LANC"
//
// All little endian; both sections may be missing.
namespace glaive::table {

inline constexpr uint64_t kManifestFooterSize = 16;
inline constexpr uint64_t kMaxInlineTransaction = uint64_t{20} << 20;

// Where the manifest's length lies in a file of `file_size` bytes, from the footer that ends
// `tail`, which are its last bytes. Corrupt for a file that is cut short or no manifest at all.
arrow::Result<uint64_t> ParseManifestFooter(std::span<const std::byte> tail, uint64_t file_size,
                                            std::string_view path);

struct ParsedManifest {
  Manifest manifest;                            // without its sections
  std::optional<uint64_t> index_section;        // offset in the file
  std::optional<uint64_t> transaction_section;  // likewise
};

// `message` is a Manifest message, which lies at `where`. Its fragments stay in it.
arrow::Result<ParsedManifest> ParseManifest(std::shared_ptr<arrow::Buffer> message, Location where);
// The same for a message whose fragments are opened already.
arrow::Result<ParsedManifest> ParseManifest(const std::shared_ptr<arrow::Buffer>& message,
                                            Location where, FragmentTable fragments);

// The whole file, as slices of what the manifest shares with older versions and of new bytes.
// Without a transaction the file has no such section.
arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> SerializeManifestFile(
    const Manifest& manifest, std::optional<std::string_view> transaction);

arrow::Result<BasePath> ParseBasePath(std::span<const std::byte> message, Location where);
std::string Serialize(const BasePath& base);

}  // namespace glaive::table
