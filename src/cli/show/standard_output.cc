#include "cli/show/standard_output.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "cli/show/terminal.h"

namespace glaive::cli {
namespace {

constexpr int kPollMillis = 100;

// Waits until a pipe takes PIPE_BUF bytes at once.
arrow::Status WaitForReader() {
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    pollfd poll_for = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    const int ready = poll(&poll_for, 1, kPollMillis);
    if (ready > 0) return arrow::Status::OK();
    if (ready < 0 && errno != EINTR) {
      return arrow::Status::IOError("cannot wait for standard output: ", std::strerror(errno));
    }
  }
}

}  // namespace

StandardOutput::StandardOutput() {
  struct stat status = {};
  is_pipe_ = fstat(STDOUT_FILENO, &status) != 0 || S_ISFIFO(status.st_mode);
}

arrow::Status StandardOutput::Write(const void* data, int64_t num_bytes) {
  const auto* bytes = static_cast<const char*>(data);
  while (num_bytes > 0) {
    if (is_pipe_) ARROW_RETURN_NOT_OK(WaitForReader());
    const int64_t size = is_pipe_ ? std::min<int64_t>(num_bytes, PIPE_BUF) : num_bytes;
    const ssize_t written = ::write(STDOUT_FILENO, bytes, static_cast<size_t>(size));
    if (written < 0 && errno != EINTR) {
      return arrow::Status::IOError("cannot write to standard output: ", std::strerror(errno));
    }
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    const int64_t done = std::max<int64_t>(written, 0);
    bytes += done;
    num_bytes -= done;
    position_ += done;
  }
  return arrow::Status::OK();
}

arrow::Status StandardOutput::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

}  // namespace glaive::cli
