#pragma once

#include <map>
#include <string>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/write.h"

namespace glaive {

struct RefOptions {
  Durability durability = Durability::kDefault;
  std::map<std::string, std::string> transaction_properties;
};

/// Makes the version of this handle the newest one again, with its rows, schema, config and all.
/// Nothing is taken away: the versions in between stay in the history.
arrow::Result<Dataset> Restore(const Dataset& dataset, const RefOptions& options = {});

}  // namespace glaive
