#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/object_store.h"

namespace glaive::testing {

enum class StoreCallKind : uint8_t {
  kOpenRead,
  kRead,
  kReadMany,
  kOpenWrite,
  kWrite,
  kFinish,
  kPut,
  kPutIfAbsent,
  kHead,
  kList,
  kDelete,
  kSync,
};

// One call of a store, or of a reader or writer that it made.
struct StoreCall {
  StoreCallKind kind;
  std::string path;                   // of the object or folder; of the first one for kSync
  std::span<const ByteRange> ranges;  // reads
  uint64_t bytes_written = 0;         // kWrite, kPut, kPutIfAbsent; of the object for kFinish
  bool is_size_known = false;         // kOpenRead
  bool sync = false;                  // kPut, kPutIfAbsent
  std::span<const std::string> synced = {};  // kSync
};

// A store in front of another one. Every call goes through Around, which says when it is performed,
// if at all, and what is reported.
class HookedStore : public io::ObjectStore, public std::enable_shared_from_this<HookedStore> {
 public:
  explicit HookedStore(std::shared_ptr<io::ObjectStore> inner) : inner_(std::move(inner)) {}

  // Thread safe in every subclass. `perform` calls the inner store.
  virtual arrow::Status Around(const StoreCall& call,
                               const std::function<arrow::Status()>& perform) = 0;

  arrow::Result<std::shared_ptr<io::ObjectReader>> OpenRead(
      const std::string& path, std::optional<uint64_t> size_bytes) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadWhole(const std::string& path) override;
  arrow::Result<std::unique_ptr<io::ObjectWriter>> OpenWrite(const std::string& path) override;
  arrow::Status Put(const std::string& path, std::span<const std::byte> bytes) override;
  arrow::Status PutSynced(const std::string& path, std::span<const std::byte> bytes) override;
  arrow::Status PutIfAbsent(const std::string& path,
                            std::span<const std::shared_ptr<arrow::Buffer>> parts,
                            bool sync) override;
  arrow::Result<std::optional<io::ObjectInfo>> Head(const std::string& path) override;
  arrow::Result<std::vector<io::ObjectInfo>> List(const std::string& folder) override;
  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override;
  arrow::Result<std::vector<io::ObjectInfo>> ListRecursive(const std::string& folder) override;
  arrow::Status Delete(const std::string& path) override;
  arrow::Result<bool> DeleteIf(const io::ObjectInfo& seen) override;
  arrow::Status Sync(std::span<const std::string> paths) override;
  bool lists_cheaply() const override { return inner_->lists_cheaply(); }

  io::ObjectStore& inner() { return *inner_; }

 private:
  std::shared_ptr<io::ObjectStore> inner_;
};

}  // namespace glaive::testing
