#pragma once

#include <cstdint>
#include <vector>

#include <arrow/datum.h>

namespace glaive::query {

// The rows where a boolean array, or a scalar that stands for all, is true: not null.
std::vector<uint32_t> SelectTrue(const arrow::Datum& passes, int64_t num_rows);

}  // namespace glaive::query
