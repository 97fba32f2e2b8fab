#include "io/synced_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <compare>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/per_process.h"
#include "io/posix.h"

namespace glaive::io {
namespace {

// A folder as such: one that was made anew under its path is another.
struct FolderId {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  int64_t made_s = 0;
  uint32_t made_ns = 0;
  auto operator<=>(const FolderId&) const = default;
};

// Folders whose names this process has synced.
struct Known {
  std::mutex mutex;
  std::set<FolderId> folders;
};

constexpr size_t kMostKnown = size_t{1} << 16;

Known& KnownToProcess() {
  static auto* const known = new PerProcess<Known>;
  return known->Get();
}

bool IsKnown(const FolderId& folder) {
  Known& known = KnownToProcess();
  const std::lock_guard lock(known.mutex);
  return known.folders.contains(folder);
}

void Remember(const std::vector<FolderId>& folders) {
  Known& known = KnownToProcess();
  const std::lock_guard lock(known.mutex);
  if (known.folders.size() > kMostKnown) known.folders.clear();
  known.folders.insert(folders.begin(), folders.end());
}

struct Look {
  FolderId id;
  bool is_certain = false;  // else the file system does not say when the folder was made
};

std::optional<Look> LookAt(int fd) {
  struct statx status = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0) return std::nullopt;
  return Look{.id = {status.stx_dev_major, status.stx_dev_minor, status.stx_ino,
                     status.stx_btime.tv_sec, status.stx_btime.tv_nsec},
              .is_certain = (status.stx_mask & STATX_BTIME) != 0};
}

bool IsOnOneDevice(const FolderId& a, const FolderId& b) {
  return a.device_major == b.device_major && a.device_minor == b.device_minor;
}

arrow::Status Sync(int fd, const std::string& path) {
  // EINVAL: a file system that has no such notion for folders.
  if (fsync(fd) != 0 && errno != EINVAL) return PosixError(path, "sync", errno);
  return arrow::Status::OK();
}

}  // namespace

arrow::Status SyncFolderAndName(const std::string& folder) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  ARROW_ASSIGN_OR_RAISE(Descriptor current, OpenFile(folder, kFlags, "open to sync"));
  ARROW_RETURN_NOT_OK(Sync(current.fd(), folder));
  std::vector<FolderId> synced;
  std::string path = folder;
  for (auto look = LookAt(current.fd()); look && !(look->is_certain && IsKnown(look->id));) {
    path += "/..";
    Descriptor parent(openat(current.fd(), "..", kFlags));
    // Who may not read a folder did not make it.
    if (!parent && (errno == EACCES || errno == EPERM)) break;
    if (!parent) return PosixError(path, "open to sync", errno);
    const auto above = LookAt(parent.fd());
    const bool is_top = !above || !IsOnOneDevice(above->id, look->id) || above->id == look->id;
    if (!is_top) ARROW_RETURN_NOT_OK(Sync(parent.fd(), path));
    if (look->is_certain) synced.push_back(look->id);
    if (is_top) break;
    current = std::move(parent);
    look = above;
  }
  Remember(synced);
  return arrow::Status::OK();
}

}  // namespace glaive::io
