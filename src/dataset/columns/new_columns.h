#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "dataset/handle/new_files.h"
#include "dataset/write/added_fields.h"
#include "glaive/columns.h"
#include "glaive/staged_columns.h"
#include "table/operation/operation.h"
#include "wire/fragment.h"

// What the column verbs of a table and of a fragment have in common.
namespace glaive::dataset {

// Fragments with a new file each, and the schema that knows its fields.
struct AddedColumns {
  std::vector<wire::DataFragment> fragments;
  AddedFields fields;
  std::vector<StagedColumns> staged;  // the new files, of fragments that have rows
  NewFiles files;
  std::vector<std::string> kept_files;  // new ones that a checkpoint knows: they stay anyway
};

// All fragments of the version.
arrow::Result<std::vector<wire::DataFragment>> AllFragments(const Dataset& dataset);

// `fragments` are those of the version, or some.
arrow::Result<AddedColumns> AddToFragments(const Dataset& dataset,
                                           std::vector<wire::DataFragment> fragments,
                                           const NewColumns& columns,
                                           const VersionOptions& options);

arrow::Result<AddedColumns> JoinToFragments(const Dataset& dataset,
                                            std::vector<wire::DataFragment> fragments,
                                            arrow::RecordBatchReader& stream,
                                            std::string_view left_on, std::string_view right_on,
                                            const VersionOptions& options);

// Commits on the handle's version. `files` stay with the version, or are removed; both they and
// `others` are synced before.
arrow::Result<Dataset> CommitColumnChange(const Dataset& dataset, table::Change change,
                                          const VersionOptions& options, NewFiles files,
                                          const std::vector<std::string>& others = {});

}  // namespace glaive::dataset
