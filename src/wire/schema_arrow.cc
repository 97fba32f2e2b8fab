#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "wire/logical_type.h"
#include "wire/schema.h"

namespace glaive::wire {
namespace {

constexpr char kExtensionName[] = "ARROW:extension:name";
constexpr char kExtensionMetadata[] = "ARROW:extension:metadata";
constexpr char kJson[] = "lance.json";
constexpr char kFieldId[] = "lance:field_id";  // how other tools hand ids along; not stored
constexpr uint32_t kMaxDepth = 200;

using TypePtr = std::shared_ptr<arrow::DataType>;

arrow::Result<std::vector<std::shared_ptr<arrow::Field>>> ChildrenOf(const Field& field) {
  std::vector<std::shared_ptr<arrow::Field>> children;
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(auto converted, ToArrow(child));
    children.push_back(std::move(converted));
  }
  return children;
}

arrow::Result<TypePtr> NestedType(const Field& field) {
  ARROW_ASSIGN_OR_RAISE(auto children, ChildrenOf(field));
  const std::string_view type = field.logical_type;
  if (type == "struct") return arrow::struct_(std::move(children));
  if (children.size() != 1) {
    return Corrupt(kSchema, "field '{}' of type {} has {} children, expected 1", field.name, type,
                   children.size());
  }
  if (type.starts_with("list")) return arrow::list(children[0]);
  if (type.starts_with("large_list")) return arrow::large_list(children[0]);
  if (type == "map") {
    auto map = arrow::MapType::Make(children[0]);
    if (map.ok()) return *map;
    return Corrupt(kSchema, "field '{}' is not a map: {}", field.name, map.status().message());
  }
  ARROW_ASSIGN_OR_RAISE(const int32_t size, ListSizeOf(type));
  return arrow::fixed_size_list(children[0], size);
}

std::shared_ptr<arrow::KeyValueMetadata> ToArrow(const StringMap& map) {
  if (map.empty()) return nullptr;
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : map) metadata->Append(key, value);
  return metadata;
}

StringMap FromArrow(const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) {
  StringMap map;
  if (metadata == nullptr) return map;
  for (int64_t i = 0; i < metadata->size(); ++i) map[metadata->key(i)] = metadata->value(i);
  return map;
}

// The fields below `type`, each of which gets a Field message.
std::vector<std::shared_ptr<arrow::Field>> ChildFields(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRUCT:
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::MAP: return type.fields();
    case arrow::Type::FIXED_SIZE_LIST:
      if (type.field(0)->type()->id() == arrow::Type::STRUCT) return type.fields();
      return {};
    default: return {};
  }
}

arrow::Result<Field> FromArrow(const arrow::Field& source, int32_t& next_id, uint32_t depth) {
  if (depth > kMaxDepth) return Unsupported("a schema nested more than {} deep", kMaxDepth);
  Field field{.id = next_id++, .name = source.name(), .nullable = source.nullable()};
  field.metadata = FromArrow(source.metadata());
  field.metadata.erase(kFieldId);
  TypePtr type = source.type();
  if (type->id() == arrow::Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionType&>(*type);
    field.metadata[kExtensionName] = extension.extension_name();
    field.metadata[kExtensionMetadata] = extension.Serialize();
    type = extension.storage_type();
  }
  const auto extension = field.metadata.find(kExtensionName);
  if (extension != field.metadata.end() && extension->second == "arrow.json") {
    return Unsupported("writing columns of type arrow.json");
  }
  ARROW_ASSIGN_OR_RAISE(field.logical_type, LogicalTypeOf(*type));
  if (extension != field.metadata.end() && extension->second == kJson) field.logical_type = "json";
  for (const auto& child : ChildFields(*type)) {
    ARROW_ASSIGN_OR_RAISE(Field converted, FromArrow(*child, next_id, depth + 1));
    field.children.push_back(std::move(converted));
  }
  SetKeysFromMetadata(field);
  return field;
}

// Columns that a scan makes; a stored one of the same name would collide with it.
constexpr std::array<std::string_view, 5> kSystemColumns = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

arrow::Status CheckNames(const arrow::Schema& schema) {
  std::set<std::string_view> names;
  for (const auto& field : schema.fields()) {
    const std::string& name = field->name();
    if (std::ranges::count(kSystemColumns, name) > 0) {
      return InvalidInput("The column {} is a reserved name and cannot be used in a Lance dataset",
                          name);
    }
    if (name.find('.') != name.npos) {
      return InvalidInput(
          "Top level field {} cannot contain `.`. Maybe you meant to create a struct field?", name);
    }
    if (!names.insert(name).second) return InvalidInput("Duplicate field name \"{}\"", name);
  }
  return arrow::Status::OK();
}

}  // namespace

void SetKeysFromMetadata(Field& field) {
  const auto value = [&](const char* key) -> std::optional<std::string> {
    const auto entry = field.metadata.find(key);
    if (entry == field.metadata.end()) return std::nullopt;
    return entry->second;
  };
  const auto position = [&](const char* key) {
    return static_cast<uint32_t>(std::max(0, NumberOf(value(key).value_or("")).value_or(0)));
  };
  field.unenforced_primary_key_position = position("lance-schema:unenforced-primary-key:position");
  field.unenforced_primary_key = field.unenforced_primary_key_position > 0 ||
                                 IsTrue(value("lance-schema:unenforced-primary-key").value_or(""));
  field.unenforced_clustering_key_position =
      position("lance-schema:unenforced-clustering-key:position");
}

arrow::Result<std::shared_ptr<arrow::Field>> ToArrow(const Field& field) {
  StringMap metadata = field.metadata;
  if (field.logical_type == "json") metadata[kExtensionName] = kJson;
  if (field.logical_type == "blob") metadata.emplace("lance-encoding:blob", "true");
  TypePtr type;
  if (IsNested(field.logical_type)) {
    ARROW_ASSIGN_OR_RAISE(type, NestedType(field));
  } else {
    if (!field.children.empty()) {
      return Corrupt(kSchema, "field '{}' of type {} has {} children", field.name,
                     field.logical_type, field.children.size());
    }
    auto parsed = UnnestedTypeOf(field.logical_type);
    if (!parsed.ok()) return WithContext(parsed.status(), "field '{}'", field.name);
    type = *std::move(parsed);
  }
  return arrow::field(field.name, std::move(type), field.nullable, ToArrow(metadata));
}

arrow::Result<std::shared_ptr<arrow::Schema>> ToArrow(const Schema& schema) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const Field& field : schema.fields) {
    ARROW_ASSIGN_OR_RAISE(auto converted, ToArrow(field));
    fields.push_back(std::move(converted));
  }
  return arrow::schema(std::move(fields), ToArrow(schema.metadata));
}

arrow::Result<Schema> FromArrow(const arrow::Schema& schema, int32_t first_id) {
  ARROW_RETURN_NOT_OK(CheckNames(schema));
  Schema converted;
  converted.metadata = FromArrow(schema.metadata());
  for (const auto& source : schema.fields()) {
    auto field = FromArrow(*source, first_id, 0);
    if (!field.ok()) return WithContext(field.status(), "column \"{}\"", source->name());
    converted.fields.push_back(*std::move(field));
  }
  return converted;
}

}  // namespace glaive::wire