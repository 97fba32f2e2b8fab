#pragma once

#include <memory>

#include "io/object_store.h"

namespace glaive::io {

// A store of its own, apart from the one that memory:// URIs share. For tests.
std::shared_ptr<ObjectStore> MakeMemoryStore();

}  // namespace glaive::io
