#pragma once

#include <cstddef>
#include <cstdint>

namespace glaive::file {

// What closed a page: the clauses of the page rule (docs/architecture.md).
enum class PageEnd : uint8_t { kPageBytes, kCacheBytes, kRowLimit, kFileEnd, kFormatLimit };
inline constexpr size_t kNumPageEnds = 5;

}  // namespace glaive::file
