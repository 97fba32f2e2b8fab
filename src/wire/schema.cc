#include "wire/schema.h"

#include <algorithm>
#include <unordered_map>

#include <arrow/util/utf8.h>
#include <protozero/pbf_writer.hpp>

#include "wire/message.h"

namespace glaive::wire {
namespace {

// Far beyond any real schema; what walks a tree may recurse.
constexpr uint32_t kMaxDepth = 200;

constexpr std::string_view kExtensionName = "ARROW:extension:name";

// What version 1 files stored a type as. No reader of today looks at it, every writer sets it.
enum class ValueEncoding : int32_t { kNone = 0, kPlain = 1, kVarBinary = 2, kDictionary = 3 };

ValueEncoding EncodingOf(std::string_view logical_type) {
  if (logical_type == "struct" || logical_type == "null") return ValueEncoding::kNone;
  if (logical_type.starts_with("dict:")) return ValueEncoding::kDictionary;
  for (const std::string_view variable :
       {"string", "large_string", "binary", "large_binary", "json"}) {
    if (logical_type == variable) return ValueEncoding::kVarBinary;
  }
  return ValueEncoding::kPlain;
}

void ReadMapEntry(protozero::pbf_reader entry, StringMap& map) {
  std::string key;
  std::string value;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): key = entry.get_string(); break;
      case tag_and_type(2, kLengthDelimited): value = entry.get_string(); break;
      default: entry.skip();
    }
  }
  map[std::move(key)] = std::move(value);
}

void ReadField(FieldReader& reader, Field& field, int32_t& parent_id) {
  switch (reader.tag_and_type()) {
    case tag_and_type(1, kVarint): reader.skip(); break;  // always PARENT, even for leaves
    case tag_and_type(2, kLengthDelimited): field.name = reader.get_string(); break;
    case tag_and_type(3, kVarint): field.id = reader.get_int32(); break;
    case tag_and_type(4, kVarint): parent_id = reader.get_int32(); break;
    case tag_and_type(5, kLengthDelimited): field.logical_type = reader.get_string(); break;
    case tag_and_type(6, kVarint): field.nullable = reader.get_bool(); break;
    case tag_and_type(7, kVarint): reader.skip(); break;  // follows from the type
    case tag_and_type(9, kLengthDelimited):
      field.metadata[std::string(kExtensionName)] = reader.get_string();
      break;
    case tag_and_type(10, kLengthDelimited):
      ReadMapEntry(reader.get_message(), field.metadata);
      break;
    case tag_and_type(12, kVarint): field.unenforced_primary_key = reader.get_bool(); break;
    case tag_and_type(13, kVarint):
      field.unenforced_primary_key_position = reader.get_uint32();
      break;
    case tag_and_type(15, kVarint):
      field.unenforced_clustering_key_position = reader.get_uint32();
      break;
    default: field.unknown_fields += reader.SkipRaw();
  }
}

std::string Serialize(const Field& field, int32_t parent_id) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (!field.name.empty()) writer.add_string(2, field.name);
  if (field.id != 0) writer.add_int32(3, field.id);
  if (parent_id != 0) writer.add_int32(4, parent_id);
  if (!field.logical_type.empty()) writer.add_string(5, field.logical_type);
  if (field.nullable) writer.add_bool(6, true);
  const auto encoding = static_cast<int32_t>(EncodingOf(field.logical_type));
  if (encoding != 0) writer.add_enum(7, encoding);
  const auto extension = field.metadata.find(std::string(kExtensionName));
  if (extension != field.metadata.end() && !extension->second.empty()) {
    writer.add_string(9, extension->second);
  }
  AppendStringMap(10, field.metadata, &out);
  if (field.unenforced_primary_key) writer.add_bool(12, true);
  if (field.unenforced_primary_key_position != 0) {
    writer.add_uint32(13, field.unenforced_primary_key_position);
  }
  if (field.unenforced_clustering_key_position != 0) {
    writer.add_uint32(15, field.unenforced_clustering_key_position);
  }
  out += field.unknown_fields;
  return out;
}

void AppendFields(uint32_t field_number, const std::vector<Field>& fields, int32_t parent_id,
                  std::string* out) {
  for (const Field& field : fields) {
    protozero::pbf_writer(*out).add_message(field_number, Serialize(field, parent_id));
    AppendFields(field_number, field.children, field.id, out);
  }
}

// Before main: a static local is made under a lock, which a fork could leave held.
[[maybe_unused]] const bool utf8_initialised = [] {
  arrow::util::InitializeUTF8();
  return true;
}();

// What protobuf and every reader of names ask of a string.
bool IsUtf8(std::string_view text) { return arrow::util::ValidateUTF8(text); }

}  // namespace

arrow::Status ReadStringMapEntry(std::span<const std::byte> message, Location where,
                                 StringMap* map) {
  try {
    ReadMapEntry(
        protozero::pbf_reader(reinterpret_cast<const char*>(message.data()), message.size()), *map);
  } catch (const protozero::exception& error) {
    return Corrupt(where, "a map entry is not a valid message: {}", error.what());
  }
  return arrow::Status::OK();
}

void AppendStringMap(uint32_t field_number, const StringMap& map, std::string* out) {
  protozero::pbf_writer writer(*out);
  for (const auto& [key, value] : map) {
    std::string entry;
    protozero::pbf_writer entry_writer(entry);
    if (!key.empty()) entry_writer.add_string(1, key);
    if (!value.empty()) entry_writer.add_string(2, value);
    writer.add_message(field_number, entry);
  }
}

arrow::Status FieldListReader::Add(std::span<const std::byte> message, Location where) {
  Flat flat{{.id = 0, .nullable = false}, 0};
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "Field", [&](FieldReader& reader) {
    ReadField(reader, flat.field, flat.parent_id);
  }));
  if (!IsUtf8(flat.field.name)) return Corrupt(where, "a field whose name is not UTF-8");
  flat_.push_back(std::move(flat));
  return arrow::Status::OK();
}

arrow::Result<std::vector<Field>> FieldListReader::Finish(Location where) && {
  constexpr size_t kNoParent = ~size_t{0};
  std::vector<size_t> parents(flat_.size(), kNoParent);
  std::vector<uint32_t> depths(flat_.size(), 0);
  std::unordered_map<int32_t, size_t> positions;  // of the first field with an id
  for (size_t i = 0; i < flat_.size(); ++i) {
    const auto& [field, parent_id] = flat_[i];
    if (parent_id != -1) {
      const auto parent = positions.find(parent_id);
      if (parent == positions.end()) {
        return Corrupt(where, "field '{}' has the parent {}, which is not listed before it",
                       field.name, parent_id);
      }
      parents[i] = parent->second;
      depths[i] = depths[parent->second] + 1;
      if (depths[i] > kMaxDepth) {
        return Corrupt(where, "field '{}' is nested more than {} deep", field.name, kMaxDepth);
      }
    }
    positions.emplace(field.id, i);
  }

  // From the back every field is complete when its turn comes, its children in reverse.
  std::vector<Field> roots;
  for (size_t i = flat_.size(); i-- > 0;) {
    Field& field = flat_[i].field;
    std::ranges::reverse(field.children);
    auto& siblings = parents[i] == kNoParent ? roots : flat_[parents[i]].field.children;
    siblings.push_back(std::move(field));
  }
  std::ranges::reverse(roots);
  return roots;
}

void AppendFields(uint32_t field_number, const std::vector<Field>& fields, std::string* out) {
  AppendFields(field_number, fields, -1, out);
}

int32_t MaxFieldId(const std::vector<Field>& fields) {
  int32_t max = -1;
  for (const Field& field : fields) {
    max = std::max({max, field.id, MaxFieldId(field.children)});
  }
  return max;
}

void CollectFieldIds(const std::vector<Field>& fields, std::set<int32_t>* ids) {
  for (const Field& field : fields) {
    ids->insert(field.id);
    CollectFieldIds(field.children, ids);
  }
}

int32_t MaxFieldId(const Schema& schema) { return MaxFieldId(schema.fields); }

namespace {

void AddLeaves(const std::vector<Field>& fields, std::vector<int32_t>& ancestors,
               std::vector<LeafField>& leaves) {
  for (const Field& field : fields) {
    if (IsSingleColumn(field)) {
      leaves.push_back({field.id, ancestors});
      continue;
    }
    ancestors.push_back(field.id);
    AddLeaves(field.children, ancestors, leaves);
    ancestors.pop_back();
  }
}

}  // namespace

bool IsTrue(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower == "1" || lower == "true" || lower == "on" || lower == "yes" || lower == "y";
}

bool IsBlob(const Field& field) {
  const auto extension = field.metadata.find(std::string(kExtensionName));
  return field.metadata.contains("lance-encoding:blob") ||
         (extension != field.metadata.end() && extension->second == "lance.blob.v2");
}

bool IsPacked(const Field& field) {
  return std::ranges::any_of(std::initializer_list<const char*>{"lance-encoding:packed", "packed"},
                             [&](const char* key) {
                               const auto entry = field.metadata.find(key);
                               return entry != field.metadata.end() && IsTrue(entry->second);
                             });
}

bool IsSingleColumn(const Field& field) {
  return field.children.empty() || IsBlob(field) || IsPacked(field);
}

std::vector<LeafField> LeafFields(const Schema& schema) {
  std::vector<LeafField> leaves;
  std::vector<int32_t> ancestors;
  AddLeaves(schema.fields, ancestors, leaves);
  return leaves;
}

}  // namespace glaive::wire
