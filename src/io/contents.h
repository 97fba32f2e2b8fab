#pragma once

#include <memory>
#include <string>

#include "io/object_store.h"

namespace glaive::io {

// What a person would see at `path`: "a Parquet file", "a folder with 2 entries (a.csv, b)". Empty
// where nothing is, or where it cannot be told. For messages: looks, and reads a few bytes at most.
std::string DescribeContents(const std::shared_ptr<ObjectStore>& store, const std::string& path);

}  // namespace glaive::io
