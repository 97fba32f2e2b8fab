#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>

#include "table/commit/commit.h"

// The steps of a commit that touch the store.
namespace glaive::table {

// A restore needs the content of the version that it names.
arrow::Status ReadRestored(const TableLocation& table, const Operation& operation,
                           CommitHints* hints);

// A random version 4 UUID in its usual form of 36 characters.
std::string NewUuid();

// The path of the file that holds the transaction of a version.
std::string TransactionPath(const TableLocation& table, const Manifest& manifest);

enum class Outcome : uint8_t {
  kOurs,   // the version is there, and it is ours
  kTaken,  // another's is there
};

// Writes the transaction file and, under the name of its version unless there is one, the manifest.
// Fills in what `manifest` says of itself: transaction file, time, writer, path and size.
//
// On kTaken and on every error but CommitUnknown nothing of ours is left. What the store did when
// it failed is found out by looking for our transaction; CommitUnknown says that this failed too.
arrow::Result<Outcome> Publish(const TableLocation& table, const Transaction& transaction,
                               Durability durability, Manifest* manifest);

// Data and deletion files onto stable storage, where that is wanted.
arrow::Status SyncFiles(const TableLocation& table, Durability durability,
                        const std::vector<std::string>& paths);

}  // namespace glaive::table
