#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/merge/condition.h"
#include "glaive/rows.h"
#include "wire/schema.h"

namespace glaive::dataset {

// A merge bound to a version of the table and to the schema of a source. Immutable.
struct MergePlan {
  std::vector<std::string> on;  // top-level columns, as the table spells them
  wire::Schema fields;          // of the source that the merge looks at, in the table's types
  std::optional<MergeCondition> update_condition;
  FileVersion version = FileVersion::k2_2;  // of new files

  // Errors: InvalidInput for options that change nothing and for columns that do not fit.
  static arrow::Result<MergePlan> Make(const Dataset& dataset, const arrow::Schema& source,
                                       const MergeInsertOptions& options);
};

// The columns that make the key.
arrow::Result<std::vector<std::string>> KeyColumns(const Dataset& dataset,
                                                   const std::vector<std::string>& on);

// "MergeInsert: on=[id], when_matched=UpdateAll, ...", as pylance writes it.
std::string DescribeMerge(const std::vector<std::string>& on, const MergeInsertOptions& options);

}  // namespace glaive::dataset
