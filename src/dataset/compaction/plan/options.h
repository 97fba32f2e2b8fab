#pragma once

#include <map>
#include <string>

#include <arrow/result.h>

#include "glaive/compaction.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// `options`, with what is absent taken from the table's config and then, for what a plan goes by,
// from the defaults. Errors: InvalidInput naming the key or option; Unsupported for modes and
// versions that are not built.
arrow::Result<CompactionOptions> ResolveOptions(const CompactionOptions& options,
                                                const std::map<std::string, std::string>& config);

// An index loses the fragments that are rewritten, or follows them. Unsupported, naming it, where
// it does not say which fragments it covers.
arrow::Status CheckCanRewrite(const table::Manifest& manifest);

// Where rows went is not recorded: Unsupported where indices are to follow by that.
arrow::Status CheckCanDefer(const table::Manifest& manifest, const CompactionOptions& resolved);

}  // namespace glaive::dataset
