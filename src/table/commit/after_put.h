#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/versions/versions.h"

// What becomes of a version that was put. To put it where none is does not make it one of the
// table's: others may have made the versions up to there and beyond, and a clean-up may have
// removed the one of its number, while its writer was at work.
namespace glaive::table {

enum class Standing : uint8_t {
  kInChain,  // the newest version is this one, or descends from it
  kStray,    // versions above it descend from another one of its number
  kUnknown,  // versions above it do not say
};

// One listing, and one manifest where a newer version is there. A listing that its caller makes
// after a change of its own shows that change and all before it.
// `has_newer`, if not null: whether one was.
arrow::Result<Standing> StandingOf(const TableLocation& table, const Manifest& put,
                                   bool* has_newer = nullptr);

// By a version above it, the lowest one that is known. NotFound where that one is gone.
arrow::Result<Standing> StandingBelow(const TableLocation& table, const VersionEntry& newer,
                                      const Manifest& put);

// The same for a version that is not there any more, or may never have been: whether a newer one
// descends from it. kStray also where no newer one is there.
arrow::Result<Standing> StandingOfGone(const TableLocation& table, const Manifest& manifest);

// Whether the version is in the store under its own name and is no stray, which its writer may take
// back with its files: what is made of a version looks for this after it was published.
arrow::Result<bool> IsStillInTable(const TableLocation& table, const Manifest& manifest);

// Takes a version back that is a stray, or that lost a race of creators, unless something else has
// its name by now. OK where it is gone.
// Its transaction file goes as well, unless another version may name that.
arrow::Status TakeBack(const TableLocation& table, const Manifest& put,
                       bool keeps_transaction = false);

}  // namespace glaive::table
