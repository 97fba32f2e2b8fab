#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <arrow/result.h>

#include "core/error.h"
#include "table/operation/operation.h"

// The Transaction message: the body of a .txn file, and a section of the manifest it led to.
namespace glaive::table {

// An operation that this build does not know is kept as an unknown field, and `operation` is empty.
arrow::Result<Transaction> ParseTransaction(std::span<const std::byte> message, Location where);

// Whether the operation names all files that it brought into the version, as those do that this
// build knows; but what a restore or a clone brings stands in another version. Without parsing it.
arrow::Result<bool> ListsItsFiles(std::span<const std::byte> message, Location where);

// The bytes that pylance writes for the same values, but for the order of maps.
std::string Serialize(const Transaction& transaction);

}  // namespace glaive::table
