#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "dataset/merge/source.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// What a transaction says of the keys that it inserts: those of some rows of a source, in the
// columns `on`, as a KeyExistenceFilter message. Keys that hold a null are left out: they are never
// alike.
arrow::Result<std::string> InsertedKeys(const table::Manifest& manifest, const MergeSource& source,
                                        const std::vector<std::string>& on,
                                        std::span<const uint32_t> rows);

// Paths of the columns of the table's unenforced primary key, in its order; none without one.
std::vector<std::string> PrimaryKey(const wire::Schema& schema);

}  // namespace glaive::dataset
