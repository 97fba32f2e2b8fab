#include "wire/index.h"

#include "wire/message.h"

namespace glaive::wire {
namespace {

std::string ReadUuid(protozero::pbf_reader uuid) {
  std::string bytes;
  while (uuid.next()) {
    if (uuid.tag_and_type() == tag_and_type(1, kLengthDelimited)) {
      bytes = uuid.get_string();
    } else {
      uuid.skip();
    }
  }
  return bytes;
}

}  // namespace

arrow::Result<IndexEntry> ParseIndexEntry(std::span<const std::byte> message, Location where) {
  IndexEntry entry;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "IndexMetadata", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): entry.uuid = ReadUuid(reader.get_message()); break;
      case tag_and_type(2, kVarint):
      case tag_and_type(2, kLengthDelimited):
        ForEachInt32(reader, [&](int32_t id) { entry.fields.push_back(id); });
        break;
      case tag_and_type(3, kLengthDelimited): entry.name = reader.get_string(); break;
      case tag_and_type(5, kLengthDelimited): entry.fragment_bitmap = reader.get_string(); break;
      case tag_and_type(11, kVarint):
      case tag_and_type(11, kLengthDelimited):
        ForEachInt32(reader, [&](int32_t) { ++entry.num_covering_fields; });
        break;
      default: reader.skip();
    }
  }));
  return entry;
}

}  // namespace glaive::wire
