#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

#include "core/file_version.h"

namespace glaive::dataset {

// "2.2".
std::string NameOf(FileVersion version);

// "2.2", "stable", ... Errors: Unsupported for versions that Glaive does not write, InvalidInput
// for other names; both name the version.
arrow::Result<FileVersion> WritableVersion(std::string_view name);

}  // namespace glaive::dataset
