#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ranges>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/attempt.h"
#include "core/error.h"
#include "core/write_once.h"
#include "io/local_reader.h"
#include "io/local_writer.h"
#include "io/object_store.h"
#include "io/posix.h"
#include "io/request_counter.h"
#include "io/synced_folders.h"

namespace glaive::io {
namespace {

constexpr size_t kMaxSyncThreads = 8;  // syncs wait for the disk, not for a core

class Folder {
 public:
  explicit Folder(DIR* folder) : folder_(folder) {}
  Folder(Folder&& other) noexcept : folder_(std::exchange(other.folder_, nullptr)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (folder_ != nullptr) closedir(folder_);
  }
  DIR* get() const { return folder_; }

 private:
  DIR* folder_;
};

std::string Join(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (path.empty() || path.back() != '/') path += '/';
  return path += name;
}

ObjectInfo InfoOf(std::string path, const struct stat& status) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  return {.path = std::move(path),
          .size_bytes = static_cast<uint64_t>(status.st_size),
          .modified_ns = status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec,
          .file_id = status.st_ino};
}

// Calls `visit(folder descriptor, entry)` on every entry but "." and "..". A folder that is not
// there has none.
template <typename Visit>
arrow::Status VisitEntries(const std::string& path, Visit&& visit) {
  // Opened by hand, so that running out of descriptors is dealt with in one place.
  auto opened = OpenFile(path, O_RDONLY | O_DIRECTORY, "list");
  if (!opened.ok() && KindOf(opened.status()) == ErrorKind::kFileNotFound) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const Descriptor descriptor, std::move(opened));
  const int fd = fcntl(descriptor.fd(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return PosixError(path, "list", errno);
  const Folder folder(fdopendir(fd));
  if (folder.get() == nullptr) {
    close(fd);
    return PosixError(path, "list", errno);
  }
  while (true) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(descriptor.fd(), *entry);
  }
  if (errno != 0) return PosixError(path, "list", errno);
  return arrow::Status::OK();
}

// Symbolic links count as what they lead to. What has gone meanwhile is left out.
bool LookAt(int folder_fd, const dirent& entry, struct stat& status) {
  return fstatat(folder_fd, entry.d_name, &status, 0) == 0;
}

bool IsFile(int folder_fd, const dirent& entry) {
  if (entry.d_type == DT_REG) return true;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return false;
  struct stat status = {};
  return LookAt(folder_fd, entry, status) && S_ISREG(status.st_mode);
}

// The entries below a folder, links as links; the folder itself is the first of `folders`.
struct Tree {
  std::vector<ObjectInfo> others;
  std::vector<std::string> folders;  // each before those in it
};

arrow::Result<Tree> WalkTree(const std::string& root) {
  Tree tree;
  tree.folders.push_back(root);
  for (size_t i = 0; i < tree.folders.size(); ++i) {
    const std::string current = tree.folders[i];
    ARROW_RETURN_NOT_OK(VisitEntries(current, [&](int fd, const dirent& entry) {
      struct stat status = {};
      if (fstatat(fd, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
      std::string path = Join(current, entry.d_name);
      if (S_ISDIR(status.st_mode)) {
        tree.folders.push_back(std::move(path));
      } else {
        tree.others.push_back(InfoOf(std::move(path), status));
      }
    }));
  }
  return tree;
}

// What another process puts there meanwhile stays, also under a name that was there before.
arrow::Status RemoveTree(const std::string& root) {
  ARROW_ASSIGN_OR_RAISE(const Tree tree, WalkTree(root));
  for (const ObjectInfo& seen : tree.others) {
    struct stat status = {};
    if (lstat(seen.path.c_str(), &status) != 0 || InfoOf(seen.path, status) != seen) continue;
    if (unlink(seen.path.c_str()) != 0 && errno != ENOENT) {
      return PosixError(seen.path, "delete", errno);
    }
  }
  for (const std::string& folder : tree.folders | std::views::reverse) {
    const bool is_gone = rmdir(folder.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR;
    if (!is_gone && errno != ENOTEMPTY && errno != EEXIST) {
      return PosixError(folder, "delete", errno);
    }
  }
  return arrow::Status::OK();
}

arrow::Status SyncFiles(std::span<const std::string> paths) {
  std::vector<arrow::Status> results(paths.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < paths.size(); i = next++) {
      results[i] = Attempt([&] { return SyncFile(paths[i]); });
    }
  };
  std::vector<std::jthread> threads;
  try {
    while (threads.size() + 1 < std::min(paths.size(), kMaxSyncThreads)) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The machine has no more threads: those that run, and this one, do the work.
  }
  work();
  threads.clear();  // joins
  for (const arrow::Status& status : results) ARROW_RETURN_NOT_OK(status);
  return arrow::Status::OK();
}

class LocalObjectStore final : public ObjectStore {
 public:
  arrow::Result<std::shared_ptr<ObjectReader>> OpenRead(
      const std::string& path, std::optional<uint64_t> size_bytes) override {
    return OpenLocalFile(path, size_bytes);
  }

  arrow::Result<std::unique_ptr<ObjectWriter>> OpenWrite(const std::string& path) override {
    return OpenLocalWriter(path);
  }

  arrow::Result<std::unique_ptr<ObjectWriter>> OpenNew(const std::string& path) override {
    return OpenNewLocalFile(path);
  }

  arrow::Status Put(const std::string& path, std::span<const std::byte> bytes) override {
    ARROW_ASSIGN_OR_RAISE(const auto writer, OpenLocalWriter(path));
    ARROW_RETURN_NOT_OK(writer->Write(bytes));
    return writer->Finish();
  }

  arrow::Status PutSynced(const std::string& path, std::span<const std::byte> bytes) override {
    return PutLocalSynced(path, bytes);
  }

  arrow::Status PutIfAbsent(const std::string& path,
                            std::span<const std::shared_ptr<arrow::Buffer>> parts,
                            bool sync) override {
    return PutLocalIfAbsent(path, parts, sync);
  }

  arrow::Result<std::optional<ObjectInfo>> Head(const std::string& path) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kHead);
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      return PosixError(path, "look at", errno);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return InfoOf(path, status);
  }

  arrow::Result<std::vector<ObjectInfo>> List(const std::string& folder) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kList);
    std::vector<ObjectInfo> objects;
    ARROW_RETURN_NOT_OK(VisitEntries(folder, [&](int fd, const dirent& entry) {
      struct stat status = {};
      if (entry.d_type == DT_DIR || !LookAt(fd, entry, status) || !S_ISREG(status.st_mode)) return;
      objects.push_back(InfoOf(Join(folder, entry.d_name), status));
    }));
    return objects;
  }

  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kList);
    std::vector<std::string> names;
    ARROW_RETURN_NOT_OK(VisitEntries(folder, [&](int fd, const dirent& entry) {
      if (IsFile(fd, entry)) names.emplace_back(entry.d_name);
    }));
    return names;
  }

  arrow::Result<std::optional<ObjectInfo>> FindHighest(const std::string& folder,
                                                       const NameRank& rank) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kList);
    std::vector<std::pair<uint64_t, std::string>> ranked;
    ARROW_RETURN_NOT_OK(VisitEntries(folder, [&](int fd, const dirent& entry) {
      const auto of_name = rank(entry.d_name);
      if (of_name && IsFile(fd, entry)) ranked.emplace_back(*of_name, entry.d_name);
    }));
    // The highest may have gone meanwhile; then it is the next one.
    for (std::ranges::make_heap(ranked); !ranked.empty(); ranked.pop_back()) {
      std::ranges::pop_heap(ranked);
      const std::string path = Join(folder, ranked.back().second);
      struct stat status = {};
      if (stat(path.c_str(), &status) == 0) return InfoOf(path, status);
      if (errno != ENOENT) return PosixError(path, "look at", errno);
    }
    return std::nullopt;
  }

  // Links to folders are not followed: they may lead round in circles.
  arrow::Result<std::vector<ObjectInfo>> ListRecursive(const std::string& folder) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kList);
    std::vector<ObjectInfo> objects;
    std::vector<std::string> folders = {folder};
    while (!folders.empty()) {
      const std::string current = std::move(folders.back());
      folders.pop_back();
      ARROW_RETURN_NOT_OK(VisitEntries(current, [&](int fd, const dirent& entry) {
        struct stat status = {};
        if (!LookAt(fd, entry, status)) return;
        if (S_ISREG(status.st_mode)) {
          objects.push_back(InfoOf(Join(current, entry.d_name), status));
        } else if (S_ISDIR(status.st_mode) && entry.d_type != DT_LNK) {
          folders.push_back(Join(current, entry.d_name));
        }
      }));
    }
    return objects;
  }

  // A symbolic link is followed: what it leads to gets the name. Where the file system has no
  // links, or the two names lie on different ones, the bytes are copied.
  arrow::Result<bool> Link(const std::string& from, const std::string& to) override {
    ARROW_RETURN_NOT_OK(MakeFolders(FolderOf(to)));
    if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno == EEXIST) return AlreadyExists(Location{to}, "there is a file of this name");
    if (errno == ENOENT) return PosixError(from, "link", errno);
    return ObjectStore::Link(from, to);
  }

  arrow::Status Delete(const std::string& path) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kDelete);
    if (unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
      return PosixError(path, "delete", errno);
    }
    CloseIdleDescriptors(path);  // else its bytes would stay on the disk as long as it has a reader
    return arrow::Status::OK();
  }

  arrow::Status DeleteFolder(const std::string& folder) override {
    const RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kDelete);
    const auto removed = RemoveTree(folder);
    CloseIdleDescriptors();
    return removed;
  }

  arrow::Status Sync(std::span<const std::string> paths) override {
    ARROW_RETURN_NOT_OK(SyncFiles(paths));
    std::set<std::string> folders;
    for (const std::string& path : paths) folders.insert(FolderOf(path));
    for (const std::string& folder : folders) ARROW_RETURN_NOT_OK(SyncFolderAndName(folder));
    return arrow::Status::OK();
  }

  bool lists_cheaply() const override { return true; }
};

}  // namespace

std::shared_ptr<ObjectStore> LocalStore() {
  static constinit ProcessWide<const std::shared_ptr<ObjectStore>> store;
  return store.Get([] {
    return std::make_unique<const std::shared_ptr<ObjectStore>>(
        std::make_shared<LocalObjectStore>());
  });
}

}  // namespace glaive::io
