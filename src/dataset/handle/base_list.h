#pragma once

#include <span>
#include <vector>

#include "glaive/write.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

std::vector<table::BasePath> ToTableBases(std::span<const DatasetBasePath> bases);

}  // namespace glaive::dataset
