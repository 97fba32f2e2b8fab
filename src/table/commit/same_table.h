#pragma once

#include <cstdint>
#include <optional>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/versions/chain.h"
#include "table/versions/hint.h"

// A table that was removed and made anew has other versions under the same numbers. A handle on the
// old one would put its own fragments, whose files are gone, in place of the new table's.
namespace glaive::table {

// What the store says of the table that a version was read from.
enum class Witness : uint8_t {
  kSameTable,
  kOtherTable,  // an unrelated version has its number
  kReplaced,    // another version has its number, and has an ancestor or a file in common with it
  kSilent,      // the version is gone, which clean-ups do as well
};

// Nearly always the hint, where there is one, or the file of the transaction tells.
arrow::Result<Witness> WitnessOf(const TableLocation& table, const Manifest& base,
                                 const std::optional<VersionHint>& hint);

// Whether two versions are certainly of one table: one is the other, or descends from it, or both
// have a data file in common, the names of which are never used twice. False where nothing tells.
bool AreOfOneTable(const Manifest& left, const Manifest& right);

// The same where neither need lead to the other, since one of them may be a stray: both came from
// one version, or have a data file in common.
bool AreRelated(const Manifest& left, const Manifest& right);

// OK if they are of one table; otherwise a conflict that may be tried again with a handle that is
// opened anew.
arrow::Status CheckOneTable(const Manifest& newest, const Manifest& base);

// A conflict, retryable, where the hint names a version that is there and from which `newest` does
// not descend: a late writer of a table that was removed has put `newest`, and has yet to look.
// Nearly always without a request.
arrow::Status CheckFollowsHint(const TableLocation& table, const Manifest& newest,
                               const std::optional<VersionHint>& hint);

// Of a version that was just put as the newest one, and of which no witness before it is left:
// whether the table's older versions, or else a file that it has from them, show that it lies in
// its own table. Not known where all older ones came with it from one version, and none of them led
// to it: they may be strays, or the table that others made of that version meanwhile.
arrow::Result<Descent> LiesInItsTable(const TableLocation& table, const Manifest& put);

// Whether the version is in the store under its own name: not another one of its number, nor a
// tombstone.
arrow::Result<bool> IsStillThere(const TableLocation& table, const Manifest& manifest);

// The conflict of a handle whose table is gone, or may be.
arrow::Status OtherTable(Retry retry, uint64_t version);

}  // namespace glaive::table
