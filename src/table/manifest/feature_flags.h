#pragma once

#include <string_view>

#include <arrow/status.h>

#include "table/manifest/manifest.h"

// The two words of bits by which a manifest says what a reader, and a writer, must understand.
namespace glaive::table {

// Whether this build may read the version, or commit on it. Unsupported names each bit that it does
// not understand; Corrupt one that contradicts what else the manifest says.
arrow::Status CheckReadable(const Manifest& manifest);
arrow::Status CheckWritable(const Manifest& manifest);

// Sets both words by what `next` holds. They are never copied, but for the bits that stay for good
// once a table has them.
arrow::Status DeriveFlags(const Manifest& previous, Manifest& next);

}  // namespace glaive::table
