#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>

// POSIX calls as the local store needs them: interrupted ones go on, errors become typed ones that
// name the path.
namespace glaive::io {

// An open descriptor, closed with this. Negative: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Close();  // errno, or 0

 private:
  int fd_;
};

// "cannot <action>: No such file or directory", of the kind that the errno means.
arrow::Status PosixError(std::string_view path, std::string_view action, int error_number);

// open(2), close-on-exec. Where descriptors have run out, those of idle readers are closed first.
arrow::Result<Descriptor> OpenFile(const std::string& path, int flags, std::string_view action);

// Fills `out` from byte `offset` on. A file that ends before is Corrupt, saying where it ends.
arrow::Status ReadAt(int fd, const std::string& path, uint64_t offset, std::span<std::byte> out);

arrow::Status WriteAll(int fd, const std::string& path, std::span<const std::byte> bytes);

// Sets blocks of the disk aside for bytes that are about to be written behind the end of a file,
// where this makes writing them cheaper. False where it does not, or there is no room.
bool SetAside(int fd, uint64_t offset, uint64_t size);

// Makes a folder and those above it. Nothing to do where they are there.
arrow::Status MakeFolders(const std::string& folder);

// Puts the bytes of a file on stable storage.
arrow::Status SyncFile(const std::string& path);

std::string FolderOf(const std::string& path);

}  // namespace glaive::io
