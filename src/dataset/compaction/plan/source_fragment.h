#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>

#include <arrow/result.h>

#include "dataset/compaction/plan/planned_files.h"
#include "read/snapshot.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

// The ids of all fields of a schema, nested ones included.
class LiveFields {
 public:
  explicit LiveFields(const wire::Schema& schema);

  // Whether a file holds one of them; the others are not read, and go with their fragment.
  bool AreIn(const wire::DataFile& file) const;

 private:
  std::set<int32_t> ids_;
};

// A fragment as the planner sees it, from the manifest where that says all.
arrow::Result<SourceFragment> DescribeSource(const read::Snapshot& snapshot,
                                             const wire::DataFragment& fragment,
                                             const LiveFields& fields);

// Whether the manifest says how large all of them are.
bool HaveSizes(std::span<const SourceFragment> sources);

// InvalidInput, naming the option and the file, where the manifest does not say how large it is.
arrow::Status RequireSizes(const wire::DataFragment& fragment, const LiveFields& fields,
                           std::string_view option);

}  // namespace glaive::dataset
