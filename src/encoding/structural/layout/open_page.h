#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"

namespace glaive::encoding {

// The decoder of a page, by the layout that its description names. Errors: Corrupt for a
// description that contradicts itself, the leaf or the file; Unsupported for other layouts.
arrow::Result<std::shared_ptr<PageDecoder>> OpenPage(const PageSource& source,
                                                     const LeafPath& path);

}  // namespace glaive::encoding
