#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/coalesce.h"
#include "io/request_counter.h"
#include "testing/hooked_store.h"

namespace glaive::testing {

struct CountedRequest {
  io::RequestKind kind;
  std::string path;
  uint64_t num_requests = 1;
  uint64_t num_bytes = 0;
};

// A store that counts its requests, as an object store would see them: opening with a known size,
// writing parts and syncing are none, ranges that lie close together are one.
class CountingStore final : public HookedStore {
 public:
  explicit CountingStore(std::shared_ptr<io::ObjectStore> inner,
                         io::CoalescePolicy policy = io::kLocalCoalescing)
      : HookedStore(std::move(inner)), policy_(policy) {}

  IoStats stats() const;
  std::vector<CountedRequest> requests() const;
  void Reset();

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override;

 private:
  io::CoalescePolicy policy_;
  mutable std::mutex mutex_;
  std::shared_ptr<io::RequestCounter> counter_ = std::make_shared<io::RequestCounter>();
  std::vector<CountedRequest> requests_;
};

}  // namespace glaive::testing
