#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>

#include "dataset/commit/verb.h"
#include "dataset/handle/new_files.h"
#include "dataset/refs/files.h"
#include "glaive/refs.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// A first version at `target` that refers to the files of the source. With `branch` it is one.
arrow::Result<Dataset> CommitShallowClone(const ResolvedReference& source,
                                          const CommitPlace& target,
                                          const std::optional<std::string>& branch,
                                          const VersionOptions& options);

// Copies whatever files the version refers to, of its bases too, to where a table at `target` that
// has none looks for them. Errors: InvalidInput where two of them have one name.
arrow::Result<NewFiles> CopyFiles(const ResolvedReference& source,
                                  const table::TableLocation& target,
                                  const ProgressCallback& progress);

}  // namespace glaive::dataset
