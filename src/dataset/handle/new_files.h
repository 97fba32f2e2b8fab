#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/object_store.h"

namespace glaive::dataset {

// Files that nothing refers to yet. They are removed with this object, unless it is told that they
// stay: a failed or interrupted verb leaves none behind.
class NewFiles {
 public:
  explicit NewFiles(std::shared_ptr<io::ObjectStore> store) : store_(std::move(store)) {}
  NewFiles(NewFiles&& other) noexcept
      : store_(std::move(other.store_)), paths_(std::exchange(other.paths_, {})) {}
  NewFiles& operator=(NewFiles&&) = delete;
  ~NewFiles() {
    // What cannot be removed is left to a later clean-up; there is nobody to tell.
    for (const std::string& path : paths_) static_cast<void>(store_->Delete(path));
  }

  void Add(std::string path) { paths_.push_back(std::move(path)); }
  // Takes over the other's files.
  void Take(NewFiles& other) {
    for (std::string& path : other.paths_) paths_.push_back(std::move(path));
    other.paths_.clear();
  }
  const std::vector<std::string>& paths() const { return paths_; }

  // They are referred to now, or it is not known whether they are.
  void Keep() { paths_.clear(); }

 private:
  std::shared_ptr<io::ObjectStore> store_;
  std::vector<std::string> paths_;
};

}  // namespace glaive::dataset
