#include "testing/latency_store.h"

#include <algorithm>
#include <thread>

namespace glaive::testing {
namespace {

// Whether a far store is asked at all.
bool IsRequest(const StoreCall& call) {
  switch (call.kind) {
    case StoreCallKind::kOpenRead: return !call.is_size_known;
    case StoreCallKind::kOpenWrite:
    case StoreCallKind::kWrite:
    case StoreCallKind::kSync: return false;
    default: return true;
  }
}

}  // namespace

arrow::Status LatencyStore::Around(const StoreCall& call,
                                   const std::function<arrow::Status()>& perform) {
  if (IsRequest(call)) {
    uint64_t stream_bytes = call.bytes_written;
    for (const ByteRange& range : call.ranges) stream_bytes = std::max(stream_bytes, range.size);
    const std::chrono::duration<double> transfer(
        static_cast<double>(stream_bytes) / static_cast<double>(options_.stream_bytes_per_second));
    std::this_thread::sleep_for(options_.per_request + transfer);
  }
  return perform();
}

}  // namespace glaive::testing
