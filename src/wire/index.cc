#include "wire/index.h"

#include <string_view>

#include <fmt/format.h>

#include "wire/message.h"
#include "wire/relative_path.h"

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

IndexFile ReadFile(protozero::pbf_reader message) {
  IndexFile file;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): file.path = message.get_string(); break;
      case tag_and_type(2, kVarint): file.size_bytes = message.get_uint64(); break;
      default: message.skip();
    }
  }
  return file;
}

// A google.protobuf.Any.
void ReadDetails(protozero::pbf_reader details, IndexEntry* entry) {
  while (details.next()) {
    switch (details.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): entry->details_type_url = details.get_string(); break;
      case tag_and_type(2, kLengthDelimited): entry->details = details.get_string(); break;
      default: details.skip();
    }
  }
}

}  // namespace

bool IndexEntry::stores_row_addresses() const {
  const std::string_view type(details_type_url);
  return type.ends_with("ZoneMapIndexDetails") || type.ends_with("BloomFilterIndexDetails") ||
         type.ends_with("FMIndexDetails") ||
         (type.ends_with("BTreeIndexDetails") && index_version >= 1);
}

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
      case tag_and_type(4, kVarint): entry.dataset_version = reader.get_uint64(); break;
      case tag_and_type(5, kLengthDelimited): entry.fragment_bitmap = reader.get_string(); break;
      case tag_and_type(6, kLengthDelimited): ReadDetails(reader.get_message(), &entry); break;
      case tag_and_type(7, kVarint): entry.index_version = reader.get_int32(); break;
      case tag_and_type(8, kVarint): entry.created_at_ms = reader.get_uint64(); break;
      case tag_and_type(9, kVarint): entry.base_id = reader.get_uint32(); break;
      case tag_and_type(10, kLengthDelimited):
        entry.files.push_back(ReadFile(reader.get_message()));
        break;
      case tag_and_type(11, kVarint):
      case tag_and_type(11, kLengthDelimited):
        ForEachInt32(reader, [&](int32_t) { ++entry.num_covering_fields; });
        break;
      default: reader.skip();
    }
  }));
  for (const IndexFile& file : entry.files) {
    ARROW_RETURN_NOT_OK(
        CheckStaysBelow(file.path, fmt::format("a file of index '{}'", entry.name), where));
  }
  return entry;
}

}  // namespace glaive::wire
