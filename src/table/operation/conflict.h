#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <arrow/status.h>

#include "table/operation/operation.h"

namespace glaive::table {

// When an operation of ours meets one that was committed after the version we read. The letter is
// what stands in the matrix; R is a retryable conflict, X one for good.
enum class Rule : char {
  kPass = '.',                 // never in the way
  kRetry = 'R',                // always: read again, do it again
  kIncompatible = 'X',         // always: give up
  kSharedFragment = 'f',       // R if they touched a fragment of ours
  kSharedFragmentOrKey = 'F',  // as f, and R if they replaced a column of keys that ours inserts
  kChangedRows = 'd',          // in a shared fragment: rebase if its rows differ, its files do not
  kChangedRowsOrKeys = 'b',    // as d, after: R if rows were inserted whose keys may be the same
  kNullability = 'g',          // R if one may forbid the nulls that the other may have brought
  kOverwrites = '1',           // R, or X if both set one config key
  kConfigKey = 'k',            // X if both set one config key
  kConfigKeyOrMetadata = 'K',  // as k, and X if ours edits metadata of the schema
  kSchemaMetadata = 's',       // R if the other side edits metadata of the schema or its fields
  kRestoredMetadata = 'S',     // X in that case
  kSameMetadata = 'c',         // X if both edit one thing
  kSameIndex = 'n',            // R if both bring or drop one index
  kRewrittenIndex = 'r',       // R if the index covers a rewritten fragment (either side's)
  kMemWalIndex = 'm',          // R if the index is the write-ahead log's
  kInPlaceUpdate = 'p',        // passes: coverage is withdrawn when the index entry is made
  kIndexedField = 'i',         // R if a replaced field is one of the index (either side's)
  kOnlyMemWalIndex = '2',      // X unless our index is the write-ahead log's
  kInsertedKeys = 'u',         // R if ours inserts rows by key
  kDroppedField = 'q',         // as g, and R if a field that ours rewrites was dropped
  kDroppedTarget = 'T',        // as g, and X if a field that ours replaces was dropped
  kOverlaidField = 'o',        // R if the overlay is on rows or fields that ours rewrites, or keys
  kTargetGone = 't',           // X if they removed a fragment of ours
  kOverlayTargetGone = 'l',    // R in that case
  kMovedRows = 'v',            // X if the fragment is gone, R if its rows or our field moved
  kSameField = 'h',            // R if they replaced a field of ours in a fragment of ours
  kMovedCoverage = 'z',        // R if rows of a fragment that ours overlays were moved
  kSameShard = 'w',            // X or R if both advance one shard of the write-ahead log
  kSameBase = 'e',             // X on an equal id, name or path
};

inline constexpr size_t kNumOperations = std::variant_size_v<Operation>;
inline constexpr std::array<std::string_view, kNumOperations> kOperationNames = {
    "Append",       "Delete",
    "Overwrite",    "CreateIndex",
    "Rewrite",      "Merge",
    "Restore",      "ReserveFragments",
    "Update",       "Project",
    "UpdateConfig", "DataReplacement",
    "DataOverlay",  "UpdateMemWalState",
    "Clone",        "UpdateBases"};

// Row: ours. Column: theirs. Both in the order of Operation. This is the whole policy; the
// conditions are in conflict.cc, one function each.
inline constexpr std::array<std::string_view, kNumOperations> kConflictRules = {
    // Ap De Ov CI Rw Me Rs RF Up Pr UC DR DO MW Cl UB
    " .  .  X  .  .  g  X  .  .  g  .  .  .  X  .  .",  // Append
    " .  d  X  .  f  R  X  .  d  .  .  f  .  X  .  .",  // Delete
    " .  .  1  .  .  .  .  .  .  .  k  .  .  X  .  .",  // Overwrite
    " .  .  X  n  r  m  X  .  p  .  .  i  .  2  .  .",  // CreateIndex
    " .  f  X  r  f  R  X  .  f  .  .  f  f  .  .  .",  // Rewrite
    " R  R  X  m  R  R  X  .  R  X  s  R  R  X  .  .",  // Merge
    " .  .  .  .  .  .  .  .  .  .  S  .  .  X  .  .",  // Restore
    " .  .  X  .  .  .  X  .  .  .  .  .  .  .  .  .",  // ReserveFragments
    " u  d  X  .  f  R  X  .  b  q  .  F  o  w  .  .",  // Update
    " g  .  X  .  .  R  X  .  g  R  .  g  g  X  .  .",  // Project
    " .  .  K  .  .  s  S  .  .  .  c  .  .  .  .  .",  // UpdateConfig
    " .  t  X  i  f  R  X  .  v  T  .  h  .  X  .  .",  // DataReplacement
    " .  l  X  .  f  R  X  .  z  g  .  .  .  X  .  .",  // DataOverlay
    " X  X  X  w  .  X  X  .  w  X  .  X  X  w  X  .",  // UpdateMemWalState
    " .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .",  // Clone
    " .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  e",  // UpdateBases
};

constexpr Rule RuleFor(size_t ours, size_t theirs) {
  return static_cast<Rule>(kConflictRules[ours][3 * theirs + 1]);
}

enum class Verdict : uint8_t {
  kCompatible,    // commit on top of theirs as it is
  kRebase,        // first merge the deletion vectors, which alone can tell whether rows clash
  kRetry,         // a retryable conflict
  kIncompatible,  // a conflict for good
};

// Pure. `ours` is read from a snapshot that does not have `theirs` yet. Where a condition turns on
// what the operations do not tell, the verdict is the cautious one.
Verdict Conflict(const Operation& ours, const Operation& theirs);

// The typed error for the last two verdicts, OK for the others.
arrow::Status CheckConflict(const Operation& ours, const Operation& theirs,
                            uint64_t theirs_version);

// A rule in a few words, for `glaive conflicts`.
std::string_view MeaningOf(Rule rule);

}  // namespace glaive::table
