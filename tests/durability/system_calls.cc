#include "durability/system_calls.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <utility>

namespace glaive::durability {
namespace {

struct Log {
  std::mutex mutex;
  std::string root;  // empty: nothing is recorded
  std::vector<Call> calls;
  BeforeLink before_link;
  std::atomic<size_t> most_written = 0;  // 0: no limit
  std::atomic<bool> interrupts = false;
};

Log& TheLog() {
  static auto* const log = new Log;
  return *log;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string PathOf(int fd) {
  std::array<char, 4096> path;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size < 0 ? "" : std::string(path.data(), static_cast<size_t>(size));
}

void Record(CallKind kind, std::string path, std::string to = {}) {
  Log& log = TheLog();
  const std::lock_guard lock(log.mutex);
  if (log.root.empty() || !path.starts_with(log.root)) return;
  log.calls.push_back({kind, std::move(path), std::move(to)});
}

bool IsRecording() {
  Log& log = TheLog();
  const std::lock_guard lock(log.mutex);
  return !log.root.empty();
}

}  // namespace

Recording::Recording(std::string root) {
  const std::lock_guard lock(TheLog().mutex);
  TheLog().root = std::move(root);
  TheLog().calls.clear();
}

Recording::~Recording() {
  const std::lock_guard lock(TheLog().mutex);
  TheLog().root.clear();
}

std::vector<Call> Recording::Calls() const {
  const std::lock_guard lock(TheLog().mutex);
  return TheLog().calls;
}

void SetMostWritten(size_t bytes) {
  TheLog().most_written = bytes;
  TheLog().interrupts = bytes != 0;
}

void SetBeforeLink(BeforeLink before) {
  const std::lock_guard lock(TheLog().mutex);
  TheLog().before_link = std::move(before);
}

}  // namespace glaive::durability

namespace durability = glaive::durability;
using durability::CallKind;

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const next = durability::Next<ssize_t(int, const void*, size_t)>("write");
  if (durability::IsRecording()) durability::Record(CallKind::kWrite, durability::PathOf(fd));
  durability::Log& log = durability::TheLog();
  if (log.interrupts.exchange(false)) {
    errno = EINTR;
    return -1;
  }
  if (const size_t most = log.most_written) size = std::min(size, most);
  return next(fd, bytes, size);
}

int fsync(int fd) {
  static auto* const next = durability::Next<int(int)>("fsync");
  const int result = next(fd);
  if (result == 0) durability::Record(CallKind::kSync, durability::PathOf(fd));
  return result;
}

int fdatasync(int fd) {
  static auto* const next = durability::Next<int(int)>("fdatasync");
  const int result = next(fd);
  if (result == 0) durability::Record(CallKind::kSync, durability::PathOf(fd));
  return result;
}

int link(const char* from, const char* to) noexcept {
  static auto* const next = durability::Next<int(const char*, const char*)>("link");
  durability::BeforeLink before;
  {
    const std::lock_guard lock(durability::TheLog().mutex);
    before = durability::TheLog().before_link;
  }
  if (before) before(from, to);
  const int result = next(from, to);
  if (result == 0) durability::Record(CallKind::kLink, from, to);
  return result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = durability::Next<int(const char*, const char*)>("rename");
  const int result = next(from, to);
  if (result == 0) durability::Record(CallKind::kRename, from, to);
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = durability::Next<int(const char*, mode_t)>("mkdir");
  const int result = next(path, mode);
  if (result == 0) durability::Record(CallKind::kMakeFolder, path);
  return result;
}
}
