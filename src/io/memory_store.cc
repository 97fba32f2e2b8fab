#include "io/memory_store.h"

#include <pthread.h>
#include <map>
#include <mutex>
#include <utility>

#include <arrow/buffer.h>

#include "core/clock.h"
#include "core/error.h"
#include "io/coalesce.h"
#include "io/request_counter.h"

namespace glaive::io {
namespace {

struct Object {
  std::shared_ptr<arrow::Buffer> bytes;
  int64_t modified_ns = 0;
  uint64_t id = 0;
};

class MemoryReader final : public ObjectReader {
 public:
  MemoryReader(std::string path, std::shared_ptr<arrow::Buffer> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  uint64_t size_bytes() const override { return static_cast<uint64_t>(bytes_->size()); }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) override {
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kGet);
    request.AddBytesRead(range.size);
    return Slice(range);
  }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadMany(
      std::span<const ByteRange> ranges) override {
    std::vector<std::shared_ptr<arrow::Buffer>> buffers;
    if (ranges.empty()) return buffers;
    buffers.reserve(ranges.size());
    for (const ByteRange& range : ranges) {
      ARROW_ASSIGN_OR_RAISE(auto buffer, Slice(range));
      buffers.push_back(std::move(buffer));
    }
    // Nothing is gained by joining them here; they are counted as files would be read.
    const CoalescedRanges coalesced = CoalesceRanges(ranges, kLocalCoalescing);
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kGet,
                                     coalesced.reads.size());
    for (const ByteRange& read : coalesced.reads) request.AddBytesRead(read.size);
    return buffers;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> Slice(ByteRange range) const {
    if (range.offset > size_bytes() || range.size > size_bytes() - range.offset) {
      return Corrupt({path_, range.offset}, "{} bytes expected here, the file has {} bytes in all",
                     range.size, size_bytes());
    }
    return arrow::SliceBuffer(bytes_, static_cast<int64_t>(range.offset),
                              static_cast<int64_t>(range.size));
  }

  std::string path_;
  std::shared_ptr<arrow::Buffer> bytes_;
};

class MemoryObjectStore final : public ObjectStore,
                                public std::enable_shared_from_this<MemoryObjectStore> {
 public:
  arrow::Result<std::shared_ptr<ObjectReader>> OpenRead(
      const std::string& path, std::optional<uint64_t> size_bytes) override {
    std::shared_ptr<arrow::Buffer> bytes;
    {
      const std::lock_guard lock(mutex_);
      const auto found = objects_.find(path);
      if (found == objects_.end()) return FileNotFound({path}, "cannot open: no such object");
      bytes = found->second.bytes;
    }
    if (!size_bytes) {
      const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kHead);
    }
    return std::make_shared<MemoryReader>(path, std::move(bytes));
  }

  arrow::Result<std::unique_ptr<ObjectWriter>> OpenWrite(const std::string& path) override;

  arrow::Status Put(const std::string& path, std::span<const std::byte> bytes) override {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Place(path, arrow::Buffer::FromString(std::string(text)), /*replace=*/true);
  }

  arrow::Status PutIfAbsent(const std::string& path,
                            std::span<const std::shared_ptr<arrow::Buffer>> parts,
                            bool /*sync*/) override {
    std::string bytes;
    for (const auto& part : parts) bytes += std::string_view(*part);
    return Place(path, arrow::Buffer::FromString(std::move(bytes)), /*replace=*/false);
  }

  arrow::Result<std::optional<ObjectInfo>> Head(const std::string& path) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kHead);
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return std::nullopt;
    return InfoOf(*found);
  }

  arrow::Result<std::vector<ObjectInfo>> List(const std::string& folder) override {
    std::vector<ObjectInfo> objects;
    VisitBelow(folder, [&](const auto& entry, std::string_view name) {
      if (name.find('/') == std::string_view::npos) objects.push_back(InfoOf(entry));
    });
    return objects;
  }

  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override {
    std::vector<std::string> names;
    VisitBelow(folder, [&](const auto&, std::string_view name) {
      if (name.find('/') == std::string_view::npos) names.emplace_back(name);
    });
    return names;
  }

  arrow::Result<std::vector<ObjectInfo>> ListRecursive(const std::string& folder) override {
    std::vector<ObjectInfo> objects;
    VisitBelow(folder,
               [&](const auto& entry, std::string_view) { objects.push_back(InfoOf(entry)); });
    return objects;
  }

  arrow::Status Delete(const std::string& path) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kDelete);
    const std::lock_guard lock(mutex_);
    objects_.erase(path);
    return arrow::Status::OK();
  }

  arrow::Result<bool> DeleteIf(const ObjectInfo& seen) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kDelete);
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(seen.path);
    if (found == objects_.end()) return true;
    if (InfoOf(*found) != seen) return false;
    objects_.erase(found);
    return true;
  }

  arrow::Status Sync(std::span<const std::string> /*paths*/) override {
    return arrow::Status::OK();
  }

  bool lists_cheaply() const override { return true; }

  arrow::Status Place(const std::string& path, std::shared_ptr<arrow::Buffer> bytes, bool replace) {
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kPut);
    request.AddBytesWritten(static_cast<uint64_t>(bytes->size()));
    const int64_t now_ns = UnixNanoseconds();
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = objects_.try_emplace(path);
    if (!is_new && !replace) return AlreadyExists(Location{path}, "cannot create: it exists");
    entry->second = {std::move(bytes), now_ns, ++last_id_};
    return arrow::Status::OK();
  }

  std::mutex& mutex() { return mutex_; }

 private:
  using Objects = std::map<std::string, Object>;

  static ObjectInfo InfoOf(const Objects::value_type& entry) {
    return {.path = entry.first,
            .size_bytes = static_cast<uint64_t>(entry.second.bytes->size()),
            .modified_ns = entry.second.modified_ns,
            .file_id = entry.second.id};
  }

  template <typename Visit>
  void VisitBelow(const std::string& folder, Visit&& visit) {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kList);
    const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
    const std::lock_guard lock(mutex_);
    for (auto entry = objects_.lower_bound(prefix);
         entry != objects_.end() && entry->first.starts_with(prefix); ++entry) {
      visit(*entry, std::string_view(entry->first).substr(prefix.size()));
    }
  }

  std::mutex mutex_;
  Objects objects_;
  uint64_t last_id_ = 0;
};

class MemoryWriter final : public ObjectWriter {
 public:
  MemoryWriter(std::shared_ptr<MemoryObjectStore> store, std::string path)
      : store_(std::move(store)), path_(std::move(path)) {}

  arrow::Status Write(std::span<const std::byte> bytes) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return arrow::Status::OK();
  }
  uint64_t position() const override { return bytes_.size(); }
  arrow::Status Finish() override {
    return store_->Place(path_, arrow::Buffer::FromString(std::move(bytes_)), /*replace=*/true);
  }

 private:
  std::shared_ptr<MemoryObjectStore> store_;
  std::string path_;
  std::string bytes_;
};

arrow::Result<std::unique_ptr<ObjectWriter>> MemoryObjectStore::OpenWrite(const std::string& path) {
  return std::make_unique<MemoryWriter>(shared_from_this(), path);
}

// A child goes on with the objects as they were at the fork, so none may be half placed then.
const std::shared_ptr<MemoryObjectStore>& StoreOfProcess() {
  static const auto store = std::make_shared<MemoryObjectStore>();
  static const int registered = pthread_atfork([] { store->mutex().lock(); },    //
                                               [] { store->mutex().unlock(); },  //
                                               [] { store->mutex().unlock(); });
  static_cast<void>(registered);
  return store;
}

// Before main: a static local is made under a lock, which a fork could leave held.
[[maybe_unused]] const auto& made_early = StoreOfProcess();

}  // namespace

std::shared_ptr<ObjectStore> MemoryStore() { return StoreOfProcess(); }

std::shared_ptr<ObjectStore> MakeMemoryStore() { return std::make_shared<MemoryObjectStore>(); }

}  // namespace glaive::io
