#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// A page whose values are all the same, or all null. The value, if there is one, is in the layout
// or in the first buffer; levels, if there are any, in the last two: repetition, then definition.
arrow::Result<std::shared_ptr<PageDecoder>> MakeConstantPage(const wire::ConstantLayout& layout,
                                                             const PageSource& source,
                                                             const LeafPath& path);

}  // namespace glaive::encoding
