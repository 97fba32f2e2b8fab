#pragma once

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "glaive/version_options.h"
#include "io/object_store.h"
#include "table/commit/commit.h"

namespace glaive::dataset {

// kDefault means the value of GLAIVE_DURABILITY, or kCommit where it is not set. Errors:
// InvalidInput for another word there.
arrow::Result<table::Durability> Resolve(Durability durability);

// Files that no version refers to yet are the caller's from now on; on stable storage, if that is
// wanted.
arrow::Status HandOver(io::ObjectStore& store, NewFiles& files, Durability durability);

// What a transaction keeps of a version's options.
wire::StringMap PropertiesOf(const VersionOptions& options);

}  // namespace glaive::dataset
