#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/file_version.h"
#include "glaive/operation.h"
#include "table/manifest/fragment_metadata.h"
#include "table/manifest/manifest.h"
#include "table/manifest/table_schema.h"
#include "wire/fragment.h"
#include "wire/schema.h"

// What a commit changes: the operations of include/glaive/operation.h, which are those of a
// Transaction message. An operation holds no handle and does nothing; Apply and Conflict give it
// its meaning.
namespace glaive::table {

using glaive::Operation;
using operation::Append;
using operation::Clone;
using operation::CreateIndex;
using operation::DataOverlay;
using operation::DataReplacement;
using operation::Delete;
using operation::Merge;
using operation::Overwrite;
using operation::Project;
using operation::ReserveFragments;
using operation::Restore;
using operation::Rewrite;
using operation::Update;
using operation::UpdateBases;
using operation::UpdateConfig;
using operation::UpdateMap;
using operation::UpdateMemWalState;

// What the process that makes an operation knows of it besides. None of it is stored.
struct CommitHints {
  // Of a Merge, the fragments of the version that it is made for: those that it does not name stay
  // as they are there. Stored, a merge lists them all.
  std::optional<FragmentTable> others;
  // Of a Restore, the manifest of the version that comes back; read by Commit where it is missing.
  ManifestPtr content;
  // Of an Overwrite: takes the place of the table's.
  std::optional<FileVersion> data_file_version;
};

// An operation as Commit and Apply take it.
struct Change {
  template <typename Kind>
    requires std::constructible_from<Operation, Kind&&>
  Change(Kind&& kind, CommitHints with = {})  // NOLINT(google-explicit-constructor)
      : operation(std::forward<Kind>(kind)), hints(std::move(with)) {}

  Operation operation;
  CommitHints hints;
};

// Joins lambdas into one visitor, without a default.
template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

// A Transaction message: who changed what, read from which version.
struct Transaction {
  uint64_t read_version = 0;
  std::string uuid;  // 36 characters
  std::string tag;
  wire::StringMap properties;
  uint64_t parent = 0;  // the hash of the version before (table/versions/chain.h); 0: does not say
  // Nothing for an operation that this build does not know; such a transaction conflicts with all.
  std::optional<Operation> operation;
  std::string unknown_fields;
  CommitHints hints;  // of what is being committed; no part of the message
  // Its uuid is from the caller, and a version that an earlier call made may name its file: that
  // stays when this call fails. No part of the message.
  bool may_be_recorded = false;
};

}  // namespace glaive::table
