#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::encoding {

// Values as an array of a dictionary type, each distinct one once in the order of its first
// appearance. The format has no dictionaries of its own beyond a page, so this is how a column of
// such a type comes back. Corrupt, naming `column`, when the type's indices cannot count the
// values.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ToDictionary(
    const arrow::ArrayData& values, const std::shared_ptr<arrow::DataType>& type,
    std::string_view column);

}  // namespace glaive::encoding
