#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/operation/operation.h"
#include "table/versions/versions.h"

namespace glaive::table {

// Property under which a commit is known to its caller: there is one version at most of each token.
inline constexpr const char* kIdempotencyKey = "glaive.idempotency_token";

// The version among `entries`, the last ones first, that was made with the token of `properties`.
// Null where none was, or they have no token. One that is no part of the table's history does not
// count.
arrow::Result<ManifestPtr> FindByToken(const TableLocation& table,
                                       const std::vector<VersionEntry>& entries,
                                       const wire::StringMap& properties);

enum class Durability : uint8_t { kNone, kCommit };

struct CommitOptions {
  uint32_t max_retries = 20;
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
  Durability durability = Durability::kCommit;
  wire::StringMap transaction_properties;  // "__lance_commit_message" among them
  std::string transaction_uuid;            // of 36 characters; a new one when empty
  // Recorded instead of the base's version: an operation that needs none may say 0.
  std::optional<uint64_t> read_version;
  bool strict = false;    // only as the version after the base
  bool detached = false;  // outside of the history, made of the base as it is
  // Creating: what the first manifest is made with.
  NamingScheme naming_scheme = NamingScheme::kV2;
  bool enable_stable_row_ids = false;
  std::optional<FileVersion> data_file_version;
  wire::StringMap initial_config;
  // Files of the operation to be synced before the manifest is published (data, deletion files).
  std::vector<std::string> files_to_sync;
  std::function<arrow::Status()> poll;  // asked between attempts; an error ends the call
};

// A change for the version that it is to follow, or why there is none.
using MakeChange = std::function<arrow::Result<Change>(const ManifestPtr& latest)>;

// Publishes what `make` gives for the newest version, and asks it again for a newer one where
// another writer was faster. It is `make` that checks what was committed meanwhile.
arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  MakeChange make, const CommitOptions& options);

// Publishes `change`, read from `base`, as the version after the newest one: what was committed
// since is checked against it (transactions only are read), and it is rebased or refused. Returns
// the new version's manifest, or the older one that has the idempotency token of the properties.
arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  Change change, const CommitOptions& options);

// A version under a random number, made of `base` alone: nothing that came after it counts. V2
// names only.
arrow::Result<ManifestPtr> CommitDetached(const TableLocation& table, const ManifestPtr& base,
                                          Change change, const CommitOptions& options);

// The first version of a table, of an Overwrite. Of racing creations exactly one wins, across both
// naming schemes; the others get AlreadyExists.
arrow::Result<ManifestPtr> CommitCreate(const TableLocation& table, Change overwrite,
                                        const CommitOptions& options);

// The first version of a table, or of a branch, that is a copy of `source`, and has its number.
arrow::Result<ManifestPtr> CommitClone(const TableLocation& table, const Manifest& source,
                                       Clone operation, const CommitOptions& options);

}  // namespace glaive::table
