#include "wire/fields.h"

#include <protozero/pbf_writer.hpp>

#include "wire/message.h"

namespace glaive::wire {

arrow::Status VisitFields(std::span<const std::byte> message, Location where, std::string_view name,
                          const std::function<arrow::Status(const FieldView&)>& visit) {
  arrow::Status status;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, name, [&](FieldReader& reader) {
    if (!status.ok()) return reader.skip();
    FieldView field{.number = reader.tag()};
    const char* begin = reader.field_begin();
    switch (reader.wire_type()) {
      case WireType::varint: field.value = reader.get_uint64(); break;
      case WireType::length_delimited: {
        const auto payload = reader.get_view();
        field.kind = FieldKind::kBytes;
        field.payload = AsBytes({payload.data(), payload.size()});
        break;
      }
      case WireType::fixed64:
        field.kind = FieldKind::kFixed64;
        field.value = reader.get_fixed64();
        break;
      case WireType::fixed32:
        field.kind = FieldKind::kFixed32;
        field.value = reader.get_fixed32();
        break;
      default: reader.skip();
    }
    field.raw = {begin, static_cast<size_t>(reader.data().data() - begin)};
    field.where =
        where.Plus(static_cast<uint64_t>(begin - reinterpret_cast<const char*>(message.data())));
    status = visit(field);
  }));
  return status;
}

arrow::Status VisitVarints(const FieldView& field, const std::function<void(uint64_t)>& visit) {
  if (field.kind == FieldKind::kVarint) {
    visit(field.value);
    return arrow::Status::OK();
  }
  const auto* begin = reinterpret_cast<const char*>(field.payload.data());
  const char* const end = begin + field.payload.size();
  try {
    while (begin != end) visit(protozero::decode_varint(&begin, end));
  } catch (const protozero::exception& error) {
    return Corrupt(field.where, "a packed list is damaged: {}", error.what());
  }
  return arrow::Status::OK();
}

void AppendVarint(uint32_t field_number, uint64_t value, std::string* out) {
  protozero::pbf_writer(*out).add_uint64(field_number, value);
}

void AppendUnlessZero(uint32_t field_number, uint64_t value, std::string* out) {
  if (value != 0) AppendVarint(field_number, value, out);
}

void AppendBytes(uint32_t field_number, std::string_view bytes, std::string* out) {
  protozero::pbf_writer(*out).add_bytes(field_number, bytes.data(), bytes.size());
}

void AppendUnlessEmpty(uint32_t field_number, std::string_view bytes, std::string* out) {
  if (!bytes.empty()) AppendBytes(field_number, bytes, out);
}

void AppendPacked(uint32_t field_number, std::span<const uint64_t> values, std::string* out) {
  protozero::pbf_writer(*out).add_packed_uint64(field_number, values.begin(), values.end());
}

}  // namespace glaive::wire
