#include "dataset/handle/byte_cache.h"

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
  Entries& entries = contents->ListOf(*found->second);
  entries.splice(entries.begin(), entries, found->second);
  found->second->last_use = ++contents->uses;
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
  entry.last_use = ++contents->uses;
  Entries& entries = contents->ListOf(entry);
  entries.push_front(std::move(entry));
  contents->by_key.emplace(key, entries.begin());
  Measure(*contents, entries.front());
  Evict(*contents);
}

void ByteCache::RemoveWhere(const std::function<bool(const std::string&, const void*)>& matches) {
  const Access contents(*this);
  for (Entries* const entries : {&contents->files, &contents->others}) {
    for (auto entry = entries->begin(); entry != entries->end();) {
      const auto next = std::next(entry);
      if (matches(entry->key, entry->value.get())) Drop(*contents, entry);
      entry = next;
    }
  }
}

uint64_t ByteCache::num_entries() {
  const Access contents(*this);
  return contents->files.size() + contents->others.size();
}

uint64_t ByteCache::size_bytes() {
  const Access contents(*this);
  for (Entry& entry : contents->files) Measure(*contents, entry);
  for (Entry& entry : contents->others) Measure(*contents, entry);
  return contents->bytes;
}

void ByteCache::Measure(Contents& contents, Entry& entry) {
  const uint64_t bytes = entry.measure(entry.value.get()) + 2 * entry.key.size() + sizeof(Entry);
  contents.bytes += bytes - entry.bytes;  // wraps to what it should where it shrank
  entry.bytes = bytes;
}

void ByteCache::Drop(Contents& contents, Entries::iterator entry) {
  contents.bytes -= entry->bytes;
  contents.by_key.erase(entry->key);
  contents.ListOf(*entry).erase(entry);
}

void ByteCache::Evict(Contents& contents) const {
  while (contents.files.size() > max_open_files_) {
    Drop(contents, std::prev(contents.files.end()));
  }
  while (contents.bytes > max_bytes_) {
    const bool is_file = contents.others.empty() ||
                         (!contents.files.empty() &&
                          contents.files.back().last_use < contents.others.back().last_use);
    Drop(contents, std::prev((is_file ? contents.files : contents.others).end()));
  }
}

}  // namespace glaive::dataset
