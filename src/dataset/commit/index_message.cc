#include "dataset/commit/index_message.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"

namespace glaive::dataset {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;

constexpr Location kEntry = {"(index)"};
constexpr size_t kUuidBytes = 16;

bool HyphenBefore(size_t byte) { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

// 16 bytes as 36 characters.
arrow::Result<std::string> UuidText(const FieldView& message) {
  std::string bytes;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(message.payload, message.where, "UUID", [&](const FieldView& field) {
        if (field.key() == Bytes(1)) bytes = field.text();
        return arrow::Status::OK();
      }));
  if (bytes.size() != kUuidBytes) {
    return Corrupt(message.where, "a UUID of {} bytes", bytes.size());
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < kUuidBytes; ++i) {
    if (HyphenBefore(i)) text += '-';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

arrow::Result<std::string> UuidMessage(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '-'; });
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    uint8_t byte = 0;
    const char* end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) break;
    bytes += static_cast<char>(byte);
  }
  if (digits.size() != 2 * kUuidBytes || bytes.size() != kUuidBytes) {
    return InvalidInput("not the UUID of an index: '{}'", text);
  }
  std::string message;
  wire::AppendBytes(1, bytes, &message);
  return message;
}

arrow::Result<IndexMetadata::Details> ReadDetails(const FieldView& message) {
  IndexMetadata::Details details;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(message.payload, message.where, "Any", [&](const FieldView& field) {
        if (field.key() == Bytes(1)) details.type_url = field.text();
        if (field.key() == Bytes(2)) details.value = field.text();
        return arrow::Status::OK();
      }));
  return details;
}

void WriteDetails(uint32_t number, const IndexMetadata::Details& details, std::string* out) {
  std::string message;
  wire::AppendUnlessEmpty(1, details.type_url, &message);
  wire::AppendUnlessEmpty(2, details.value, &message);
  wire::AppendBytes(number, message, out);
}

arrow::Status ReadFile(const FieldView& message, std::vector<IndexMetadata::File>& files) {
  IndexMetadata::File& file = files.emplace_back();
  return wire::VisitFields(message.payload, message.where, "IndexFile", [&](const FieldView& f) {
    if (f.key() == Bytes(1)) file.path = f.text();
    if (f.key() == Varint(2)) file.size_bytes = f.value;
    return arrow::Status::OK();
  });
}

void WriteFiles(uint32_t number, const std::vector<IndexMetadata::File>& files, std::string* out) {
  for (const IndexMetadata::File& file : files) {
    std::string message;
    wire::AppendUnlessEmpty(1, file.path, &message);
    wire::AppendUnlessZero(2, file.size_bytes, &message);
    wire::AppendBytes(number, message, out);
  }
}

arrow::Status ReadIds(const FieldView& field, std::vector<int32_t>& ids) {
  return wire::VisitVarints(field, [&](uint64_t id) { ids.push_back(static_cast<int32_t>(id)); });
}

void WriteIds(uint32_t number, const std::vector<int32_t>& ids, std::string* out) {
  std::vector<uint64_t> values;
  for (const int32_t id : ids) values.push_back(static_cast<uint64_t>(int64_t{id}));
  wire::AppendPacked(number, values, out);
}

arrow::Result<std::optional<std::vector<uint32_t>>> FragmentIds(const FieldView& bitmap) {
  if (bitmap.payload.empty()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto ranges, table::ParseRoaring(bitmap.payload, bitmap.where));
  // More than fit a manifest. A bitmap of a few bytes can name 2^32.
  constexpr uint64_t kMostFragments = uint64_t{1} << 24;
  if (const uint64_t count = CountRows(ranges); count > kMostFragments) {
    return Unsupported(bitmap.where, "an index of {} fragments", count);
  }
  std::vector<uint32_t> ids;
  for (const RowRange& range : ranges) {
    for (uint64_t id = range.begin; id < range.end; ++id) ids.push_back(static_cast<uint32_t>(id));
  }
  return ids;
}

std::string Bitmap(std::vector<uint32_t> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return table::SerializeRoaring(table::RangesOf(ids));
}

}  // namespace

arrow::Result<IndexMetadata> IndexOf(const std::string& message) {
  IndexMetadata index;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): return UuidText(field).Value(&index.uuid);
      case Varint(2):
      case Bytes(2): return ReadIds(field, index.fields);
      case Bytes(3): index.name = field.text(); break;
      case Varint(4): index.dataset_version = field.value; break;
      case Bytes(5): return FragmentIds(field).Value(&index.fragment_ids);
      case Bytes(6): return ReadDetails(field).Value(&index.details.emplace());
      case Varint(7): index.index_version = field.int32(); break;
      case Varint(8): index.created_at_ms = field.value; break;
      case Varint(9): index.base_id = field.uint32(); break;
      case Bytes(10): return ReadFile(field, index.files);
      case Varint(11):
      case Bytes(11): return ReadIds(field, index.covering_fields);
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(message), kEntry, "IndexMetadata", read));
  return index;
}

arrow::Result<std::string> IndexMessageOf(const IndexMetadata& index) {
  std::string out;
  ARROW_ASSIGN_OR_RAISE(const std::string uuid, UuidMessage(index.uuid));
  wire::AppendBytes(1, uuid, &out);
  WriteIds(2, index.fields, &out);
  wire::AppendUnlessEmpty(3, index.name, &out);
  wire::AppendUnlessZero(4, index.dataset_version, &out);
  if (index.fragment_ids) wire::AppendBytes(5, Bitmap(*index.fragment_ids), &out);
  if (index.details) WriteDetails(6, *index.details, &out);
  if (index.index_version) {
    wire::AppendVarint(7, static_cast<uint64_t>(int64_t{*index.index_version}), &out);
  }
  if (index.created_at_ms) wire::AppendVarint(8, *index.created_at_ms, &out);
  if (index.base_id) wire::AppendVarint(9, *index.base_id, &out);
  WriteFiles(10, index.files, &out);
  WriteIds(11, index.covering_fields, &out);
  return out;
}

arrow::Result<operation::Rewrite::RewrittenIndex> RewrittenIndexOf(const std::string& message) {
  operation::Rewrite::RewrittenIndex index;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): return UuidText(field).Value(&index.old_id);
      case Bytes(2): return UuidText(field).Value(&index.new_id);
      case Bytes(3): return ReadDetails(field).Value(&index.new_details);
      case Varint(4): index.new_index_version = field.uint32(); break;
      case Bytes(5): return ReadFile(field, index.new_files);
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(message), kEntry, "RewrittenIndex", read));
  return index;
}

arrow::Result<std::string> RewrittenMessageOf(const operation::Rewrite::RewrittenIndex& index) {
  std::string out;
  ARROW_ASSIGN_OR_RAISE(const std::string old_id, UuidMessage(index.old_id));
  ARROW_ASSIGN_OR_RAISE(const std::string new_id, UuidMessage(index.new_id));
  wire::AppendBytes(1, old_id, &out);
  wire::AppendBytes(2, new_id, &out);
  WriteDetails(3, index.new_details, &out);
  wire::AppendUnlessZero(4, index.new_index_version, &out);
  WriteFiles(5, index.new_files, &out);
  return out;
}

}  // namespace glaive::dataset
