#include "simulation/simulated_store.h"

#include <algorithm>
#include <functional>

#include <arrow/buffer.h>

#include "core/error.h"

namespace glaive::simulation {
namespace {

class Reader final : public io::ObjectReader {
 public:
  Reader(std::shared_ptr<SimulatedStore> store, std::string path,
         std::shared_ptr<arrow::Buffer> bytes)
      : store_(std::move(store)), path_(std::move(path)), bytes_(std::move(bytes)) {}

  uint64_t size_bytes() const override { return static_cast<uint64_t>(bytes_->size()); }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) override {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, store_->Read(path_, bytes_));
    return Slice(*bytes, range);
  }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadMany(
      std::span<const ByteRange> ranges) override {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, store_->Read(path_, bytes_));
    std::vector<std::shared_ptr<arrow::Buffer>> buffers;
    for (const ByteRange& range : ranges) {
      ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), Slice(*bytes, range));
    }
    return buffers;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> Slice(const arrow::Buffer& bytes,
                                                      ByteRange range) const {
    const auto size = static_cast<uint64_t>(bytes.size());
    if (range.offset > size || range.size > size - range.offset) {
      return Corrupt({path_, range.offset}, "{} bytes expected here, the file has {} bytes in all",
                     range.size, size);
    }
    return arrow::SliceBuffer(bytes_, static_cast<int64_t>(range.offset),
                              static_cast<int64_t>(range.size));
  }

  std::shared_ptr<SimulatedStore> store_;
  std::string path_;
  std::shared_ptr<arrow::Buffer> bytes_;
};

class Writer final : public io::ObjectWriter {
 public:
  Writer(std::shared_ptr<SimulatedStore> store, std::string path)
      : store_(std::move(store)), path_(std::move(path)) {}

  arrow::Status Write(std::span<const std::byte> bytes) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return arrow::Status::OK();
  }
  uint64_t position() const override { return bytes_.size(); }
  arrow::Status Finish() override {
    return store_->Place(RequestKind::kPut, path_, arrow::Buffer::FromString(std::move(bytes_)),
                         /*replace=*/true, /*sync=*/false);
  }

 private:
  std::shared_ptr<SimulatedStore> store_;
  std::string path_;
  std::string bytes_;
};

std::string PrefixOf(const std::string& folder) {
  return folder.ends_with('/') ? folder : folder + "/";
}

// Tables lie side by side.
std::string TableOf(const std::string& path) { return path.substr(0, path.find('/', 1)); }

arrow::Status Lost(RequestKind kind, const std::string& path) {
  return IOError({path}, "simulated failure of {}", NameOf(kind));
}

}  // namespace

io::ObjectInfo SimulatedStore::InfoOf(const std::string& path, const Object& object) {
  return {.path = path,
          .size_bytes = static_cast<uint64_t>(object.bytes->size()),
          .modified_ns = object.modified_ns,
          .file_id = object.id};
}

Step SimulatedStore::Wait(RequestKind kind, const std::string& path) {
  if (!scheduler_.is_in_client()) return {};
  return scheduler_.Wait({kind, path});
}

void SimulatedStore::Tell(RequestKind kind, const std::string& path, const Step& step,
                          std::string_view outcome) {
  const bool is_change = kind == RequestKind::kPut || kind == RequestKind::kPutIfAbsent ||
                         kind == RequestKind::kDelete;
  if (!watch_ || (!watch_all_ && !is_change)) return;
  watch_({.step = scheduler_.num_steps(),
          .client = scheduler_.current(),
          .kind = kind,
          .fault = step.fault,
          .path = path,
          .outcome = std::string(outcome)});
}

// A request as its step says: maybe not performed, maybe without its answer.
arrow::Status SimulatedStore::Do(RequestKind kind, const std::string& path,
                                 const std::function<arrow::Status()>& act) {
  const Step step = Wait(kind, path);
  if (step.fault == Fault::kFails) {
    Tell(kind, path, step, "error");
    return Lost(kind, path);
  }
  const arrow::Status status = act();
  Tell(kind, path, step, status.ok() ? "" : status.message());
  if (step.fault == Fault::kAnswerLost) return Lost(kind, path);
  return status;
}

void SimulatedStore::Set(const std::string& path, std::optional<Object> object) {
  const auto found = objects_.find(path);
  changes_.push_back({path, found == objects_.end() ? std::nullopt : std::optional(found->second)});
  if (object) {
    objects_[path] = std::move(*object);
  } else if (found != objects_.end()) {
    objects_.erase(found);
  }
  if (!scheduler_.is_in_client()) return;
  own_changes_[{scheduler_.current(), TableOf(path)}] = changes_.size();
}

arrow::Status SimulatedStore::Place(RequestKind kind, const std::string& path,
                                    std::shared_ptr<arrow::Buffer> bytes, bool replace, bool sync) {
  return Do(kind, path, [&]() -> arrow::Status {
    if (!replace && objects_.contains(path)) {
      return AlreadyExists(Location{path}, "cannot create: it exists");
    }
    Set(path, Object{.bytes = std::move(bytes),
                     .modified_ns = scheduler_.UnixNanoseconds(),
                     .id = ++num_objects_,
                     .is_durable = sync || options_.is_durable_at_once});
    return arrow::Status::OK();
  });
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SimulatedStore::Read(
    const std::string& path, const std::shared_ptr<arrow::Buffer>& opened) {
  std::shared_ptr<arrow::Buffer> bytes = opened;
  ARROW_RETURN_NOT_OK(Do(RequestKind::kRead, path, [&]() -> arrow::Status {
    if (options_.keeps_open_files) return arrow::Status::OK();
    const auto found = objects_.find(path);
    if (found == objects_.end()) return FileNotFound({path}, "cannot read: no such object");
    bytes = found->second.bytes;
    return arrow::Status::OK();
  }));
  return bytes;
}

arrow::Result<std::shared_ptr<io::ObjectReader>> SimulatedStore::OpenRead(
    const std::string& path, std::optional<uint64_t> /*size_bytes*/) {
  std::shared_ptr<arrow::Buffer> bytes;
  ARROW_RETURN_NOT_OK(Do(RequestKind::kHead, path, [&]() -> arrow::Status {
    const auto found = objects_.find(path);
    if (found == objects_.end()) return FileNotFound({path}, "cannot open: no such object");
    bytes = found->second.bytes;
    return arrow::Status::OK();
  }));
  return std::make_shared<Reader>(shared_from_this(), path, std::move(bytes));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SimulatedStore::ReadWhole(const std::string& path) {
  std::shared_ptr<arrow::Buffer> bytes;
  ARROW_RETURN_NOT_OK(Do(RequestKind::kRead, path, [&]() -> arrow::Status {
    const auto found = objects_.find(path);
    if (found == objects_.end()) return FileNotFound({path}, "cannot open: no such object");
    bytes = found->second.bytes;
    return arrow::Status::OK();
  }));
  return bytes;
}

arrow::Result<std::unique_ptr<io::ObjectWriter>> SimulatedStore::OpenWrite(
    const std::string& path) {
  return std::make_unique<Writer>(shared_from_this(), path);
}

arrow::Status SimulatedStore::Put(const std::string& path, std::span<const std::byte> bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Place(RequestKind::kPut, path, arrow::Buffer::FromString(std::move(text)),
               /*replace=*/true, /*sync=*/false);
}

arrow::Status SimulatedStore::PutIfAbsent(const std::string& path,
                                          std::span<const std::shared_ptr<arrow::Buffer>> parts,
                                          bool sync) {
  std::string bytes;
  for (const auto& part : parts) bytes += std::string_view(*part);
  return Place(RequestKind::kPutIfAbsent, path, arrow::Buffer::FromString(std::move(bytes)),
               /*replace=*/false, sync);
}

arrow::Result<std::optional<io::ObjectInfo>> SimulatedStore::Head(const std::string& path) {
  std::optional<io::ObjectInfo> info;
  ARROW_RETURN_NOT_OK(Do(RequestKind::kHead, path, [&]() -> arrow::Status {
    const auto found = objects_.find(path);
    if (found != objects_.end()) info = InfoOf(path, found->second);
    return arrow::Status::OK();
  }));
  return info;
}

// The objects below a folder after so many changes.
std::map<std::string, Object> SimulatedStore::StateAt(size_t num_changes,
                                                      const std::string& prefix) const {
  std::map<std::string, Object> state;
  for (auto entry = objects_.lower_bound(prefix);
       entry != objects_.end() && entry->first.starts_with(prefix); ++entry) {
    state.insert(*entry);
  }
  for (size_t i = changes_.size(); i > num_changes; --i) {
    const Change& change = changes_[i - 1];
    if (!change.path.starts_with(prefix)) continue;
    if (change.before) {
      state[change.path] = *change.before;
    } else {
      state.erase(change.path);
    }
  }
  return state;
}

// How many changes the client's listing of the folder shows at least.
size_t SimulatedStore::OldestMoment(const std::string& folder) const {
  const auto own = own_changes_.find({scheduler_.current(), TableOf(folder)});
  return own == own_changes_.end() ? 0 : own->second;
}

arrow::Result<std::map<std::string, Object>> SimulatedStore::Listing(const std::string& folder) {
  const std::string prefix = PrefixOf(folder);
  const Step step = Wait(RequestKind::kList, folder);
  if (step.fault == Fault::kFails) {
    Tell(RequestKind::kList, folder, step, "error");
    return Lost(RequestKind::kList, folder);
  }
  size_t moment = changes_.size();
  if (step.fault == Fault::kStale) {
    // So many changes back that a listing of this folder could show.
    const size_t oldest = OldestMoment(folder);
    for (uint32_t left = step.amount; left > 0 && moment > oldest; --moment) {
      if (changes_[moment - 1].path.starts_with(prefix)) --left;
    }
  }
  auto state = StateAt(moment, prefix);
  if (step.fault == Fault::kPieces) {
    // Names are seen in an order of their own, a piece at a time.
    const uint64_t order = step.amount + scheduler_.num_steps();
    const auto piece_of = [&](const std::string& name) {
      return Random(order, std::hash<std::string>()(name)).Next() % step.amount;
    };
    std::map<std::string, Object> seen;
    for (uint32_t piece = 0; piece < step.amount; ++piece) {
      if (piece > 0) {
        const Step next = Wait(RequestKind::kList, folder);
        if (next.fault == Fault::kFails) {
          Tell(RequestKind::kList, folder, next, "error");
          return Lost(RequestKind::kList, folder);
        }
      }
      for (const auto& entry : StateAt(changes_.size(), prefix)) {
        if (piece_of(entry.first) == piece) seen.insert(entry);
      }
      Tell(RequestKind::kList, folder, step, std::to_string(seen.size()) + " objects so far");
    }
    return seen;
  }
  Tell(RequestKind::kList, folder, step, std::to_string(state.size()) + " objects");
  return state;
}

arrow::Result<std::vector<io::ObjectInfo>> SimulatedStore::List(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto state, Listing(folder));
  const size_t prefix = PrefixOf(folder).size();
  std::vector<io::ObjectInfo> objects;
  for (const auto& [path, object] : state) {
    if (path.find('/', prefix) == std::string::npos) objects.push_back(InfoOf(path, object));
  }
  return objects;
}

arrow::Result<std::vector<std::string>> SimulatedStore::ListNames(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, List(folder));
  const size_t prefix = PrefixOf(folder).size();
  std::vector<std::string> names;
  for (const io::ObjectInfo& object : objects) names.push_back(object.path.substr(prefix));
  return names;
}

arrow::Result<std::vector<io::ObjectInfo>> SimulatedStore::ListRecursive(
    const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto state, Listing(folder));
  std::vector<io::ObjectInfo> objects;
  for (const auto& [path, object] : state) objects.push_back(InfoOf(path, object));
  return objects;
}

arrow::Result<bool> SimulatedStore::Link(const std::string& from, const std::string& to) {
  ARROW_RETURN_NOT_OK(Do(RequestKind::kPutIfAbsent, to, [&]() -> arrow::Status {
    const auto source = objects_.find(from);
    if (source == objects_.end()) return FileNotFound({from}, "cannot link: no such object");
    if (objects_.contains(to)) return AlreadyExists(Location{to}, "cannot link: it exists");
    Object object = source->second;
    object.id = ++num_objects_;
    object.is_durable = options_.is_durable_at_once;
    Set(to, std::move(object));
    return arrow::Status::OK();
  }));
  return true;
}

arrow::Status SimulatedStore::Delete(const std::string& path) {
  return Do(RequestKind::kDelete, path, [&]() -> arrow::Status {
    if (objects_.contains(path)) Set(path, std::nullopt);
    return arrow::Status::OK();
  });
}

arrow::Result<bool> SimulatedStore::DeleteIf(const io::ObjectInfo& seen) {
  bool is_gone = true;
  ARROW_RETURN_NOT_OK(Do(RequestKind::kDelete, seen.path, [&]() -> arrow::Status {
    const auto found = objects_.find(seen.path);
    if (found == objects_.end()) return arrow::Status::OK();
    is_gone = found->second.id == seen.file_id;
    if (is_gone) Set(seen.path, std::nullopt);
    return arrow::Status::OK();
  }));
  return is_gone;
}

arrow::Status SimulatedStore::DeleteFolder(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, ListRecursive(folder));
  for (const io::ObjectInfo& object : objects) ARROW_RETURN_NOT_OK(DeleteIf(object).status());
  return arrow::Status::OK();
}

arrow::Status SimulatedStore::Sync(std::span<const std::string> paths) {
  return Do(RequestKind::kSync, paths.empty() ? std::string() : paths.front(),
            [&]() -> arrow::Status {
              for (const std::string& path : paths) {
                const auto found = objects_.find(path);
                if (found == objects_.end()) {
                  return FileNotFound({path}, "cannot sync: no such object");
                }
                found->second.is_durable = true;
              }
              return arrow::Status::OK();
            });
}

void SimulatedStore::LosePower(uint64_t seed) {
  Random random(seed, 3);
  const uint32_t share = random.Chance(500) ? 1000 : 500;
  std::erase_if(objects_, [&](const auto& entry) {
    return !entry.second.is_durable && random.Chance(share);
  });
}

}  // namespace glaive::simulation
