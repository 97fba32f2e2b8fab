#include "io/posix.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <arrow/util/io_util.h>

#include "core/error.h"
#include "io/local_reader.h"

namespace glaive::io {
namespace {

template <typename Call>
auto Uninterrupted(Call&& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// The error's number; 0 where there is the folder now. A file of its name shows when it is used.
int MakeFolder(const std::string& folder) {
  return mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

int Descriptor::Close() {
  const int fd = std::exchange(fd_, -1);
  // Linux has let go of the descriptor even where close reports an interruption.
  return fd >= 0 && close(fd) != 0 && errno != EINTR ? errno : 0;
}

arrow::Status PosixError(std::string_view path, std::string_view action, int error_number) {
  const std::string reason = std::generic_category().message(error_number);
  const auto numbered = [&](const arrow::Status& status) {
    const ErrorDetail& detail = *ErrorDetail::Of(status);
    auto number = std::make_shared<arrow::Status>(
        arrow::internal::StatusFromErrno(error_number, arrow::StatusCode::IOError, reason));
    return status.WithDetail(std::make_shared<ErrorDetail>(
        detail.kind(), detail.retryable(), detail.path(), detail.offset(), std::move(number)));
  };
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return numbered(FileNotFound({path}, "cannot {}: {}", action, reason));
    case EEXIST: return numbered(AlreadyExists(Location{path}, "cannot {}: {}", action, reason));
    default: return numbered(IOError({path}, "cannot {}: {}", action, reason));
  }
}

arrow::Result<Descriptor> OpenFile(const std::string& path, int flags, std::string_view action) {
  const auto open_once = [&] {
    return Uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
  };
  int fd = open_once();
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
    CloseIdleDescriptors();
    fd = open_once();
  }
  if (fd < 0) return PosixError(path, action, errno);
  return Descriptor(fd);
}

arrow::Status ReadAt(int fd, const std::string& path, uint64_t offset, std::span<std::byte> out) {
  uint64_t done = 0;
  while (done < out.size()) {
    const ssize_t count = Uninterrupted([&] {
      return pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    });
    if (count < 0) {
      const int error_number = errno;
      return IOError({path, offset}, "cannot read {} bytes: {}", out.size(),
                     std::generic_category().message(error_number));
    }
    if (count == 0) {
      return Corrupt({path, offset}, "{} bytes expected here, the file ends after {} of them",
                     out.size(), done);
    }
    done += static_cast<uint64_t>(count);
  }
  return arrow::Status::OK();
}

arrow::Status WriteAll(int fd, const std::string& path, std::span<const std::byte> bytes) {
  // One call for very many bytes makes the kernel look for its largest free blocks of memory, which
  // are the coldest: a manifest of 83 MB took up to eight times as long.
  constexpr size_t kMaxCallBytes = size_t{1} << 20;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kMaxCallBytes);
    const ssize_t count = Uninterrupted([&] { return write(fd, bytes.data(), size); });
    if (count < 0) return PosixError(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return arrow::Status::OK();
}

// Ext4 puts off the choice of blocks and takes account of that with every page of memory, 40 % of
// what writing costs; in memory there is nothing to choose.
bool SetAside(int fd, uint64_t offset, uint64_t size) {
  struct statfs system = {};
  if (fstatfs(fd, &system) != 0 || system.f_type != EXT4_SUPER_MAGIC) return false;
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(size)) ==
         0;
}

arrow::Status MakeFolders(const std::string& folder) {
  int error = MakeFolder(folder);
  if (error == ENOENT && FolderOf(folder) != folder) {
    ARROW_RETURN_NOT_OK(MakeFolders(FolderOf(folder)));
    // Once: below a dangling link, or in /proc, a folder does not come to be for all its parents.
    error = MakeFolder(folder);
  }
  return error == 0 ? arrow::Status::OK() : PosixError(folder, "make the folder", error);
}

arrow::Status SyncFile(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Descriptor file, OpenFile(path, O_RDONLY, "open to sync"));
  if (Uninterrupted([&] { return fsync(file.fd()); }) != 0) return PosixError(path, "sync", errno);
  return arrow::Status::OK();
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace glaive::io
