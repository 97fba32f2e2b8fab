#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {

// A page of sparse structure (2.3): its values are those of the leaf's slots, as mini-block chunks,
// or of the slots that are not null, as full-zip entries without levels; or one value, or none, or
// indices of all slots and the items that these number. Buffers: the values', then those of the
// structure.
arrow::Result<std::shared_ptr<PageDecoder>> MakeSparsePage(const wire::PlanarLayout& layout,
                                                           const PageSource& source,
                                                           const LeafPath& path);

}  // namespace glaive::encoding
