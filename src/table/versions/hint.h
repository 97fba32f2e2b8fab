#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

// _versions/latest_version_hint.json, {"version":N}: what writers leave for readers on stores where
// a listing of all versions is dear. It may be missing, old, or wrong: never believed unchecked.
// LANCE_USE_VERSION_HINT=0 turns it off, for writers too.
//
// Glaive adds "transaction", the uuid of the one that made the version, which others pass over. It
// tells a table from another one that was made in its place.
namespace glaive::table {

struct VersionHint {
  uint64_t version = 0;
  std::string transaction;  // may be empty
};

std::string VersionHintPath(const TableLocation& table);

// Nothing where there is no hint to go by, or listing is cheap. Costs a request only elsewhere.
std::optional<VersionHint> ReadVersionHint(const TableLocation& table);

// Best effort.
void WriteVersionHint(const TableLocation& table, const Manifest& manifest);

}  // namespace glaive::table
