#include "dataset/byte_cache.h"

#include <bit>
#include <iterator>
#include <utility>

namespace glaive::dataset {

// The lock, and the contents while it is held.
class ByteCache::Access {
 public:
  explicit Access(ByteCache& cache) : lock_(cache.mutex_.Get()) {
    if (cache.contents_->changing) {
      // Only a fork can leave this: the thread that was at it is not in this process.
      static_cast<void>(cache.contents_.release());
      cache.contents_ = std::make_unique<Contents>();
    }
    contents_ = cache.contents_.get();
    contents_->changing = true;
  }
  ~Access() { contents_->changing = false; }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  Contents& operator*() const { return *contents_; }
  Contents* operator->() const { return contents_; }

 private:
  std::lock_guard<std::mutex> lock_;
  Contents* contents_;
};

std::shared_ptr<void> ByteCache::Find(const std::string& key) {
  const Access contents(*this);
  const auto found = contents->by_key.find(key);
  if (found == contents->by_key.end()) return nullptr;
  contents->entries.splice(contents->entries.begin(), contents->entries, found->second);
  std::shared_ptr<void> value = found->second->value;
  // Often while it is young and grows; later seldom, as measuring costs more than finding.
  const uint64_t uses = ++found->second->uses;
  if (uses % 64 == 0 || std::has_single_bit(uses)) {
    Measure(*contents, *found->second);
    Evict(*contents);
  }
  return value;
}

void ByteCache::Insert(const std::string& key, Entry entry) {
  const Access contents(*this);
  if (const auto found = contents->by_key.find(key); found != contents->by_key.end()) {
    Drop(*contents, found->second);
  }
  contents->open_files += uint64_t{entry.holds_file_open};
  contents->entries.push_front(std::move(entry));
  contents->by_key.emplace(key, contents->entries.begin());
  Measure(*contents, contents->entries.front());
  Evict(*contents);
}

void ByteCache::RemoveWhere(const std::function<bool(const std::string&, const void*)>& matches) {
  const Access contents(*this);
  for (auto entry = contents->entries.begin(); entry != contents->entries.end();) {
    const auto next = std::next(entry);
    if (matches(entry->key, entry->value.get())) Drop(*contents, entry);
    entry = next;
  }
}

uint64_t ByteCache::num_entries() {
  const Access contents(*this);
  return contents->entries.size();
}

uint64_t ByteCache::size_bytes() {
  const Access contents(*this);
  for (Entry& entry : contents->entries) Measure(*contents, entry);
  return contents->bytes;
}

void ByteCache::Measure(Contents& contents, Entry& entry) {
  const uint64_t bytes = entry.measure(entry.value.get()) + 2 * entry.key.size() + sizeof(Entry);
  contents.bytes += bytes - entry.bytes;  // wraps to what it should where it shrank
  entry.bytes = bytes;
}

void ByteCache::Drop(Contents& contents, std::list<Entry>::iterator entry) {
  contents.bytes -= entry->bytes;
  contents.open_files -= uint64_t{entry->holds_file_open};
  contents.by_key.erase(entry->key);
  contents.entries.erase(entry);
}

void ByteCache::Evict(Contents& contents) const {
  while (contents.bytes > max_bytes_) Drop(contents, std::prev(contents.entries.end()));
  for (auto next = contents.entries.end(); contents.open_files > max_open_files_;) {
    const auto entry = std::prev(next);
    if (entry->holds_file_open) {
      Drop(contents, entry);
    } else {
      next = entry;
    }
  }
}

}  // namespace glaive::dataset
