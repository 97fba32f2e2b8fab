#include "testing/counting_store.h"

#include <optional>
#include <utility>

namespace glaive::testing {
namespace {

// What the call costs as requests; nothing where it costs none.
std::optional<CountedRequest> RequestOf(const StoreCall& call, io::CoalescePolicy policy) {
  CountedRequest request = {.kind = io::RequestKind::kGet, .path = call.path};
  switch (call.kind) {
    case StoreCallKind::kOpenRead:
      if (call.is_size_known) return std::nullopt;
      request.kind = io::RequestKind::kHead;
      return request;
    case StoreCallKind::kRead:
    case StoreCallKind::kReadMany: {
      const auto coalesced = io::CoalesceRanges(call.ranges, policy);
      request.num_requests = coalesced.reads.size();
      for (const ByteRange& read : coalesced.reads) request.num_bytes += read.size;
      return request;
    }
    case StoreCallKind::kFinish:
    case StoreCallKind::kPut:
    case StoreCallKind::kPutIfAbsent:
      request.kind = io::RequestKind::kPut;
      request.num_bytes = call.bytes_written;
      return request;
    case StoreCallKind::kHead: request.kind = io::RequestKind::kHead; return request;
    case StoreCallKind::kList: request.kind = io::RequestKind::kList; return request;
    case StoreCallKind::kDelete: request.kind = io::RequestKind::kDelete; return request;
    case StoreCallKind::kOpenWrite:
    case StoreCallKind::kWrite:
    case StoreCallKind::kSync: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

IoStats CountingStore::stats() const {
  const std::lock_guard lock(mutex_);
  return counter_->stats();
}

std::vector<CountedRequest> CountingStore::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void CountingStore::Reset() {
  const std::lock_guard lock(mutex_);
  counter_ = std::make_shared<io::RequestCounter>();
  requests_.clear();
}

arrow::Status CountingStore::Around(const StoreCall& call,
                                    const std::function<arrow::Status()>& perform) {
  const auto request = RequestOf(call, policy_);
  if (!request) return perform();
  std::shared_ptr<io::RequestCounter> counter;
  {
    const std::lock_guard lock(mutex_);
    counter = counter_;
    requests_.push_back(*request);
  }
  io::RequestCounter::InFlight in_flight(*counter, request->kind, request->num_requests);
  if (request->kind == io::RequestKind::kGet) in_flight.AddBytesRead(request->num_bytes);
  if (request->kind == io::RequestKind::kPut) in_flight.AddBytesWritten(request->num_bytes);
  return perform();
}

}  // namespace glaive::testing
