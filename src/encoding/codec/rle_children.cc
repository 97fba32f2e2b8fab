#include "encoding/codec/rle_children.h"

#include <utility>

namespace glaive::encoding {

arrow::Result<RleChildren> RleChildren::Validate(const wire::RleEncoding& rle, FileVersion version,
                                                 Location where) {
  if (version < FileVersion::k2_3) {
    return Corrupt(where, "rle of {} and {} children before version 2.3", NameOf(*rle.values),
                   NameOf(*rle.run_lengths));
  }
  for (const auto& child : {rle.values, rle.run_lengths}) {
    ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(*child, where));
    const auto& kind = unwrapped.inner->kind;
    if (!std::holds_alternative<wire::FlatEncoding>(kind) &&
        !std::holds_alternative<wire::OutOfLineBitpackingEncoding>(kind)) {
      return Unsupported(where, "rle of {} children", NameOf(*child));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto values, FixedBlockDescription::Validate(*rle.values, version, where));
  ARROW_ASSIGN_OR_RAISE(auto lengths,
                        FixedBlockDescription::Validate(*rle.run_lengths, version, where));
  ARROW_ASSIGN_OR_RAISE(
      const auto runs,
      RleDescription::Validate(values.value_bits(), lengths.value_bits(), version, where));
  return RleChildren(runs, std::move(values), std::move(lengths));
}

arrow::Result<RlePayload> RleChildren::OpenMiniBlock(Bytes values, Bytes run_lengths,
                                                     uint64_t num_values, ScratchBytes& of_values,
                                                     ScratchBytes& of_lengths,
                                                     Location where) const {
  ARROW_ASSIGN_OR_RAISE(auto num_runs, values_.NumValues(values, num_values, where));
  if (!num_runs) {
    ARROW_ASSIGN_OR_RAISE(num_runs, lengths_.NumValues(run_lengths, num_values, where));
  }
  if (!num_runs) return Unsupported(where, "runs whose number is not told");
  const auto decode = [&](const FixedBlockDescription& block, Bytes payload, ScratchBytes& out) {
    out.resize(PackedBytes(*num_runs, block.value_bits()));
    return block.DecodeInto(payload, *num_runs, out.data(), where);
  };
  ARROW_RETURN_NOT_OK(decode(values_, values, of_values));
  ARROW_RETURN_NOT_OK(decode(lengths_, run_lengths, of_lengths));
  return runs_.OpenMiniBlock(of_values, of_lengths, num_values, where);
}

}  // namespace glaive::encoding
