#include "table/apply_operations.h"

#include "core/error.h"

namespace glaive::table {

arrow::Status ApplyTo(Manifest&, const DataOverlay&) {
  return Unsupported("committing a DataOverlay");
}

}  // namespace glaive::table
