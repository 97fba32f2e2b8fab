#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/array/node.h"
#include "wire/encodings_v2_0.h"

namespace glaive::encoding {

// The distinct values of a page, which its slots number. In a column of a dictionary type the
// numbers count from 0, and a null is an item that is null. Writers store strings of few kinds so
// too: then they count from 1, and 0 is null.
arrow::Result<std::unique_ptr<const ArrayNode>> OpenDictionary(
    const wire::DictionaryArray& dictionary, const NodePlace& place, const ArraySource& source);

}  // namespace glaive::encoding
