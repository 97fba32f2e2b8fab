#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "encoding/structural/page/encoded_page.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// How the bytes of strings are compressed, where the field's metadata asks for it.
struct StringCompression {
  wire::CompressionScheme scheme = wire::CompressionScheme::kUnspecified;
  std::optional<int32_t> level;
};

struct ArrayEncodeOptions {
  StringCompression compression;
};

// Pages of a 2.0 file, by the choices that pylance makes. The arrays begin at the first slot of
// their buffers, their offsets at 0, and nothing lies behind nulls of strings or lists.

// The slots of a leaf: a primitive, strings, a fixed-size list of primitives, nulls.
arrow::Result<EncodedPage> EncodeArrayLeaf(const arrow::ArrayData& values,
                                           const ArrayEncodeOptions& options);

// The offsets of lists, whose items are for the column below.
arrow::Result<EncodedPage> EncodeArrayLists(const arrow::ArrayData& lists);

// What a struct has for a column: nothing but how many there are.
EncodedPage ArrayStructHeader(uint64_t num_slots);

}  // namespace glaive::encoding
