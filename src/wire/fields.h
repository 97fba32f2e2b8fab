#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <arrow/status.h>

#include "core/error.h"

// The fields of any message one by one, for messages whose structs belong to a higher layer (the
// manifest, transactions), where protobuf's reader may not be used.
namespace glaive::wire {

enum class FieldKind : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// What a field is known by: a known number with another kind is unknown too, as protobuf has it.
//
//   switch (field.key()) {
//     case Varint(3): manifest.version = field.value; break;
//     case Bytes(8): manifest.tag = field.text(); break;
//     default: manifest.unknown_fields += field.raw;
//   }
constexpr uint64_t Varint(uint32_t number) { return uint64_t{number} << 3; }
constexpr uint64_t Bytes(uint32_t number) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(FieldKind::kBytes);
}

struct FieldView {
  uint32_t number = 0;
  FieldKind kind = FieldKind::kVarint;
  uint64_t value = 0;                       // of a varint
  std::span<const std::byte> payload = {};  // of bytes: strings, messages, packed lists
  std::string_view raw = {};                // tag, length and value as they lie there
  Location where = {};                      // of the field

  uint64_t key() const { return uint64_t{number} << 3 | static_cast<uint64_t>(kind); }
  std::string text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
  int32_t int32() const { return static_cast<int32_t>(value); }
  uint32_t uint32() const { return static_cast<uint32_t>(value); }
};

// In order, until `visit` fails. What the views point to lives as long as `message`.
arrow::Status VisitFields(std::span<const std::byte> message, Location where, std::string_view name,
                          const std::function<arrow::Status(const FieldView&)>& visit);

// The values of a repeated integer field, packed or not.
arrow::Status VisitVarints(const FieldView& field, const std::function<void(uint64_t)>& visit);

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A scalar field; AppendUnlessZero leaves out the default, as proto3 does.
void AppendVarint(uint32_t field_number, uint64_t value, std::string* out);
void AppendUnlessZero(uint32_t field_number, uint64_t value, std::string* out);
// A string or a message.
void AppendBytes(uint32_t field_number, std::string_view bytes, std::string* out);
void AppendUnlessEmpty(uint32_t field_number, std::string_view bytes, std::string* out);
// A packed list; nothing for an empty one.
void AppendPacked(uint32_t field_number, std::span<const uint64_t> values, std::string* out);

}  // namespace glaive::wire
