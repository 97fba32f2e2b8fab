#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// A page of wide values, one entry after the other: a control word with its levels, then the value.
// Rows are found by arithmetic where all entries are as long, else by an index of where each row
// starts, of which only the needed entries are read.
arrow::Result<std::shared_ptr<PageDecoder>> MakeFullZipPage(const wire::FullZipLayout& layout,
                                                            const PageSource& source,
                                                            const LeafPath& path);

}  // namespace glaive::encoding
