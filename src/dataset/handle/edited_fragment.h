#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "glaive/columns.h"
#include "glaive/dataset.h"
#include "wire/fragment.h"

// What the verbs on one fragment have in common.
namespace glaive::dataset {

// InvalidInput for a fragment that the version does not have.
arrow::Result<wire::DataFragment> FragmentOf(const Dataset& dataset, uint64_t id);

// The files are the caller's from now on; on stable storage, if that is wanted.
arrow::Status HandOver(const Dataset& dataset, NewFiles& files, const ColumnOptions& options);

}  // namespace glaive::dataset
