#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "core/per_process.h"
#include "dataset/handle/byte_cache.h"
#include "glaive/write.h"

namespace glaive::dataset {

// One target for each table, as many as a number of bytes holds, for as long as they are asked for.
// Thread safe. A forked child keeps what its parent had.
class WriteTargetCache {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What a target is kept for; another wish takes its place.
  struct Wish {
    uint64_t version = 0;
    std::map<std::string, std::string> storage_options;

    bool operator==(const Wish&) const = default;
  };

  WriteTargetCache(uint64_t max_bytes, std::chrono::nanoseconds max_idle)
      : max_idle_(max_idle), cache_(max_bytes, 0) {}

  // The one of `table` (a key) or what `open` gives, which one thread at a time calls. Whatever was
  // not asked for since `max_idle` before `now` goes.
  arrow::Result<WriteTarget> Get(const std::string& table, const Wish& wish, Time now,
                                 const std::function<arrow::Result<WriteTarget>()>& open);

  void Close(const std::string& table);
  void CloseAll();
  CachedTargetStats stats();

 private:
  std::optional<WriteTarget> Find(const std::string& table, const Wish& wish, Time now);
  void CloseIdle(Time now);

  std::chrono::nanoseconds max_idle_;
  ByteCache cache_;
  // By the hash of the table: who waits for one rarely waits for another's opening.
  PerProcess<std::array<std::mutex, 16>> opening_;
};

}  // namespace glaive::dataset
