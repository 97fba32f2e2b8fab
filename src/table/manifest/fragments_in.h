#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ranges.h"
#include "table/manifest/fragment_table.h"

// Which fragments of a version a bitmap names. A bitmap of a few bytes can name 2^32 of them: what
// goes through one takes time and memory by the fragments that are there, and by the ranges, which
// ascend.
namespace glaive::table {

std::vector<uint64_t> FragmentsIn(const FragmentTable& fragments, std::span<const RowRange> ranges);

bool HasFragmentIn(const FragmentTable& fragments, std::span<const RowRange> ranges);

}  // namespace glaive::table
