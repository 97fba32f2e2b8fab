#pragma once

#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "table/versions/versions.h"

// Names of the other scheme beside a table's versions. Every creator has to get the V2 name of its
// first version; what one of V1 names has put by then makes the others yield.
namespace glaive::table {

// What the creator of a table of V1 names puts under the V2 name of its first version while it puts
// that one, so that no other creator gets it. It is no version.
inline constexpr std::string_view kHeldName = "glaive: held for a version with a V1 name\n";
arrow::Result<bool> IsHeldName(const TableLocation& table, const VersionEntry& entry);

// Takes out what is no version of the table where `entries`, ascending, are of both schemes: names
// that are or were held, and versions of creators who yield, or died before they did. Returns what
// was taken out. Those of both schemes that are left are of a table whose names are being changed,
// or damaged.
arrow::Result<std::vector<VersionEntry>> TakeOutNoVersions(const TableLocation& table,
                                                           std::vector<VersionEntry>* entries);

// ListVersions, and in `no_versions` what it took out; where no version is there, names that are
// held.
arrow::Result<std::vector<VersionEntry>> ListVersions(const TableLocation& table,
                                                      std::vector<VersionEntry>* no_versions);

// Whether that is certain of a name that was taken out, so that it may be removed once a version of
// a V1 name, `newest`, is there: then whoever gets the V2 name later yields.
arrow::Result<bool> IsCertainlyNoVersion(const TableLocation& table, const VersionEntry& entry,
                                         const Manifest& newest);

// Whether a version that was found by its number is of a creator who yields. One listing where it
// is version 1 of a V2 name, else none.
arrow::Result<bool> IsOfLostCreation(const TableLocation& table, const VersionEntry& entry);

}  // namespace glaive::table
