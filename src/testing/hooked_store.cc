#include "testing/hooked_store.h"

#include <array>
#include <optional>
#include <utility>

namespace glaive::testing {
namespace {

// Runs a fallible call of the inner store inside `store.Around`.
template <typename T, typename Call>
arrow::Result<T> Hook(HookedStore& store, const StoreCall& call, Call&& inner_call) {
  std::optional<T> value;
  ARROW_RETURN_NOT_OK(store.Around(call, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(value, inner_call());
    return arrow::Status::OK();
  }));
  return std::move(*value);
}

class HookedReader final : public io::ObjectReader {
 public:
  HookedReader(std::shared_ptr<HookedStore> store, std::string path,
               std::shared_ptr<io::ObjectReader> inner)
      : store_(std::move(store)), path_(std::move(path)), inner_(std::move(inner)) {}

  uint64_t size_bytes() const override { return inner_->size_bytes(); }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) override {
    const StoreCall call = {
        .kind = StoreCallKind::kRead, .path = path_, .ranges = std::span(&range, 1)};
    return Hook<std::shared_ptr<arrow::Buffer>>(*store_, call, [&] { return inner_->Read(range); });
  }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadMany(
      std::span<const ByteRange> ranges) override {
    const StoreCall call = {.kind = StoreCallKind::kReadMany, .path = path_, .ranges = ranges};
    return Hook<std::vector<std::shared_ptr<arrow::Buffer>>>(
        *store_, call, [&] { return inner_->ReadMany(ranges); });
  }

 private:
  std::shared_ptr<HookedStore> store_;
  std::string path_;
  std::shared_ptr<io::ObjectReader> inner_;
};

class HookedWriter final : public io::ObjectWriter {
 public:
  HookedWriter(std::shared_ptr<HookedStore> store, std::string path,
               std::unique_ptr<io::ObjectWriter> inner)
      : store_(std::move(store)), path_(std::move(path)), inner_(std::move(inner)) {}

  arrow::Status Write(std::span<const std::byte> bytes) override {
    return store_->Around(
        {.kind = StoreCallKind::kWrite, .path = path_, .bytes_written = bytes.size()},
        [&] { return inner_->Write(bytes); });
  }

  uint64_t position() const override { return inner_->position(); }

  arrow::Status Finish() override {
    return store_->Around(
        {.kind = StoreCallKind::kFinish, .path = path_, .bytes_written = inner_->position()},
        [&] { return inner_->Finish(); });
  }

 private:
  std::shared_ptr<HookedStore> store_;
  std::string path_;
  std::unique_ptr<io::ObjectWriter> inner_;
};

}  // namespace

arrow::Result<std::shared_ptr<io::ObjectReader>> HookedStore::OpenRead(
    const std::string& path, std::optional<uint64_t> size_bytes) {
  const StoreCall call = {
      .kind = StoreCallKind::kOpenRead, .path = path, .is_size_known = size_bytes.has_value()};
  ARROW_ASSIGN_OR_RAISE(auto reader, Hook<std::shared_ptr<io::ObjectReader>>(*this, call, [&] {
                          return inner_->OpenRead(path, size_bytes);
                        }));
  return std::make_shared<HookedReader>(shared_from_this(), path, std::move(reader));
}

arrow::Result<std::unique_ptr<io::ObjectWriter>> HookedStore::OpenWrite(const std::string& path) {
  const StoreCall call = {.kind = StoreCallKind::kOpenWrite, .path = path};
  ARROW_ASSIGN_OR_RAISE(auto writer, Hook<std::unique_ptr<io::ObjectWriter>>(
                                         *this, call, [&] { return inner_->OpenWrite(path); }));
  return std::make_unique<HookedWriter>(shared_from_this(), path, std::move(writer));
}

arrow::Status HookedStore::Put(const std::string& path, std::span<const std::byte> bytes) {
  return Around({.kind = StoreCallKind::kPut, .path = path, .bytes_written = bytes.size()},
                [&] { return inner_->Put(path, bytes); });
}

arrow::Status HookedStore::PutSynced(const std::string& path, std::span<const std::byte> bytes) {
  return Around(
      {.kind = StoreCallKind::kPut, .path = path, .bytes_written = bytes.size(), .sync = true},
      [&] { return inner_->PutSynced(path, bytes); });
}

arrow::Status HookedStore::PutIfAbsent(const std::string& path,
                                       std::span<const std::shared_ptr<arrow::Buffer>> parts,
                                       bool sync) {
  StoreCall call = {.kind = StoreCallKind::kPutIfAbsent, .path = path, .sync = sync};
  for (const auto& part : parts) call.bytes_written += static_cast<uint64_t>(part->size());
  return Around(call, [&] { return inner_->PutIfAbsent(path, parts, sync); });
}

arrow::Result<std::optional<io::ObjectInfo>> HookedStore::Head(const std::string& path) {
  return Hook<std::optional<io::ObjectInfo>>(*this, {.kind = StoreCallKind::kHead, .path = path},
                                             [&] { return inner_->Head(path); });
}

arrow::Result<std::vector<io::ObjectInfo>> HookedStore::List(const std::string& folder) {
  return Hook<std::vector<io::ObjectInfo>>(*this, {.kind = StoreCallKind::kList, .path = folder},
                                           [&] { return inner_->List(folder); });
}

arrow::Result<std::shared_ptr<arrow::Buffer>> HookedStore::ReadWhole(const std::string& path) {
  constexpr std::array<ByteRange, 1> kSomeBytes = {{{0, 1}}};  // how many is not known before
  return Hook<std::shared_ptr<arrow::Buffer>>(
      *this, {.kind = StoreCallKind::kRead, .path = path, .ranges = kSomeBytes},
      [&] { return inner_->ReadWhole(path); });
}

arrow::Result<std::vector<std::string>> HookedStore::ListNames(const std::string& folder) {
  return Hook<std::vector<std::string>>(*this, {.kind = StoreCallKind::kList, .path = folder},
                                        [&] { return inner_->ListNames(folder); });
}

arrow::Result<std::vector<io::ObjectInfo>> HookedStore::ListRecursive(const std::string& folder) {
  return Hook<std::vector<io::ObjectInfo>>(*this, {.kind = StoreCallKind::kList, .path = folder},
                                           [&] { return inner_->ListRecursive(folder); });
}

arrow::Status HookedStore::Delete(const std::string& path) {
  return Around({.kind = StoreCallKind::kDelete, .path = path},
                [&] { return inner_->Delete(path); });
}

arrow::Result<bool> HookedStore::DeleteIf(const io::ObjectInfo& seen) {
  return Hook<bool>(*this, {.kind = StoreCallKind::kDelete, .path = seen.path},
                    [&] { return inner_->DeleteIf(seen); });
}

arrow::Status HookedStore::Sync(std::span<const std::string> paths) {
  return Around({.kind = StoreCallKind::kSync,
                 .path = paths.empty() ? std::string() : paths.front(),
                 .synced = paths},
                [&] { return inner_->Sync(paths); });
}

}  // namespace glaive::testing
