#include "encoding/codec/block.h"

#include <algorithm>
#include <cstring>

namespace glaive::encoding {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// Width of a flat encoding; 0 for any other.
uint64_t FlatBits(const wire::CompressiveEncoding& encoding) {
  const auto* flat = std::get_if<wire::FlatEncoding>(&encoding.kind);
  return flat == nullptr ? 0 : flat->bits_per_value;
}

}  // namespace

std::string_view NameOf(const wire::CompressiveEncoding& encoding) {
  constexpr std::string_view kNames[] = {"unknown",
                                         "flat",
                                         "variable",
                                         "constant",
                                         "out-of-line bit-packing",
                                         "inline bit-packing",
                                         "fsst",
                                         "dictionary",
                                         "rle",
                                         "byte-stream split",
                                         "general",
                                         "fixed-size list",
                                         "packed struct",
                                         "range",
                                         "delta"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(encoding.kind)>);
  return kNames[encoding.kind.index()];
}

arrow::Result<Unwrapped> UnwrapGeneral(const wire::CompressiveEncoding& encoding, Location where) {
  const auto* general = std::get_if<wire::GeneralEncoding>(&encoding.kind);
  if (general == nullptr) return Unwrapped{std::nullopt, &encoding};
  ARROW_ASSIGN_OR_RAISE(auto description, GeneralDescription::Validate(general->scheme, where));
  return Unwrapped{description, general->values.get()};
}

uint64_t ValueBitsOf(const wire::RleEncoding& rle) { return FlatBits(*rle.values); }

arrow::Result<RleDescription> ValidateRle(const wire::RleEncoding& rle, FileVersion version,
                                          Location where) {
  for (const auto& child : {rle.values, rle.run_lengths}) {
    if (FlatBits(*child) == 0) {
      return Unsupported(where, "rle of {} children", NameOf(*child));
    }
  }
  return RleDescription::Validate(ValueBitsOf(rle), FlatBits(*rle.run_lengths), version, where);
}

arrow::Result<FixedBlockDescription> FixedBlockDescription::Validate(
    const wire::CompressiveEncoding& encoding, FileVersion version, Location where) {
  ARROW_ASSIGN_OR_RAISE(const Unwrapped unwrapped, UnwrapGeneral(encoding, where));
  const wire::CompressiveEncoding& inner = *unwrapped.inner;
  const bool is_rle = std::holds_alternative<wire::RleEncoding>(inner.kind);
  if (version < FileVersion::k2_2 && (unwrapped.general || is_rle)) {
    return Corrupt(where, "a {} block before version 2.2", NameOf(encoding));
  }
  const auto described = [&](auto description, uint64_t bits) {
    return FixedBlockDescription(unwrapped.general, Codec(description), bits);
  };
  if (const auto* flat = std::get_if<wire::FlatEncoding>(&inner.kind)) {
    ARROW_ASSIGN_OR_RAISE(const auto description, FlatDescription::Validate(*flat, where));
    return described(description, description.value_bits());
  }
  if (const auto* packed = std::get_if<wire::InlineBitpackingEncoding>(&inner.kind)) {
    ARROW_ASSIGN_OR_RAISE(const auto description,
                          InlineBitpackingDescription::Validate(*packed, where));
    return described(description, description.value_bits());
  }
  if (const auto* packed = std::get_if<wire::OutOfLineBitpackingEncoding>(&inner.kind)) {
    ARROW_ASSIGN_OR_RAISE(const auto description,
                          OutOfLineBitpackingDescription::Validate(*packed, where));
    return described(description, description.value_bits());
  }
  if (const auto* rle = std::get_if<wire::RleEncoding>(&inner.kind)) {
    ARROW_ASSIGN_OR_RAISE(const auto description, ValidateRle(*rle, version, where));
    return described(description, ValueBitsOf(*rle));
  }
  return Unsupported(where, "{} blocks of fixed-width values", NameOf(inner));
}

// The most that a payload of so many values takes: each as wide as it is and a run of its own, as
// long as a length can say, with a width or a size in front and a block of 1024 filled up.
uint64_t FixedBlockDescription::MostPayload(uint64_t num_values) const noexcept {
  constexpr uint64_t kMostLengthBits = 32;
  constexpr uint64_t kBlock = 1024;
  const uint64_t values = std::min(num_values, UINT64_MAX - kBlock) + kBlock;
  const uint64_t bytes = PackedBytes(values, value_bits_ + kMostLengthBits);
  return std::min(bytes, UINT64_MAX - sizeof(uint64_t)) + sizeof(uint64_t);
}

arrow::Result<std::optional<uint64_t>> FixedBlockDescription::NumValues(Bytes payload,
                                                                        uint64_t most,
                                                                        Location where) const {
  if (!std::holds_alternative<FlatDescription>(codec_)) return std::nullopt;
  uint64_t size = payload.size();
  if (general_) {
    ARROW_ASSIGN_OR_RAISE(
        size, general_->DecompressedSize(payload, PackedBytes(most, value_bits_), where));
  }
  const uint64_t num_values = size / (value_bits_ / 8);
  if (num_values > most) {
    return Corrupt(where, "{} values of {} bits; at most {} expected", num_values, value_bits_,
                   most);
  }
  return num_values;
}

arrow::Result<FixedBlockDescription::Payload> FixedBlockDescription::Open(Bytes payload,
                                                                          uint64_t num_values,
                                                                          ScratchBytes& scratch,
                                                                          Location where) const {
  if (general_) {
    ARROW_ASSIGN_OR_RAISE(payload,
                          general_->Decompress(payload, MostPayload(num_values), scratch, where));
  }
  return std::visit(Overloaded{
                        [&](const FlatDescription& flat) -> arrow::Result<Payload> {
                          ARROW_RETURN_NOT_OK(flat.Check(payload, num_values, where));
                          return payload;
                        },
                        [&](const RleDescription& rle) -> arrow::Result<Payload> {
                          return rle.OpenBlock(payload, num_values, where);
                        },
                        [&](const auto& packed) -> arrow::Result<Payload> {
                          return packed.Open(payload, num_values, where);
                        },
                    },
                    codec_);
}

void FixedBlockDescription::Write(const Payload& payload, uint64_t num_values,
                                  std::byte* out) const noexcept {
  if (num_values == 0) return;
  if (const auto* bytes = std::get_if<Bytes>(&payload)) {
    std::memcpy(out, bytes->data(), PackedBytes(num_values, value_bits_));
    return;
  }
  WithWord(value_bits_, [&](auto word) {
    auto* const values = reinterpret_cast<decltype(word)*>(out);
    if (const auto* packed = std::get_if<BitpackedPayload>(&payload)) {
      packed->Decode(values);
    } else {
      std::get<RlePayload>(payload).Decode(std::span(values, num_values));
    }
  });
}

arrow::Result<std::vector<std::byte>> FixedBlockDescription::Decode(Bytes payload,
                                                                    uint64_t num_values,
                                                                    Location where) const {
  ScratchBytes scratch;
  ARROW_ASSIGN_OR_RAISE(const Payload opened, Open(payload, num_values, scratch, where));
  std::vector<std::byte> values(PackedBytes(num_values, value_bits_));
  Write(opened, num_values, values.data());
  return values;
}

arrow::Result<bool> FixedBlockDescription::VisitRuns(
    Bytes payload, uint64_t num_values, Location where,
    const std::function<void(uint64_t, uint64_t)>& visit) const {
  if (!std::holds_alternative<RleDescription>(codec_)) return false;
  ScratchBytes scratch;
  ARROW_ASSIGN_OR_RAISE(const Payload opened, Open(payload, num_values, scratch, where));
  std::get<RlePayload>(opened).VisitRuns(visit);
  return true;
}

arrow::Status FixedBlockDescription::DecodeInto(Bytes payload, uint64_t num_values, std::byte* out,
                                                Location where) const {
  ScratchBytes scratch;
  ARROW_ASSIGN_OR_RAISE(const Payload opened, Open(payload, num_values, scratch, where));
  Write(opened, num_values, out);
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
