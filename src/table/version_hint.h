#pragma once

#include <cstdint>
#include <optional>

#include "table/commit.h"

// _versions/latest_version_hint.json, {"version":N}: what writers leave for readers on stores where
// a listing of all versions is dear. It may be missing, old, or wrong: never believed unchecked.
// LANCE_USE_VERSION_HINT=0 turns it off, for writers too.
namespace glaive::table {

// Nothing where there is no hint to go by, or listing is cheap. Costs a request only elsewhere.
std::optional<uint64_t> ReadVersionHint(const TableLocation& table);

// Best effort.
void WriteVersionHint(const TableLocation& table, uint64_t version);

}  // namespace glaive::table
