#pragma once

#include <memory>
#include <span>

#include <arrow/result.h>

#include "encoding/array/source.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"

namespace glaive::encoding {

// A page of the values of a leaf in a 2.0 file. What is read of it goes to the leaf's own layer and
// its values: the layers above are for the columns of lists.
arrow::Result<std::shared_ptr<PageDecoder>> OpenArrayPage(std::span<const std::byte> encoding,
                                                          const ArraySource& source,
                                                          const LeafPath& path);

}  // namespace glaive::encoding
