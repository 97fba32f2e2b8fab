#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/object_store.h"
#include "simulation/scheduler.h"

namespace glaive::simulation {

struct Object {
  std::shared_ptr<arrow::Buffer> bytes;
  int64_t modified_ns = 0;
  uint64_t id = 0;  // another one for each object that was ever put
  bool is_durable = false;
};

// What a request did, for people and for those who watch.
struct StoreEvent {
  uint64_t step = 0;
  int client = -1;
  RequestKind kind = RequestKind::kBegin;
  Fault fault = Fault::kNone;
  std::string path;
  std::string outcome;
};

struct StoreOptions {
  bool lists_cheaply = true;
  bool keeps_open_files = true;  // as POSIX does: what is open can be read after it was deleted
  bool is_durable_at_once = false;
};

// Objects in memory. A client's request waits for its turn and is then done in one step, or as the
// step says. A listing may be of an earlier moment, but shows all that the client itself did in
// that folder, and whatever was there all the while. Outside of clients requests are done at once.
class SimulatedStore final : public io::ObjectStore,
                             public std::enable_shared_from_this<SimulatedStore> {
 public:
  SimulatedStore(Scheduler& scheduler, StoreOptions options)
      : scheduler_(scheduler), options_(options) {}

  arrow::Result<std::shared_ptr<io::ObjectReader>> OpenRead(
      const std::string& path, std::optional<uint64_t> size_bytes) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadWhole(const std::string& path) override;
  arrow::Result<std::unique_ptr<io::ObjectWriter>> OpenWrite(const std::string& path) override;
  arrow::Status Put(const std::string& path, std::span<const std::byte> bytes) override;
  arrow::Status PutIfAbsent(const std::string& path,
                            std::span<const std::shared_ptr<arrow::Buffer>> parts,
                            bool sync) override;
  arrow::Result<std::optional<io::ObjectInfo>> Head(const std::string& path) override;
  arrow::Result<std::vector<io::ObjectInfo>> List(const std::string& folder) override;
  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override;
  arrow::Result<std::vector<io::ObjectInfo>> ListRecursive(const std::string& folder) override;
  arrow::Result<bool> Link(const std::string& from, const std::string& to) override;
  arrow::Status Delete(const std::string& path) override;
  arrow::Result<bool> DeleteIf(const io::ObjectInfo& seen) override;
  arrow::Status DeleteFolder(const std::string& folder) override;
  arrow::Status Sync(std::span<const std::string> paths) override;
  bool lists_cheaply() const override { return options_.lists_cheaply; }

  // For writers and readers of this store.
  arrow::Status Place(RequestKind kind, const std::string& path,
                      std::shared_ptr<arrow::Buffer> bytes, bool replace, bool sync);
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(const std::string& path,
                                                     const std::shared_ptr<arrow::Buffer>& opened);

  const std::map<std::string, Object>& objects() const { return objects_; }
  // Loses what was not synced: all of it, or some by the seed.
  void LosePower(uint64_t seed);
  // Each change and, with `watch_all`, each request as it was done.
  using Watch = std::function<void(const StoreEvent&)>;
  void SetWatch(Watch watch, bool watch_all) {
    watch_ = std::move(watch);
    watch_all_ = watch_all;
  }

 private:
  struct Change {
    std::string path;
    std::optional<Object> before;  // nothing: it was not there
  };

  Step Wait(RequestKind kind, const std::string& path);
  arrow::Status Do(RequestKind kind, const std::string& path,
                   const std::function<arrow::Status()>& act);
  void Tell(RequestKind kind, const std::string& path, const Step& step, std::string_view outcome);
  void Set(const std::string& path, std::optional<Object> object);
  arrow::Result<std::map<std::string, Object>> Listing(const std::string& folder);
  std::map<std::string, Object> StateAt(size_t num_changes, const std::string& prefix) const;
  size_t OldestMoment(const std::string& folder) const;
  static io::ObjectInfo InfoOf(const std::string& path, const Object& object);

  Scheduler& scheduler_;
  const StoreOptions options_;
  std::map<std::string, Object> objects_;
  std::vector<Change> changes_;
  std::map<std::pair<int, std::string>, size_t> own_changes_;  // by client and table: how many then
  uint64_t num_objects_ = 0;
  Watch watch_;
  bool watch_all_ = false;
};

}  // namespace glaive::simulation
