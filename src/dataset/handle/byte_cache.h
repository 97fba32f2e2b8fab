#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/per_process.h"

namespace glaive::dataset {

// Values by key, as many as a number of bytes holds; the least recently used goes first. A value
// may grow while it is here (a file's reader keeps decoders), so it is measured again now and then.
// Thread safe. A forked child keeps what its parent had.
class ByteCache {
 public:
  // `max_open_files` bounds the values that hold a file open.
  ByteCache(uint64_t max_bytes, uint64_t max_open_files)
      : max_bytes_(max_bytes), max_open_files_(max_open_files) {}

  // Null where there is none. REQUIRES: what was put under the key is a T.
  template <typename T>
  std::shared_ptr<T> Get(const std::string& key) {
    return std::static_pointer_cast<T>(Find(key));
  }

  // In place of what was there. T has memory_bytes().
  template <typename T>
  void Put(const std::string& key, std::shared_ptr<T> value, bool holds_file_open) {
    Insert(key, {key, std::move(value), MeasureAs<T>, holds_file_open});
  }

  // Takes out what `matches(key, value)` is true of. REQUIRES: every value here is a T.
  template <typename T, typename Matches>
  void RemoveIf(const Matches& matches) {
    RemoveWhere([&](const std::string& key, const void* value) {
      return matches(key, *static_cast<const T*>(value));
    });
  }

  uint64_t size_bytes();
  uint64_t num_entries();

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<void> value;
    uint64_t (*measure)(const void*);
    bool holds_file_open;
    uint64_t bytes = 0;
    uint64_t uses = 0;
    uint64_t last_use = 0;
  };
  using Entries = std::list<Entry>;  // the most recently used first
  struct Contents {
    // Apart, so that closing a file does not search for one among all the others.
    Entries files;  // that hold a file open
    Entries others;
    std::unordered_map<std::string, Entries::iterator> by_key;
    uint64_t bytes = 0;
    uint64_t uses = 0;  // of all entries together: the clock that `last_use` is told by

    Entries& ListOf(const Entry& entry) { return entry.holds_file_open ? files : others; }
    bool changing = false;  // a fork meanwhile leaves the child with something half done
  };
  class Access;

  template <typename T>
  static uint64_t MeasureAs(const void* value) {
    return static_cast<const T*>(value)->memory_bytes();
  }

  std::shared_ptr<void> Find(const std::string& key);
  void Insert(const std::string& key, Entry entry);
  void RemoveWhere(const std::function<bool(const std::string&, const void*)>& matches);
  static void Measure(Contents& contents, Entry& entry);
  static void Drop(Contents& contents, Entries::iterator entry);
  void Evict(Contents& contents) const;

  const uint64_t max_bytes_;
  const uint64_t max_open_files_;
  PerProcess<std::mutex> mutex_;
  std::unique_ptr<Contents> contents_ = std::make_unique<Contents>();
};

}  // namespace glaive::dataset
