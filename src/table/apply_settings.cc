#include "table/apply_operations.h"

#include "core/error.h"

namespace glaive::table {

arrow::Status ApplyTo(Manifest&, const Restore&) { return Unsupported("committing a Restore"); }

arrow::Status ApplyTo(Manifest&, const UpdateConfig&) {
  return Unsupported("committing a UpdateConfig");
}

arrow::Status ApplyTo(Manifest&, const UpdateBases&) {
  return Unsupported("committing a UpdateBases");
}

arrow::Status ApplyTo(Manifest&, const Clone&) { return Unsupported("committing a Clone"); }

arrow::Status ApplyTo(Manifest&, const UpdateMemWalState&) {
  return Unsupported("committing a UpdateMemWalState");
}

}  // namespace glaive::table
