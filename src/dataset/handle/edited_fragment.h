#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "wire/fragment.h"

// What the verbs on one fragment have in common.
namespace glaive::dataset {

// InvalidInput for a fragment that the version does not have.
arrow::Result<wire::DataFragment> FragmentOf(const Dataset& dataset, uint64_t id);

}  // namespace glaive::dataset
