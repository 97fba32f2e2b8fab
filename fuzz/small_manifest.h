#pragma once

#include <string>
#include <utility>
#include <vector>

#include "table/manifest/manifest.h"
#include "table/operation/apply.h"
#include "table/operation/operation.h"
#include "table/rows/row_ids.h"
#include "wire/fragment.h"

// A version of three fragments of ten rows each, with fields 0 'a' and 1 'b', for what is fuzzed
// against a table.
namespace glaive::fuzz {

constexpr uint64_t kRowsPerFragment = 10;

inline wire::DataFragment SmallFragment(std::string path) {
  wire::DataFile file{.path = std::move(path), .fields = {0, 1}, .column_indices = {0, 1}};
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return {.files = {std::move(file)}, .physical_rows = kRowsPerFragment};
}

inline table::Manifest SmallManifest(bool stable_row_ids) {
  table::Manifest manifest;
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"},
                            {.id = 1, .name = "b", .logical_type = "string"}};
  if (stable_row_ids) manifest.reader_feature_flags = table::feature::kStableRowIds;
  const table::Append append{{SmallFragment("f0"), SmallFragment("f1"), SmallFragment("f2")}};
  manifest = table::Apply(manifest, append).ValueOrDie();
  manifest.path = "/fuzz/_versions/1.manifest";
  return manifest;
}

}  // namespace glaive::fuzz
