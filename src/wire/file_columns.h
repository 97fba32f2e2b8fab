#pragma once

#include <cstdint>
#include <vector>

#include "core/file_version.h"
#include "wire/schema.h"

namespace glaive::wire {

// Whether the children of a field have columns of their own in a file of 2.0.
bool HasChildColumns(const Field& field);

// The columns of a file, in order: in 2.0 all fields, each parent before its children; later those
// of LeafFields.
struct FileColumn {
  int32_t field_id = 0;
  bool is_leaf = true;  // else a struct's header or the offsets of lists
};
std::vector<FileColumn> FileColumns(const Schema& schema, FileVersion version);
std::vector<int32_t> FileFieldIds(const Schema& schema, FileVersion version);

}  // namespace glaive::wire
