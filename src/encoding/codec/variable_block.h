#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <arrow/buffer.h>

namespace glaive::encoding {

// Values of a dictionary as one payload. Those of their own length:
//
//   bits per offset, 32 or 64; position of the bytes in the payload; n + 1 offsets from 0; bytes
//
// where every number has the width of an offset.
std::shared_ptr<arrow::Buffer> EncodeVariableBlock(std::span<const std::string_view> values,
                                                   unsigned offset_bits);

// Values of one width, back to back.
std::shared_ptr<arrow::Buffer> EncodeFlatBlock(std::span<const std::string_view> values);

}  // namespace glaive::encoding
