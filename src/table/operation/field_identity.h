#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"
#include "wire/schema.h"

// Ids of fields are given anew: once a column was dropped and no file holds values of it, the next
// one may get its id. A file says by ids alone what it holds, so one that was written for the first
// must not come into a table that has the second.
namespace glaive::table {

// One of `ids` that stands for another field in `latest` than in `seen`, in words; nothing where
// all that `latest` knows are what they were. Of a field with another name and the same type it is
// asked whether values of it were there all along: then it was renamed.
std::optional<std::string> FindReusedField(const wire::Schema& seen, const wire::Schema& latest,
                                           const std::set<int32_t>& ids,
                                           const std::function<bool(int32_t)>& was_kept);

// A retryable CommitConflict if `operation`, which was made from `seen`, brings values, an index or
// metadata of a field that is another one in `latest`.
arrow::Status CheckFieldsStand(const Manifest& seen, const Manifest& latest,
                               const Operation& operation);

// Schema and field metadata that others changed since `seen` goes into the schema that is to
// follow. A retryable CommitConflict if `project` changes the same.
arrow::Status CarryMetadata(const Manifest& seen, const Manifest& latest, Project* project);

}  // namespace glaive::table
