#pragma once

#include <string>

#include <arrow/result.h>

#include "glaive/commit.h"

// Index entries between what users hold and the IndexMetadata messages that operations carry.
namespace glaive::dataset {

arrow::Result<IndexMetadata> IndexOf(const std::string& message);
arrow::Result<std::string> IndexMessageOf(const IndexMetadata& index);

// RewrittenIndex messages.
arrow::Result<operation::Rewrite::RewrittenIndex> RewrittenIndexOf(const std::string& message);
arrow::Result<std::string> RewrittenMessageOf(const operation::Rewrite::RewrittenIndex& index);

}  // namespace glaive::dataset
