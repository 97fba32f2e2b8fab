#include <arrow/compute/initialize.h>

#include "query/filter.h"

namespace glaive::query {

arrow::Status InitCompute() {
  // Arrow's own call may be repeated, but takes a lock each time.
  static const arrow::Status status = arrow::compute::Initialize();
  return status;
}

}  // namespace glaive::query
