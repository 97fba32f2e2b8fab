#include "file/footer.h"

#include <cstring>
#include <optional>

#include "core/byte_reader.h"

namespace glaive::file {
namespace {

constexpr std::string_view kMagic = "LANC";

// Files of 2.0 call themselves (0, 3); (2, 0) is what self-described batches in memory have.
std::optional<FileVersion> VersionOf(uint16_t major, uint16_t minor) {
  if (major == 0 && minor <= 2) return FileVersion::k0_1;
  if ((major == 0 && minor == 3) || (major == 2 && minor == 0)) return FileVersion::k2_0;
  if (major == 2 && minor == 1) return FileVersion::k2_1;
  if (major == 2 && minor == 2) return FileVersion::k2_2;
  if (major == 2 && minor == 3) return FileVersion::k2_3;
  return std::nullopt;
}

arrow::Status CheckVersion(FileVersion version, std::string_view path) {
  switch (version) {
    case FileVersion::k2_0:
    case FileVersion::k2_1:
    case FileVersion::k2_2:
    case FileVersion::k2_3: return arrow::Status::OK();
    case FileVersion::k0_1:
      return Unsupported(Location{path}, "data files of version 0.1 are not read");
  }
  return Internal("a file version without a rule");
}

// Sizes are compared with what is left, never added: a corrupt position near 2^64 would wrap.
arrow::Status CheckRegion(ByteRange region, uint64_t begin, uint64_t end, Location where,
                          std::string_view what) {
  if (region.offset < begin || region.offset > end || region.size > end - region.offset) {
    return Corrupt(where, "the {} is at byte {} with {} bytes, expected within bytes {} to {}",
                   what, region.offset, region.size, begin, end);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<Footer> ParseFooter(std::span<const std::byte, kFooterSize> bytes, uint64_t file_size,
                                  std::string_view path) {
  const uint64_t position = file_size - kFooterSize;
  const auto* magic = bytes.data() + kFooterSize - kMagic.size();
  if (std::memcmp(magic, kMagic.data(), kMagic.size()) != 0) {
    return Corrupt({path, file_size - kMagic.size()},
                   "the file does not end with \"LANC\": it is no Lance file, or was cut short");
  }
  ByteReader reader(bytes, {path, position});
  Footer footer = {.file_size = file_size};
  ARROW_ASSIGN_OR_RAISE(footer.column_metadata_position, reader.Read<uint64_t>("footer"));
  ARROW_ASSIGN_OR_RAISE(footer.column_table.offset, reader.Read<uint64_t>("footer"));
  ARROW_ASSIGN_OR_RAISE(footer.global_buffer_table.offset, reader.Read<uint64_t>("footer"));
  ARROW_ASSIGN_OR_RAISE(const auto num_global_buffers, reader.Read<uint32_t>("footer"));
  ARROW_ASSIGN_OR_RAISE(const auto num_columns, reader.Read<uint32_t>("footer"));
  const Location version_at = reader.location();
  ARROW_ASSIGN_OR_RAISE(footer.major, reader.Read<uint16_t>("footer"));
  ARROW_ASSIGN_OR_RAISE(footer.minor, reader.Read<uint16_t>("footer"));

  const std::optional<FileVersion> version = VersionOf(footer.major, footer.minor);
  if (!version) {
    return Corrupt(version_at, "the footer has version ({}, {}), (2, 0) to (2, 3) expected",
                   footer.major, footer.minor);
  }
  footer.version = *version;
  ARROW_RETURN_NOT_OK(CheckVersion(*version, path));

  footer.column_table.size = num_columns * kTableEntrySize;
  footer.global_buffer_table.size = num_global_buffers * kTableEntrySize;
  if (num_global_buffers == 0) {
    return Corrupt({path, position + 24}, "the file has no global buffer, so no descriptor");
  }
  ARROW_RETURN_NOT_OK(CheckRegion({footer.column_metadata_position, 0}, 0, position,
                                  {path, position}, "column metadata"));
  ARROW_RETURN_NOT_OK(CheckRegion(footer.column_table, footer.column_metadata_position, position,
                                  {path, position + 8}, "table of columns"));
  ARROW_RETURN_NOT_OK(CheckRegion(footer.global_buffer_table, footer.column_table.end(), position,
                                  {path, position + 16}, "table of global buffers"));
  return footer;
}

arrow::Result<std::vector<ByteRange>> ParseOffsetTable(std::span<const std::byte> bytes,
                                                       Location where, uint64_t end,
                                                       std::string_view what) {
  std::vector<ByteRange> entries(bytes.size() / kTableEntrySize);
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::byte* entry = bytes.data() + i * kTableEntrySize;
    entries[i] = {LoadLittleEndian<uint64_t>(entry), LoadLittleEndian<uint64_t>(entry + 8)};
    if (entries[i].offset > end || entries[i].size > end - entries[i].offset) {
      return Corrupt(where.Plus(i * kTableEntrySize),
                     "the {} {} is at byte {} with {} bytes, expected before byte {}", what, i,
                     entries[i].offset, entries[i].size, end);
    }
  }
  return entries;
}

FooterVersion FooterVersionOf(FileVersion version) {
  switch (version) {
    case FileVersion::k0_1: return {0, 2};
    case FileVersion::k2_0: return {0, 3};
    case FileVersion::k2_1: return {2, 1};
    case FileVersion::k2_2: return {2, 2};
    case FileVersion::k2_3: return {2, 3};
  }
  return {0, 0};
}

}  // namespace glaive::file
