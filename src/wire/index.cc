#include "wire/index.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "wire/fields.h"
#include "wire/relative_path.h"

namespace glaive::wire {
namespace {

using Details = IndexMetadata::Details;
using File = IndexMetadata::File;

constexpr size_t kUuidBytes = 16;

arrow::Status ReadUuid(const FieldView& message, std::string& text) {
  return VisitFields(message.payload, message.where, "UUID", [&](const FieldView& field) {
    if (field.key() != Bytes(1)) return arrow::Status::OK();
    text.clear();
    for (size_t i = 0; i < field.payload.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<uint8_t>(field.payload[i]));
    }
    return arrow::Status::OK();
  });
}

// Nothing for a text that is no uuid.
std::string UuidBytes(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '-'; });
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    uint8_t byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return {};
    bytes += static_cast<char>(byte);
  }
  return digits.size() % 2 == 0 ? bytes : std::string();
}

void AppendUuid(uint32_t number, std::string_view text, std::string* out) {
  std::string message;
  AppendUnlessEmpty(1, UuidBytes(text), &message);
  AppendBytes(number, message, out);
}

// A google.protobuf.Any.
arrow::Status ReadDetails(const FieldView& message, Details& details) {
  return VisitFields(message.payload, message.where, "Any", [&](const FieldView& field) {
    if (field.key() == Bytes(1)) details.type_url = field.text();
    if (field.key() == Bytes(2)) details.value = field.text();
    return arrow::Status::OK();
  });
}

void AppendDetails(uint32_t number, const Details& details, std::string* out) {
  std::string message;
  AppendUnlessEmpty(1, details.type_url, &message);
  AppendUnlessEmpty(2, details.value, &message);
  AppendBytes(number, message, out);
}

arrow::Status ReadFile(const FieldView& message, std::vector<File>& files) {
  File& file = files.emplace_back();
  return VisitFields(message.payload, message.where, "IndexFile", [&](const FieldView& field) {
    if (field.key() == Bytes(1)) file.path = field.text();
    if (field.key() == Varint(2)) file.size_bytes = field.value;
    return arrow::Status::OK();
  });
}

// Files are read, copied and removed by these paths.
arrow::Status CheckFiles(const std::vector<File>& files, std::string_view index, Location where) {
  for (const File& file : files) {
    ARROW_RETURN_NOT_OK(
        CheckStaysBelow(file.path, fmt::format("a file of index '{}'", index), where));
  }
  return arrow::Status::OK();
}

void AppendFiles(uint32_t number, const std::vector<File>& files, std::string* out) {
  for (const File& file : files) {
    std::string message;
    AppendUnlessEmpty(1, file.path, &message);
    AppendUnlessZero(2, file.size_bytes, &message);
    AppendBytes(number, message, out);
  }
}

arrow::Status ReadIds(const FieldView& field, std::vector<int32_t>& ids) {
  return VisitVarints(field, [&](uint64_t id) { ids.push_back(static_cast<int32_t>(id)); });
}

void AppendIds(uint32_t number, const std::vector<int32_t>& ids, std::string* out) {
  std::vector<uint64_t> values;
  for (const int32_t id : ids) values.push_back(static_cast<uint64_t>(int64_t{id}));
  AppendPacked(number, values, out);
}

}  // namespace

std::string_view TypeOf(const IndexMetadata& index) {
  return index.details ? std::string_view(index.details->type_url) : std::string_view();
}

bool StoresRowAddresses(const IndexMetadata& index) {
  const std::string_view type = TypeOf(index);
  return type.ends_with("ZoneMapIndexDetails") || type.ends_with("BloomFilterIndexDetails") ||
         type.ends_with("FMIndexDetails") ||
         (type.ends_with("BTreeIndexDetails") && index.index_version.value_or(0) >= 1);
}

bool IsUuid(std::string_view text) { return UuidBytes(text).size() == kUuidBytes; }

arrow::Result<IndexMetadata> ParseIndex(std::span<const std::byte> message, Location where) {
  IndexMetadata index;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): return ReadUuid(field, index.uuid);
      case Varint(2):
      case Bytes(2): return ReadIds(field, index.fields);
      case Bytes(3): index.name = field.text(); break;
      case Varint(4): index.dataset_version = field.value; break;
      case Bytes(5): index.fragment_bitmap = field.text(); break;
      case Bytes(6): return ReadDetails(field, index.details.emplace());
      case Varint(7): index.index_version = field.int32(); break;
      case Varint(8): index.created_at_ms = field.value; break;
      case Varint(9): index.base_id = field.uint32(); break;
      case Bytes(10): return ReadFile(field, index.files);
      case Varint(11):
      case Bytes(11): return ReadIds(field, index.covering_fields);
      default: index.unknown_fields += field.raw;
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(VisitFields(message, where, "IndexMetadata", read));
  ARROW_RETURN_NOT_OK(CheckFiles(index.files, index.name, where));
  return index;
}

std::string Serialize(const IndexMetadata& index) {
  std::string out;
  AppendUuid(1, index.uuid, &out);
  AppendIds(2, index.fields, &out);
  AppendUnlessEmpty(3, index.name, &out);
  AppendUnlessZero(4, index.dataset_version, &out);
  AppendUnlessEmpty(5, index.fragment_bitmap, &out);
  if (index.details) AppendDetails(6, *index.details, &out);
  if (index.index_version) {
    AppendVarint(7, static_cast<uint64_t>(int64_t{*index.index_version}), &out);
  }
  if (index.created_at_ms) AppendVarint(8, *index.created_at_ms, &out);
  if (index.base_id) AppendVarint(9, *index.base_id, &out);
  AppendFiles(10, index.files, &out);
  AppendIds(11, index.covering_fields, &out);
  return out + index.unknown_fields;
}

arrow::Result<RewrittenIndex> ParseRewrittenIndex(std::span<const std::byte> message,
                                                  Location where) {
  RewrittenIndex index;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): return ReadUuid(field, index.old_id);
      case Bytes(2): return ReadUuid(field, index.new_id);
      case Bytes(3): return ReadDetails(field, index.new_details);
      case Varint(4): index.new_index_version = field.uint32(); break;
      case Bytes(5): return ReadFile(field, index.new_files);
      default: index.unknown_fields += field.raw;
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(VisitFields(message, where, "RewrittenIndex", read));
  ARROW_RETURN_NOT_OK(CheckFiles(index.new_files, index.new_id, where));
  return index;
}

std::string Serialize(const RewrittenIndex& index) {
  std::string out;
  AppendUuid(1, index.old_id, &out);
  AppendUuid(2, index.new_id, &out);
  AppendDetails(3, index.new_details, &out);
  AppendUnlessZero(4, index.new_index_version, &out);
  AppendFiles(5, index.new_files, &out);
  return out + index.unknown_fields;
}

}  // namespace glaive::wire
