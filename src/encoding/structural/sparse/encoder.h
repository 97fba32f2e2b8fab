#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>

#include "encoding/structural/page/encoded_page.h"
#include "encoding/structural/page/rows.h"

namespace glaive::encoding {

// A page of 2.3 whose slots that are not null all have one value, or of which there are none:
// positions of nulls and of lists with items, and nothing else.
// REQUIRES: the scalar is of fixed width and has 1 to 32 bytes, or all slots of the leaf are null
arrow::Result<EncodedPage> EncodeSparsePage(const PageRows& rows,
                                            const std::optional<std::string>& scalar);

}  // namespace glaive::encoding
