#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/bitpacked.h"
#include "encoding/codec/flat.h"
#include "encoding/codec/general.h"
#include "encoding/codec/rle.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Block payloads of fixed-width values, to be read: levels and the items of dictionaries, whose
// number is known from elsewhere. The payload may be wrapped in a general compression.
namespace glaive::encoding {

class FixedBlockDescription {
 public:
  static arrow::Result<FixedBlockDescription> Validate(const wire::CompressiveEncoding& encoding,
                                                       FileVersion version, Location where);

  uint64_t value_bits() const { return value_bits_; }
  bool is_general() const { return general_.has_value(); }

  // How many values a payload has, if its size tells: that of flat ones. Corrupt for more than
  // `most`, so that what is damaged allocates nothing.
  arrow::Result<std::optional<uint64_t>> NumValues(Bytes payload, uint64_t most,
                                                   Location where) const;

  // The values, back to back; allocated once it is known that the payload holds so many.
  arrow::Result<std::vector<std::byte>> Decode(Bytes payload, uint64_t num_values,
                                               Location where) const;

  // Calls visit(value, length) for each run, in order, if the payload is runs; false if not.
  arrow::Result<bool> VisitRuns(Bytes payload, uint64_t num_values, Location where,
                                const std::function<void(uint64_t, uint64_t)>& visit) const;

  // The same into room for them that is there, aligned for words of their width.
  arrow::Status DecodeInto(Bytes payload, uint64_t num_values, std::byte* out,
                           Location where) const;

 private:
  using Codec = std::variant<FlatDescription, InlineBitpackingDescription,
                             OutOfLineBitpackingDescription, RleDescription>;
  using Payload = std::variant<Bytes, BitpackedPayload, RlePayload>;

  FixedBlockDescription(std::optional<GeneralDescription> general, Codec codec, uint64_t value_bits)
      : general_(general), codec_(codec), value_bits_(value_bits) {}

  arrow::Result<Payload> Open(Bytes payload, uint64_t num_values, ScratchBytes& scratch,
                              Location where) const;
  uint64_t MostPayload(uint64_t num_values) const noexcept;
  void Write(const Payload& payload, uint64_t num_values, std::byte* out) const noexcept;

  std::optional<GeneralDescription> general_;
  Codec codec_;
  uint64_t value_bits_;
};

// The `rle` message as its description: both children are flat, as 2.1 and 2.2 have it.
arrow::Result<RleDescription> ValidateRle(const wire::RleEncoding& rle, FileVersion version,
                                          Location where);
uint64_t ValueBitsOf(const wire::RleEncoding& rle);

// `general` taken off an encoding: what wraps it, if anything does, and what is inside.
struct Unwrapped {
  std::optional<GeneralDescription> general;
  const wire::CompressiveEncoding* inner = nullptr;
};
arrow::Result<Unwrapped> UnwrapGeneral(const wire::CompressiveEncoding& encoding, Location where);

// The name of an encoding, for errors.
std::string_view NameOf(const wire::CompressiveEncoding& encoding);

}  // namespace glaive::encoding
