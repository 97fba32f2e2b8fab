#include "io/local_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/error.h"
#include "core/per_process.h"
#include "core/random.h"
#include "io/posix.h"
#include "io/request_counter.h"
#include "io/synced_folders.h"

namespace glaive::io {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr size_t kFirstBufferBytes = size_t{4} << 10;  // grows from there; small files are many
// A file that becomes larger than this has room set aside for as much again, up to the other.
constexpr uint64_t kMinSetAside = uint64_t{1} << 20;
constexpr uint64_t kMaxSetAside = uint64_t{16} << 20;

// Unique among processes and machines that write to one folder.
std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> counter = 0;
  return fmt::format("{}/.tmp_{:x}_{:x}_{:016x}", FolderOf(path), getpid(),
                     counter.fetch_add(1, std::memory_order_relaxed), Random64());
}

// A file that is removed with this unless it was given its final name.
class TemporaryFile {
 public:
  static arrow::Result<TemporaryFile> Create(std::string name) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL;
    auto file = OpenFile(name, kFlags, "create");
    if (!file.ok() && KindOf(file.status()) == ErrorKind::kFileNotFound) {
      ARROW_RETURN_NOT_OK(MakeFolders(FolderOf(name)));
      file = OpenFile(name, kFlags, "create");
    }
    ARROW_RETURN_NOT_OK(file.status());
    return TemporaryFile(std::move(name), std::move(file).ValueUnsafe());
  }

  TemporaryFile(TemporaryFile&& other) noexcept
      : name_(std::exchange(other.name_, {})),
        file_(std::move(other.file_)),
        fork_generation_(other.fork_generation_) {}
  ~TemporaryFile() {
    // A forked child inherits this object, but the file is its parent's.
    if (!name_.empty() && fork_generation_ == ForkGeneration()) unlink(name_.c_str());
  }

  const std::string& name() const { return name_; }
  int fd() const { return file_.fd(); }

  arrow::Status Close() {
    if (const int error = file_.Close()) return PosixError(name_, "close", error);
    return arrow::Status::OK();
  }

  // Which may be the name it was made with.
  arrow::Status RenameTo(const std::string& path) {
    if (name_ != path && rename(name_.c_str(), path.c_str()) != 0)
      return PosixError(path, "rename to", errno);
    name_.clear();
    return arrow::Status::OK();
  }

  // 0 or the errno. The answer to a link may be lost on the way from a network file system, and
  // trying again then finds our own. A count of links would not tell: others link files as well.
  int LinkTo(const std::string& path) {
    if (link(name_.c_str(), path.c_str()) == 0) return 0;
    const int error = errno;
    struct stat ours = {};
    struct stat there = {};
    const bool is_ours = stat(name_.c_str(), &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
                         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
    return is_ours ? 0 : error;
  }

  // 0 or the errno.
  int RenameUnlessThere(const std::string& path) {
    if (renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
      return errno;
    }
    name_.clear();
    return 0;
  }

 private:
  TemporaryFile(std::string name, Descriptor file)
      : name_(std::move(name)), file_(std::move(file)) {}

  std::string name_;
  Descriptor file_;
  uint64_t fork_generation_ = ForkGeneration();
};

class LocalWriter final : public ObjectWriter {
 public:
  LocalWriter(std::string path, TemporaryFile file)
      : path_(std::move(path)), file_(std::move(file)) {}

  arrow::Status Write(std::span<const std::byte> bytes) override {
    position_ += bytes.size();
    if (bytes.size() >= kBufferBytes) {
      ARROW_RETURN_NOT_OK(Flush());
      return WriteOut(bytes);
    }
    if (buffer_.capacity() == 0) buffer_.reserve(kFirstBufferBytes);
    if (bytes.size() > kBufferBytes - buffer_.size()) ARROW_RETURN_NOT_OK(Flush());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return arrow::Status::OK();
  }

  uint64_t position() const override { return position_; }

  arrow::Status Finish() override {
    RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kPut);
    request.AddBytesWritten(position_);
    ARROW_RETURN_NOT_OK(Flush());
    if (end_of_room_ > written_ && ftruncate(file_.fd(), static_cast<off_t>(written_)) != 0) {
      return PosixError(path_, "write", errno);
    }
    ARROW_RETURN_NOT_OK(file_.Close());
    return file_.RenameTo(path_);
  }

 private:
  arrow::Status Flush() {
    const arrow::Status status = WriteOut(buffer_);
    buffer_.clear();
    return status;
  }

  arrow::Status WriteOut(std::span<const std::byte> bytes) {
    const uint64_t end = written_ + bytes.size();
    if (sets_aside_ && end > kMinSetAside && end > end_of_room_) {
      const uint64_t from = std::max(written_, end_of_room_);
      const uint64_t more = std::clamp(from, kMinSetAside, kMaxSetAside);
      const uint64_t room_to = std::max(from + more, end);
      sets_aside_ = SetAside(file_.fd(), from, room_to - from);
      if (sets_aside_) end_of_room_ = room_to;
    }
    ARROW_RETURN_NOT_OK(WriteAll(file_.fd(), path_, bytes));
    written_ = end;
    return arrow::Status::OK();
  }

  std::string path_;
  TemporaryFile file_;
  std::vector<std::byte> buffer_;
  uint64_t position_ = 0;
  uint64_t written_ = 0;      // without what is in the buffer
  uint64_t end_of_room_ = 0;  // that was set aside
  bool sets_aside_ = true;    // as long as it helps
};

std::span<const std::byte> AsBytes(const arrow::Buffer& buffer) {
  return std::as_bytes(std::span(buffer.data(), static_cast<size_t>(buffer.size())));
}

bool MeansNoSuchCall(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL ||
         error == EMLINK;
}

// For file systems that can neither link nor rename without replacing: others may see a part of the
// object, but still only one caller makes it.
arrow::Status WriteInPlace(const std::string& path,
                           std::span<const std::shared_ptr<arrow::Buffer>> parts, bool sync) {
  ARROW_ASSIGN_OR_RAISE(Descriptor file, OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, "create"));
  const auto write_parts = [&]() -> arrow::Status {
    for (const auto& part : parts) ARROW_RETURN_NOT_OK(WriteAll(file.fd(), path, AsBytes(*part)));
    if (sync && fsync(file.fd()) != 0) return PosixError(path, "sync", errno);
    if (const int error = file.Close()) return PosixError(path, "close", error);
    return arrow::Status::OK();
  };
  const arrow::Status status = write_parts();
  if (!status.ok()) unlink(path.c_str());
  return status;
}

}  // namespace

arrow::Result<std::unique_ptr<ObjectWriter>> OpenLocalWriter(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(TemporaryFile file, TemporaryFile::Create(TemporaryName(path)));
  return std::make_unique<LocalWriter>(path, std::move(file));
}

arrow::Result<std::unique_ptr<ObjectWriter>> OpenNewLocalFile(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(TemporaryFile file, TemporaryFile::Create(path));
  return std::make_unique<LocalWriter>(path, std::move(file));
}

arrow::Status PutLocalSynced(const std::string& path, std::span<const std::byte> bytes) {
  RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kPut);
  request.AddBytesWritten(bytes.size());
  ARROW_ASSIGN_OR_RAISE(TemporaryFile file, TemporaryFile::Create(TemporaryName(path)));
  ARROW_RETURN_NOT_OK(WriteAll(file.fd(), file.name(), bytes));
  if (fsync(file.fd()) != 0) return PosixError(path, "sync", errno);
  ARROW_RETURN_NOT_OK(file.Close());
  ARROW_RETURN_NOT_OK(file.RenameTo(path));
  return SyncFolderAndName(FolderOf(path));
}

arrow::Status PutLocalIfAbsent(const std::string& path,
                               std::span<const std::shared_ptr<arrow::Buffer>> parts, bool sync) {
  RequestCounter::InFlight request(RequestCounter::OfProcess(), RequestKind::kPut);
  ARROW_ASSIGN_OR_RAISE(TemporaryFile file, TemporaryFile::Create(TemporaryName(path)));
  uint64_t num_bytes = 0;
  for (const auto& part : parts) num_bytes += static_cast<uint64_t>(part->size());
  if (num_bytes > kMinSetAside) SetAside(file.fd(), 0, num_bytes);
  for (const auto& part : parts) {
    ARROW_RETURN_NOT_OK(WriteAll(file.fd(), file.name(), AsBytes(*part)));
    request.AddBytesWritten(static_cast<uint64_t>(part->size()));
  }
  if (sync && fsync(file.fd()) != 0) return PosixError(path, "sync", errno);
  ARROW_RETURN_NOT_OK(file.Close());
  int error = file.LinkTo(path);
  if (MeansNoSuchCall(error)) error = file.RenameUnlessThere(path);
  if (MeansNoSuchCall(error)) {
    ARROW_RETURN_NOT_OK(WriteInPlace(path, parts, sync));
  } else if (error != 0) {
    return PosixError(path, "create", error);
  }
  if (!sync) return arrow::Status::OK();
  return SyncFolderAndName(FolderOf(path));
}

}  // namespace glaive::io
