#pragma once

#include <cstdint>
#include <optional>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/block.h"
#include "encoding/codec/rle.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Runs of a 2.3 file whose values and lengths are blocks of their own: flat, compressed, or, one of
// the two, bit-packed. How many runs there are is told by the size of the one that is not.
class RleChildren {
 public:
  static arrow::Result<RleChildren> Validate(const wire::RleEncoding& rle, FileVersion version,
                                             Location where);

  uint64_t value_bits() const { return values_.value_bits(); }

  // The runs of a chunk; both scratches hold what they borrow.
  arrow::Result<RlePayload> OpenMiniBlock(Bytes values, Bytes run_lengths, uint64_t num_values,
                                          ScratchBytes& of_values, ScratchBytes& of_lengths,
                                          Location where) const;

 private:
  RleChildren(RleDescription runs, FixedBlockDescription values, FixedBlockDescription lengths)
      : runs_(runs), values_(std::move(values)), lengths_(std::move(lengths)) {}

  RleDescription runs_;
  FixedBlockDescription values_;
  FixedBlockDescription lengths_;
};

}  // namespace glaive::encoding
