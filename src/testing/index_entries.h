#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ranges.h"
#include "glaive/metadata.h"

// IndexMetadata messages for tests of what carries them.
namespace glaive::testing {

struct EntryOptions {
  std::string details_type = "/lance.table.BitmapIndexDetails";
  std::string details;
  int32_t index_version = 0;
  std::optional<uint64_t> created_at_ms;
  bool unknown_coverage = false;
  uint8_t uuid = 0;  // its first byte; 0: one that no other has
};

std::string IndexEntry(std::string_view name, const std::vector<int32_t>& fields,
                       const std::vector<RowRange>& covered, const EntryOptions& options = {});
// The same as an operation brings it.
IndexMetadata IndexOf(std::string_view name, const std::vector<int32_t>& fields,
                      const std::vector<RowRange>& covered, const EntryOptions& options = {});
std::string IndexSection(const std::vector<std::string>& entries);

// What each entry of a section covers.
std::vector<std::vector<RowRange>> CoverageOf(const std::string& index_section);

}  // namespace glaive::testing
