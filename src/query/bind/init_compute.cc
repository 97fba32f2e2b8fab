#include <atomic>

#include <arrow/compute/initialize.h>

#include "query/bind/filter.h"

namespace glaive::query {

arrow::Status InitCompute() {
  // Arrow's own call may be repeated, but takes a lock each time.
  static constinit std::atomic<bool> done = false;
  if (done.load(std::memory_order_acquire)) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  done.store(true, std::memory_order_release);
  return arrow::Status::OK();
}

}  // namespace glaive::query
