#include "wire/file_metadata.h"

#include <string_view>

#include <protozero/pbf_writer.hpp>

#include "wire/message.h"

// The layouts, by field number (all scalars are varints, repeated ones packed):
//
//   ColumnMetadata  1 encoding Encoding, 2 pages Page*, 3 buffer_offsets*, 4 buffer_sizes*
//   Page            1 buffer_offsets*, 2 buffer_sizes*, 3 length, 4 encoding Encoding, 5 priority
//   Encoding        1 indirect, 2 direct {1 encoding: bytes of an Any}, 3 none
//   Any             1 type_url, 2 value
//   FileDescriptor  1 schema Schema, 2 length
//   Schema          1 fields Field*, 5 metadata map<string, bytes>
namespace glaive::wire {
namespace {

std::span<const std::byte> AsBytes(protozero::data_view view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

void ReadUint64s(FieldReader& reader, std::vector<uint64_t>& out) {
  if (reader.wire_type() == kVarint) {
    out.push_back(reader.get_uint64());
    return;
  }
  for (const uint64_t value : reader.get_packed_uint64()) out.push_back(value);
}

// What two parallel lists of offsets and sizes say.
class RangeLists {
 public:
  void ReadOffsets(FieldReader& reader) { ReadUint64s(reader, offsets_); }
  void ReadSizes(FieldReader& reader) { ReadUint64s(reader, sizes_); }

  arrow::Result<std::vector<ByteRange>> Finish(Location where) const {
    if (offsets_.size() != sizes_.size()) {
      return Corrupt(where, "{} buffer offsets beside {} buffer sizes", offsets_.size(),
                     sizes_.size());
    }
    std::vector<ByteRange> ranges(offsets_.size());
    for (size_t i = 0; i < ranges.size(); ++i) ranges[i] = {offsets_[i], sizes_[i]};
    return ranges;
  }

 private:
  std::vector<uint64_t> offsets_;
  std::vector<uint64_t> sizes_;
};

arrow::Result<DirectEncoding> ParseAny(std::span<const std::byte> message, Location where) {
  DirectEncoding any;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "Any", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): any.type_url = reader.get_string(); break;
      case tag_and_type(2, kLengthDelimited): any.value = reader.get_string(); break;
      default: reader.skip();
    }
  }));
  return any;
}

// The readers below nest messages, and the errors of the inner ones are kept in a status until
// ReadMessage returns. All name the byte at which the outermost message begins.
arrow::Result<DirectEncoding> ParseEncoding(std::span<const std::byte> message, Location where) {
  enum class Form { kMissing, kIndirect, kDirect, kNone } form = Form::kMissing;
  std::span<const std::byte> direct;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "Encoding", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited):
        form = Form::kIndirect;
        reader.skip();
        break;
      case tag_and_type(2, kLengthDelimited):
        form = Form::kDirect;
        direct = AsBytes(reader.get_view());
        break;
      case tag_and_type(3, kLengthDelimited):
        form = Form::kNone;
        reader.skip();
        break;
      default: reader.skip();
    }
  }));
  switch (form) {
    case Form::kMissing: return Corrupt(where, "an encoding is missing");
    case Form::kNone: return Corrupt(where, "the encoding is 'none', a direct one is expected");
    case Form::kIndirect: return Unsupported(where, "encodings outside of the message");
    case Form::kDirect: break;
  }
  std::span<const std::byte> any;
  ARROW_RETURN_NOT_OK(ReadMessage(direct, where, "DirectEncoding", [&](FieldReader& reader) {
    if (reader.tag_and_type() == tag_and_type(1, kLengthDelimited)) {
      any = AsBytes(reader.get_view());
    } else {
      reader.skip();
    }
  }));
  return ParseAny(any, where);
}

arrow::Result<Page> ParsePage(std::span<const std::byte> message, Location where) {
  Page page;
  RangeLists buffers;
  std::span<const std::byte> encoding;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "Page", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kVarint):
      case tag_and_type(1, kLengthDelimited): buffers.ReadOffsets(reader); break;
      case tag_and_type(2, kVarint):
      case tag_and_type(2, kLengthDelimited): buffers.ReadSizes(reader); break;
      case tag_and_type(3, kVarint): page.num_rows = reader.get_uint64(); break;
      case tag_and_type(4, kLengthDelimited): encoding = AsBytes(reader.get_view()); break;
      case tag_and_type(5, kVarint): page.priority = reader.get_uint64(); break;
      default: reader.skip();
    }
  }));
  ARROW_ASSIGN_OR_RAISE(page.buffers, buffers.Finish(where));
  ARROW_ASSIGN_OR_RAISE(page.encoding, ParseEncoding(encoding, where));
  return page;
}

void ReadMetadataEntry(FieldReader entry, StringMap& metadata) {
  std::string key;
  std::string value;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): key = entry.get_string(); break;
      case tag_and_type(2, kLengthDelimited): value = entry.get_string(); break;
      default: entry.skip();
    }
  }
  metadata[std::move(key)] = std::move(value);
}

arrow::Result<Schema> ParseSchema(std::span<const std::byte> message, Location where) {
  Schema schema;
  FieldListReader fields;
  arrow::Status status;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "Schema", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): {
        const auto field = AsBytes(reader.get_view());
        if (status.ok()) {
          status =
              fields.Add(field, where.Plus(static_cast<uint64_t>(field.data() - message.data())));
        }
        break;
      }
      case tag_and_type(5, kLengthDelimited):
        ReadMetadataEntry(FieldReader(reader.get_view()), schema.metadata);
        break;
      default: reader.skip();
    }
  }));
  ARROW_RETURN_NOT_OK(status);
  ARROW_ASSIGN_OR_RAISE(schema.fields, std::move(fields).Finish(where));
  return schema;
}

void WriteRanges(protozero::pbf_writer& writer, uint32_t offsets_field,
                 const std::vector<ByteRange>& ranges) {
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> sizes;
  for (const ByteRange& range : ranges) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  writer.add_packed_uint64(offsets_field, offsets.begin(), offsets.end());
  writer.add_packed_uint64(offsets_field + 1, sizes.begin(), sizes.end());
}

void WriteEncoding(protozero::pbf_writer& writer, uint32_t field, const DirectEncoding& encoding) {
  std::string any;
  protozero::pbf_writer any_writer(any);
  if (!encoding.type_url.empty()) any_writer.add_string(1, encoding.type_url);
  if (!encoding.value.empty()) any_writer.add_bytes(2, encoding.value);
  protozero::pbf_writer encoding_writer(writer, field);
  protozero::pbf_writer direct_writer(encoding_writer, 2);
  direct_writer.add_bytes(1, any);
}

}  // namespace

arrow::Result<ColumnMetadata> ParseColumnMetadata(std::span<const std::byte> message,
                                                  Location where) {
  ColumnMetadata column;
  RangeLists buffers;
  std::span<const std::byte> encoding;
  arrow::Status status;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "ColumnMetadata", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): encoding = AsBytes(reader.get_view()); break;
      case tag_and_type(2, kLengthDelimited): {
        const auto bytes = AsBytes(reader.get_view());
        if (!status.ok()) break;
        const auto offset = static_cast<uint64_t>(bytes.data() - message.data());
        auto page = ParsePage(bytes, where.Plus(offset));
        status = page.status();
        if (page.ok()) column.pages.push_back(std::move(page).ValueUnsafe());
        break;
      }
      case tag_and_type(3, kVarint):
      case tag_and_type(3, kLengthDelimited): buffers.ReadOffsets(reader); break;
      case tag_and_type(4, kVarint):
      case tag_and_type(4, kLengthDelimited): buffers.ReadSizes(reader); break;
      default: reader.skip();
    }
  }));
  ARROW_RETURN_NOT_OK(status);
  ARROW_ASSIGN_OR_RAISE(column.buffers, buffers.Finish(where));
  ARROW_ASSIGN_OR_RAISE(column.encoding, ParseEncoding(encoding, where));
  return column;
}

arrow::Result<FileDescriptor> ParseFileDescriptor(std::span<const std::byte> message,
                                                  Location where) {
  FileDescriptor descriptor;
  std::span<const std::byte> schema;
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "FileDescriptor", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): schema = AsBytes(reader.get_view()); break;
      case tag_and_type(2, kVarint): descriptor.num_rows = reader.get_uint64(); break;
      default: reader.skip();
    }
  }));
  const uint64_t schema_offset =
      schema.empty() ? 0 : static_cast<uint64_t>(schema.data() - message.data());
  ARROW_ASSIGN_OR_RAISE(descriptor.schema, ParseSchema(schema, where.Plus(schema_offset)));
  return descriptor;
}

std::string Serialize(const ColumnMetadata& column) {
  std::string out;
  protozero::pbf_writer writer(out);
  WriteEncoding(writer, 1, column.encoding);
  for (const Page& page : column.pages) {
    protozero::pbf_writer page_writer(writer, 2);
    WriteRanges(page_writer, 1, page.buffers);
    if (page.num_rows != 0) page_writer.add_uint64(3, page.num_rows);
    WriteEncoding(page_writer, 4, page.encoding);
    if (page.priority != 0) page_writer.add_uint64(5, page.priority);
  }
  WriteRanges(writer, 3, column.buffers);
  return out;
}

std::string Serialize(const FileDescriptor& descriptor) {
  std::string schema;
  AppendFields(1, descriptor.schema.fields, &schema);
  protozero::pbf_writer schema_writer(schema);
  for (const auto& [key, value] : descriptor.schema.metadata) {
    protozero::pbf_writer entry(schema_writer, 5);
    if (!key.empty()) entry.add_string(1, key);
    if (!value.empty()) entry.add_bytes(2, value);
  }
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_message(1, schema);  // present even where it is empty
  if (descriptor.num_rows != 0) writer.add_uint64(2, descriptor.num_rows);
  return out;
}

DirectEncoding ValuesColumnEncoding() {
  using std::string_literals::operator""s;
  return {.type_url = "/lance.encodings.ColumnEncoding", .value = "\x0a\x00"s};
}

}  // namespace glaive::wire
