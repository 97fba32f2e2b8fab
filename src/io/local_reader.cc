#include "io/local_reader.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "core/per_process.h"
#include "core/write_once.h"
#include "io/coalesce.h"
#include "io/posix.h"
#include "io/read_buffer.h"
#include "io/request_counter.h"

namespace glaive::io {
namespace {

// A quarter of what the process may have open, as others need descriptors too.
size_t DescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kMaxOpenDescriptors;
  }
  return std::clamp<size_t>(limit.rlim_cur / 4, 4, kMaxOpenDescriptors);
}

// The open files of readers, by reader; the one used longest ago is closed for a new one. Who is
// reading shares the descriptor, so that it is closed after the read.
class DescriptorCache {
 public:
  using Shared = std::shared_ptr<const Descriptor>;

  Shared Find(uint64_t reader) {
    const std::lock_guard lock(mutex_);
    const auto found = by_reader_.find(reader);
    if (found == by_reader_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->descriptor;
  }

  Shared Add(uint64_t reader, const std::string& path, Descriptor descriptor) {
    auto shared = std::make_shared<const Descriptor>(std::move(descriptor));
    std::list<Entry> evicted;  // closed after the lock
    const std::lock_guard lock(mutex_);
    const auto found = by_reader_.find(reader);
    if (found != by_reader_.end()) return found->second->descriptor;  // another thread was first
    by_use_.push_front({reader, path, shared});
    by_reader_.emplace(reader, by_use_.begin());
    while (by_use_.size() > limit_) {
      by_reader_.erase(by_use_.back().reader);
      evicted.splice(evicted.begin(), by_use_, std::prev(by_use_.end()));
    }
    return shared;
  }

  void Remove(uint64_t reader) {
    std::list<Entry> removed;
    const std::lock_guard lock(mutex_);
    const auto found = by_reader_.find(reader);
    if (found == by_reader_.end()) return;
    removed.splice(removed.begin(), by_use_, found->second);
    by_reader_.erase(found);
  }

  // All readers of a path.
  void Remove(const std::string& path) {
    std::list<Entry> removed;
    const std::lock_guard lock(mutex_);
    for (auto entry = by_use_.begin(); entry != by_use_.end();) {
      const auto next = std::next(entry);
      if (entry->path == path) {
        by_reader_.erase(entry->reader);
        removed.splice(removed.begin(), by_use_, entry);
      }
      entry = next;
    }
  }

  void Clear() {
    std::list<Entry> removed;
    const std::lock_guard lock(mutex_);
    by_reader_.clear();
    removed.swap(by_use_);
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return by_use_.size();
  }

 private:
  struct Entry {
    uint64_t reader;
    std::string path;
    Shared descriptor;
  };

  std::mutex mutex_;
  size_t limit_ = DescriptorLimit();
  std::list<Entry> by_use_;  // last used first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_reader_;
};

// Never destroyed: readers may outlive every static object. A forked child opens files anew.
DescriptorCache& CacheOfProcess() {
  static constinit ProcessWide<PerProcess<DescriptorCache>> cache;
  return cache.Get().Get();
}

arrow::Result<uint64_t> SizeOf(const Descriptor& file, const std::string& path) {
  struct stat status = {};
  if (fstat(file.fd(), &status) != 0) return PosixError(path, "look at the size", errno);
  if (S_ISDIR(status.st_mode)) return FileNotFound({path}, "is a folder, not a file");
  return static_cast<uint64_t>(status.st_size);
}

class LocalReader final : public ObjectReader {
 public:
  LocalReader(std::string path, uint64_t size_bytes)
      : path_(std::move(path)), size_bytes_(size_bytes) {}
  ~LocalReader() override { CacheOfProcess().Remove(id_); }

  uint64_t size_bytes() const override { return size_bytes_; }
  uint64_t id() const { return id_; }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) override {
    ARROW_RETURN_NOT_OK(CheckRange(range));
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kGet);
    ARROW_ASSIGN_OR_RAISE(const auto file, File());
    request.AddBytesRead(range.size);
    return ReadOpen(*file, range);
  }

  // The bytes mostly lie in memory already, and copying them takes about as long as what is done on
  // them: other threads copy meanwhile.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadInSteps(ByteRange range,
                                                            const Arrived& arrived) override {
    if (range.size <= kStep) return ObjectReader::ReadInSteps(range, arrived);
    ARROW_RETURN_NOT_OK(CheckRange(range));
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kGet);
    ARROW_ASSIGN_OR_RAISE(const auto file, File());
    request.AddBytesRead(range.size);
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateFor(*file, range));
    const std::span bytes(reinterpret_cast<std::byte*>(buffer->mutable_data()), range.size);
    uint64_t begin = 0;
    const auto next_step = [&]() -> arrow::Result<std::optional<WorkUnit>> {
      if (begin == range.size) return std::nullopt;
      const auto step = bytes.subspan(begin, std::min(kStep, range.size - begin));
      const uint64_t offset = range.offset + begin;
      begin += step.size();
      return WorkUnit{.run = [&, step, offset] { return ReadAt(file->fd(), path_, offset, step); },
                      .emit = [&, end = begin] { return arrived(buffer, end); }};
    };
    MemoryBudget none(0);  // the buffer is there, whole
    ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), none, next_step));
    return buffer;
  }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadMany(
      std::span<const ByteRange> ranges) override {
    for (const ByteRange& range : ranges) ARROW_RETURN_NOT_OK(CheckRange(range));
    std::vector<std::shared_ptr<arrow::Buffer>> buffers;
    if (ranges.empty()) return buffers;
    const CoalescedRanges coalesced = CoalesceRanges(ranges, kLocalCoalescing);
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kGet,
                                     coalesced.reads.size());
    ARROW_ASSIGN_OR_RAISE(const auto file, File());
    buffers.reserve(coalesced.reads.size());
    // All that will be read, at once: a cold disk serves it side by side, not one after the other.
    for (size_t i = 1; i < coalesced.reads.size(); ++i) {
      const ByteRange& later = coalesced.reads[i];
      (void)posix_fadvise(file->fd(), static_cast<off_t>(later.offset),
                          static_cast<off_t>(later.size), POSIX_FADV_WILLNEED);
    }
    for (const ByteRange& read : coalesced.reads) {
      ARROW_ASSIGN_OR_RAISE(auto buffer, ReadOpen(*file, read));
      request.AddBytesRead(read.size);
      buffers.push_back(std::move(buffer));
    }
    return SliceReads(ranges, coalesced, buffers);
  }

 private:
  // Before anything is allocated for it.
  arrow::Status CheckRange(ByteRange range) const {
    if (range.offset <= size_bytes_ && range.size <= size_bytes_ - range.offset) {
      return arrow::Status::OK();
    }
    return Corrupt({path_, range.offset}, "{} bytes expected here, the file has {} bytes in all",
                   range.size, size_bytes_);
  }

  arrow::Result<DescriptorCache::Shared> File() {
    DescriptorCache& cache = CacheOfProcess();
    if (auto open_file = cache.Find(id_)) return open_file;
    ARROW_ASSIGN_OR_RAISE(Descriptor file, OpenFile(path_, O_RDONLY, "open"));
    return cache.Add(id_, path_, std::move(file));
  }

  // REQUIRES: CheckRange
  arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateFor(const Descriptor& file,
                                                            ByteRange range) {
    if (range.size > kMaxUncheckedSize) {
      // The caller's word for the size is no reason to allocate more than the file can fill.
      ARROW_ASSIGN_OR_RAISE(const uint64_t size, SizeOf(file, path_));
      if (range.end() > size) {
        return Corrupt({path_, range.offset}, "{} bytes expected here, the file ends at byte {}",
                       range.size, size);
      }
    }
    return AllocateReadBuffer(range.size, range.offset);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadOpen(const Descriptor& file, ByteRange range) {
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateFor(file, range));
    auto* data = reinterpret_cast<std::byte*>(buffer->mutable_data());
    ARROW_RETURN_NOT_OK(ReadAt(file.fd(), path_, range.offset, {data, range.size}));
    return buffer;
  }

  static constexpr uint64_t kStep = uint64_t{2} << 20;  // a huge page
  static constexpr uint64_t kMaxUncheckedSize = uint64_t{16} << 20;
  inline static std::atomic<uint64_t> next_id_ = 0;

  std::string path_;
  uint64_t size_bytes_;
  uint64_t id_ = next_id_.fetch_add(1, std::memory_order_relaxed);
};

}  // namespace

arrow::Result<std::shared_ptr<ObjectReader>> OpenLocalFile(const std::string& path,
                                                           std::optional<uint64_t> size_bytes) {
  if (size_bytes) return std::make_shared<LocalReader>(path, *size_bytes);
  const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kHead);
  ARROW_ASSIGN_OR_RAISE(Descriptor file, OpenFile(path, O_RDONLY, "open"));
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, SizeOf(file, path));
  auto reader = std::make_shared<LocalReader>(path, size);
  CacheOfProcess().Add(reader->id(), path, std::move(file));
  return reader;
}

void CloseIdleDescriptors() { CacheOfProcess().Clear(); }

void CloseIdleDescriptors(const std::string& path) { CacheOfProcess().Remove(path); }

size_t NumOpenDescriptors() { return CacheOfProcess().size(); }

}  // namespace glaive::io
