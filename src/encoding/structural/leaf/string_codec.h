#pragma once

#include <optional>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/fsst.h"
#include "encoding/codec/variable.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// How strings are stored: as they are, or each as fsst codes.
struct StringCodec {
  static arrow::Result<StringCodec> Validate(const wire::CompressiveEncoding& encoding,
                                             Location where);

  VariableDescription layout;
  std::optional<FsstTable> fsst;  // absent, too, where the table says that nothing is compressed
};

}  // namespace glaive::encoding
