#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/object_store.h"

namespace glaive::table {

// A table's place: the store and the path of its root in it.
struct TableLocation {
  std::shared_ptr<io::ObjectStore> store;
  std::string root;  // without a trailing '/'
  std::string uri;   // for people

  std::string Path(std::string_view relative) const;  // root + "/" + relative
};

}  // namespace glaive::table
