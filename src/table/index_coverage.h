#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <arrow/result.h>

#include "core/error.h"

namespace glaive::table {

// `index_section` with fragments taken from what its indices cover, so that no index answers for
// rows that it has not seen; with `fields`, only from indices of one of these. Entries are changed
// in nothing else. Unsupported, naming the index, for one that does not say what it covers.
arrow::Result<std::string> WithoutCoverage(const std::string& index_section,
                                           std::span<const uint64_t> fragment_ids,
                                           std::optional<std::span<const int32_t>> fields,
                                           Location where);

}  // namespace glaive::table
