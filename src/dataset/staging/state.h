#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "core/access.h"
#include "glaive/staged_columns.h"
#include "read/snapshot.h"
#include "table/versions/witness.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

struct StagedColumnsState {
  std::string uri;       // of the table, absolute
  std::string snapshot;  // the transaction that made the version that was read
  uint64_t read_version = 0;
  uint64_t fragment_id = 0;
  uint64_t physical_rows = 0;
  // A data file of the fragment: as long as it is there, the rows are where they were.
  std::string anchor;
  std::optional<uint32_t> anchor_base_id;
  std::optional<wire::DeletionFile> deletion_file;
  int32_t max_field_id = -1;  // of the version that was read: fields above it are new
  wire::DataFile file;
  wire::Schema schema;  // of the file, with ids
  Witnesses replaced;
  Witnesses read;  // of fields that the values were computed from
  std::set<int32_t> read_fields;

  bool operator==(const StagedColumnsState&) const = default;
};

inline StagedColumns MakeStagedColumns(StagedColumnsState state) {
  return Access::Make<StagedColumns>(std::make_shared<const StagedColumnsState>(std::move(state)));
}

// All that is to be known of a fragment when values for `fields`, which were computed from
// `read_fields`, are to be staged: everything but the file.
arrow::Result<StagedColumnsState> Watch(const read::Snapshot& snapshot,
                                        const wire::DataFragment& fragment, wire::Schema fields,
                                        const std::set<int32_t>& read_fields = {});

}  // namespace glaive::dataset
