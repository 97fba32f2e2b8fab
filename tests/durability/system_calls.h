#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// The system calls of this process that change files, in their order. The program defines write,
// fsync, fdatasync, link, rename and mkdir itself, and each calls the next one of its name.
namespace glaive::durability {

enum class CallKind { kWrite, kSync, kLink, kRename, kMakeFolder };

struct Call {
  CallKind kind;
  std::string path;
  std::string to = {};  // kLink, kRename
};

// Records what succeeds below `root` for as long as it lives. One at a time.
class Recording {
 public:
  explicit Recording(std::string root);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  std::vector<Call> Calls() const;
};

// Runs right before each link, until it is replaced by an empty one.
// From now on a write takes at most so many bytes, and the next one is interrupted by a signal. 0:
// no longer.
void SetMostWritten(size_t bytes);

using BeforeLink = std::function<void(const std::string& from, const std::string& to)>;
void SetBeforeLink(BeforeLink before);

}  // namespace glaive::durability
