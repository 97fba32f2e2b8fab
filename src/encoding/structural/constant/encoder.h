#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "encoding/structural/page/encoded_page.h"
#include "encoding/structural/page/rows.h"

namespace glaive::encoding {

// The most bytes of a value that is in the description.
inline constexpr size_t kMaxInlineValue = 32;

// A page whose visible slots are all null. REQUIRES: no slot has a value
arrow::Result<EncodedPage> EncodeNullPage(const PageRows& rows);

// A page whose values are all the same: `value` as Arrow has its bytes. `offset_bits` is 0 for
// fixed-width types (booleans: one byte), else that of the type's offsets.
arrow::Result<EncodedPage> EncodeConstantPage(const PageRows& rows, const std::string& value,
                                              unsigned offset_bits);

}  // namespace glaive::encoding
