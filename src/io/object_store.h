#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/ranges.h"

namespace glaive::io {

struct ObjectInfo {
  std::string path;
  uint64_t size_bytes = 0;
  std::optional<int64_t> modified_ns;  // since the Unix epoch, where the store tells
  uint64_t file_id =
      0;  // another one for another object of the same path, size and time; 0: unknown

  bool operator==(const ObjectInfo&) const = default;
};

// An object opened for reading. Thread safe. Reading past the end is an error, never a short read.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  virtual uint64_t size_bytes() const = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) = 0;

  // The same, for a caller who has work to do on the bytes while more of them arrive. `arrived` is
  // called on the caller's thread whenever the first `num_bytes` of the buffer are there, at last
  // with all of them; it may end the read by an error.
  using Arrived = std::function<arrow::Status(const std::shared_ptr<arrow::Buffer>& buffer,
                                              uint64_t num_bytes)>;
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> ReadInSteps(ByteRange range,
                                                                    const Arrived& arrived);

  // Several ranges, which may go out at once: one dependent round. Buffers in order of the ranges;
  // those of neighbours may be slices of one read.
  virtual arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadMany(
      std::span<const ByteRange> ranges) = 0;
};

// An object being written front to back. It is there, whole, from Finish on; destroyed without
// Finish it leaves nothing behind.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  virtual arrow::Status Write(std::span<const std::byte> bytes) = 0;
  virtual uint64_t position() const = 0;
  virtual arrow::Status Finish() = 0;
};

// Where the files of tables lie. Paths are absolute within the store and use '/'. Thread safe.
// Errors name the path: kFileNotFound where nothing is there, kAlreadyExists, kIO for the rest.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // `size_bytes`, where the caller knows it, saves the request that asks for it; a wrong one shows
  // as a failed read.
  virtual arrow::Result<std::shared_ptr<ObjectReader>> OpenRead(
      const std::string& path, std::optional<uint64_t> size_bytes = std::nullopt) = 0;

  // All of an object of unknown size; stores that answer this in one request do.
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> ReadWhole(const std::string& path);

  // Makes missing folders. An object that is already there is replaced at Finish.
  virtual arrow::Result<std::unique_ptr<ObjectWriter>> OpenWrite(const std::string& path) = 0;

  // The same under a name that no other object ever had. Who lists the folder may see the object
  // before it is whole, and find a part of it if the process dies: of use for names that nobody
  // knows yet. kAlreadyExists where there is one.
  virtual arrow::Result<std::unique_ptr<ObjectWriter>> OpenNew(const std::string& path);

  // One whole object, replacing any.
  virtual arrow::Status Put(const std::string& path, std::span<const std::byte> bytes) = 0;

  // The same, with its bytes on stable storage before it replaces another one, and the name before
  // OK: after a loss of power the name leads to one of the two, whole.
  virtual arrow::Status PutSynced(const std::string& path, std::span<const std::byte> bytes);

  // One whole object, made of `parts` back to back, unless there is one: then kAlreadyExists, and
  // the other stays as it is. With `sync`, bytes and name are on stable storage before OK.
  virtual arrow::Status PutIfAbsent(const std::string& path,
                                    std::span<const std::shared_ptr<arrow::Buffer>> parts,
                                    bool sync) = 0;

  // Nothing where there is no such object.
  virtual arrow::Result<std::optional<ObjectInfo>> Head(const std::string& path) = 0;

  // The objects directly in `folder`, in no order; none where there is no such folder.
  virtual arrow::Result<std::vector<ObjectInfo>> List(const std::string& folder) = 0;

  // Their names alone, without the folder: cheaper where every size costs a look at the object.
  virtual arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) = 0;

  // Of the objects directly in `folder` the one whose name ranks highest; names without a rank are
  // passed over. One listing, and one look where every size costs one.
  using NameRank = std::function<std::optional<uint64_t>(std::string_view name)>;
  virtual arrow::Result<std::optional<ObjectInfo>> FindHighest(const std::string& folder,
                                                               const NameRank& rank);

  // Every object below `folder`.
  virtual arrow::Result<std::vector<ObjectInfo>> ListRecursive(const std::string& folder) = 0;

  // The bytes of `from` under the name `to` as well, making missing folders; kAlreadyExists where
  // there is an object of that name. True where the two share their bytes; else they were copied.
  virtual arrow::Result<bool> Link(const std::string& from, const std::string& to);

  // OK where there is none.
  virtual arrow::Status Delete(const std::string& path) = 0;

  // The same for the object that an earlier look or listing found: true where nothing is there any
  // more. False where another object has the name by now; that one stays. Stores that cannot do the
  // two in one step look first, and delete then.
  virtual arrow::Result<bool> DeleteIf(const ObjectInfo& seen);

  // Every object that is below `folder` when the call begins, and the folder itself where the store
  // has such and nothing came into it meanwhile. OK where there is none.
  virtual arrow::Status DeleteFolder(const std::string& folder);

  // Puts finished objects, and the names that lead to them, on stable storage. No-op for stores
  // whose writes are durable when they return.
  virtual arrow::Status Sync(std::span<const std::string> paths) = 0;

  // Whether a listing of a folder is cheap enough to find the latest version with.
  virtual bool lists_cheaply() const = 0;
};

// A URI or a local path, as users give them, and the store that serves it.
struct ResolvedUri {
  std::shared_ptr<ObjectStore> store;
  std::string path;  // of the dataset or file in the store, without a trailing '/'
  std::string uri;   // as it is shown to people and kept in handles
};

// file://, memory:// and plain paths, which are made absolute; `uri` stays as it was given. Any
// other scheme: kUnsupported naming it.
arrow::Result<ResolvedUri> Resolve(std::string_view uri);

// The store for `scheme://` in this process, before any built-in one ("file" serves plain paths
// too): what tests hook their stores in with. Null removes it.
void RegisterStore(const std::string& scheme, std::shared_ptr<ObjectStore> store);

std::shared_ptr<ObjectStore> LocalStore();   // one per process
std::shared_ptr<ObjectStore> MemoryStore();  // one per process, shared by all memory:// URIs

}  // namespace glaive::io
