#pragma once

#include <string>

namespace glaive::dataset {

// A new name for a data file, relative to data/: a random UUID of version 4, its first three bytes
// as binary digits, which spreads the files over the key ranges of object stores.
std::string NewDataFileName();

}  // namespace glaive::dataset
