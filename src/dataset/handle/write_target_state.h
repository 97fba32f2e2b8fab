#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/access.h"
#include "core/file_version.h"
#include "dataset/handle/table_identity.h"
#include "glaive/write.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

struct WriteTargetState {
  std::string uri;
  TableIdentity identity;
  wire::Schema schema;
  std::shared_ptr<arrow::Schema> arrow_schema;
  FileVersion data_file_version = FileVersion::k2_2;
  bool has_stable_row_ids = false;
  wire::StringMap config;
  std::vector<table::BasePath> base_paths;
};

// Unsupported for tables that this build may not write to.
arrow::Result<WriteTarget> MakeWriteTarget(const table::TableLocation& table,
                                           const table::Manifest& manifest);

// What keeping one takes, about.
uint64_t MemoryBytes(const WriteTarget& target);

}  // namespace glaive::dataset
