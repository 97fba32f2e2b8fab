#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/error.h"

// The string by which a Field message names its type.
namespace glaive::wire {

inline constexpr Location kSchema = {"(schema)"};  // where errors say that a bad type stands

// Whether the fields below one of this type have Field messages of their own.
bool IsNested(std::string_view logical_type);

// The type that a string names which is not nested. Corrupt if it names none.
arrow::Result<std::shared_ptr<arrow::DataType>> UnnestedTypeOf(std::string_view logical_type);

// n of "fixed_size_list:<item>:n", which is positive.
arrow::Result<int32_t> ListSizeOf(std::string_view logical_type);

// A decimal number and nothing else.
std::optional<int32_t> NumberOf(std::string_view text);

}  // namespace glaive::wire
