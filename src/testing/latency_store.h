#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "testing/hooked_store.h"

namespace glaive::testing {

struct LatencyOptions {
  std::chrono::microseconds per_request = std::chrono::milliseconds(30);
  uint64_t stream_bytes_per_second = UINT64_MAX;  // of one request; those of a ReadMany go at once
};

// A store that answers as late as one far away.
class LatencyStore final : public HookedStore {
 public:
  LatencyStore(std::shared_ptr<io::ObjectStore> inner, LatencyOptions options)
      : HookedStore(std::move(inner)), options_(options) {}

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override;

 private:
  LatencyOptions options_;
};

}  // namespace glaive::testing
