#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/result.h>

#include "core/file_version.h"
#include "dataset/write/fragment_writer.h"
#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "wire/fragment.h"

namespace glaive::dataset {

struct PageCopyTask {
  const Dataset& source;
  const std::vector<wire::DataFragment>& fragments;
  FileLimits limits;
  FileVersion version = FileVersion::k2_2;
  std::vector<uint64_t> planned_rows;  // of each file, in order
  CompactionMode mode = CompactionMode::kReencode;
  ScanOptions scan;  // that brings the rows
  ProgressCallback progress;
};

// Writes the rows of fragments into new files out of the pages that hold them, without decoding
// those. A field is copied where nothing is deleted or overlaid, all files are of the version to be
// written, no file border falls into one of its pages, these agree on nulls (file::AgreeOnNulls),
// and the copy has pages as good as new ones: no more than a writer of the rows would make or,
// unless the mode is kReencode, none below 8 MiB. Fields that are not copied are read and written
// as rows, beside the others. Nothing where no field is copied. Errors: in kForceBinaryCopy,
// Unsupported where pylance would refuse.
arrow::Result<std::optional<WrittenFragments>> CopyPages(const PageCopyTask& task);

}  // namespace glaive::dataset
