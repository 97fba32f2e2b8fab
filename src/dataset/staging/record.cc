#include <concepts>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/xxhash64.h"
#include "dataset/staging/state.h"
#include "glaive/staged_columns.h"
#include "table/manifest/table_schema.h"
#include "wire/fields.h"

namespace glaive {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// Exceptions end in FromJson.
void Require(bool condition, const std::string& text) {
  if (!condition) throw std::invalid_argument(text);
}

template <std::integral T>
T Integer(const Json& json, const char* key) {
  const Json& value = json.at(key);
  Require(value.is_number_integer(), fmt::format("'{}' is no integer", key));
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<uint64_t>())
                                               : std::in_range<T>(value.get<int64_t>());
  Require(fits, fmt::format("'{}' is out of range: {}", key, value.dump()));
  return value.get<T>();
}

template <std::integral T>
std::optional<T> OptionalInteger(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return Integer<T>(json, key);
}

std::vector<int32_t> Integers(const Json& json, const char* key) {
  std::vector<int32_t> integers;
  for (const Json& value : json.at(key)) integers.push_back(Integer<int32_t>({{"", value}}, ""));
  return integers;
}

template <typename T>
void Put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

uint8_t HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint8_t>(digit - '0');
  Require(digit >= 'a' && digit <= 'f', "the schema is no hexadecimal number");
  return static_cast<uint8_t>(digit - 'a' + 10);
}

std::string FromHex(const std::string& text) {
  Require(text.size() % 2 == 0, "the schema is cut short");
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(HexDigit(text[i]) << 4 | HexDigit(text[i + 1]));
  }
  return bytes;
}

Json ToJson(const BackingColumn& column) {
  Json json{{"path", column.path},
            {"column_index", column.column_index},
            {"file_major_version", column.file_major_version},
            {"file_minor_version", column.file_minor_version}};
  Put(json, "base_id", column.base_id);
  return json;
}

BackingColumn ColumnFrom(const Json& json) {
  return {.path = json.at("path").get<std::string>(),
          .base_id = OptionalInteger<uint32_t>(json, "base_id"),
          .file_major_version = Integer<uint32_t>(json, "file_major_version"),
          .file_minor_version = Integer<uint32_t>(json, "file_minor_version"),
          .column_index = Integer<int32_t>(json, "column_index")};
}

Json ToJson(const dataset::Witnesses& witnesses) {
  Json json = Json::object();
  for (const auto& [id, witness] : witnesses) {
    Json each = Json::object();
    if (witness.base) each["base"] = ToJson(*witness.base);
    for (const BackingOverlay& overlay : witness.overlays) {
      Json column = ToJson(overlay.column);
      column["committed_version"] = overlay.committed_version;
      column["coverage"] = overlay.coverage;
      each["overlays"].push_back(std::move(column));
    }
    json[std::to_string(id)] = std::move(each);
  }
  return json;
}

dataset::Witnesses WitnessesFrom(const Json& json) {
  dataset::Witnesses witnesses;
  Require(json.is_object(), "witnesses are no object");
  for (const auto& [key, each] : json.items()) {
    FieldWitness& witness = witnesses[std::stoi(key)];
    if (each.contains("base")) witness.base = ColumnFrom(each.at("base"));
    if (!each.contains("overlays")) continue;
    for (const Json& overlay : each.at("overlays")) {
      witness.overlays.push_back(
          {.column = ColumnFrom(overlay),
           .committed_version = Integer<uint64_t>(overlay, "committed_version"),
           .coverage = Integer<uint64_t>(overlay, "coverage")});
    }
  }
  return witnesses;
}

Json ToJson(const wire::DataFile& file) {
  return {{"path", file.path},
          {"fields", file.fields},
          {"column_indices", file.column_indices},
          {"file_major_version", file.file_major_version},
          {"file_minor_version", file.file_minor_version},
          {"file_size_bytes", file.file_size_bytes}};
}

// The path is one of the table's own data/: files are removed by it.
wire::DataFile FileFrom(const Json& json) {
  wire::DataFile file;
  file.path = json.at("path").get<std::string>();
  Require(file.path.ends_with(".lance") && file.path.find('/') == std::string::npos,
          "'" + file.path + "' is no data file's name");
  file.fields = Integers(json, "fields");
  file.column_indices = Integers(json, "column_indices");
  Require(!file.fields.empty() && file.fields.size() == file.column_indices.size(),
          "the file's fields and columns differ in number");
  file.file_major_version = Integer<uint32_t>(json, "file_major_version");
  file.file_minor_version = Integer<uint32_t>(json, "file_minor_version");
  file.file_size_bytes = Integer<uint64_t>(json, "file_size_bytes");
  return file;
}

Json ToJson(const wire::DeletionFile& file) {
  Json json{{"file_type", static_cast<uint32_t>(file.file_type)},
            {"read_version", file.read_version},
            {"id", file.id},
            {"num_deleted_rows", file.num_deleted_rows}};
  Put(json, "base_id", file.base_id);
  return json;
}

wire::DeletionFile DeletionFileFrom(const Json& json) {
  wire::DeletionFile file;
  const auto type = Integer<uint32_t>(json, "file_type");
  Require(type <= 1, "the deletion file is of no known type");
  file.file_type = static_cast<wire::DeletionFileType>(type);
  file.read_version = Integer<uint64_t>(json, "read_version");
  file.id = Integer<uint64_t>(json, "id");
  file.num_deleted_rows = Integer<uint64_t>(json, "num_deleted_rows");
  file.base_id = OptionalInteger<uint32_t>(json, "base_id");
  return file;
}

wire::Schema SchemaFrom(const std::string& hex) {
  const auto schema = TableSchema::Parse(FromHex(hex));
  Require(schema.ok(), schema.ok() ? "" : schema.status().message());
  return StateOf(*schema)->schema;
}

// What the file holds are fields of the schema, each once.
void RequireColumns(const dataset::StagedColumnsState& state) {
  std::set<int32_t> known;
  wire::CollectFieldIds(state.schema.fields, &known);
  for (const int32_t id : state.file.fields) {
    Require(known.erase(id) == 1, fmt::format("the file's field {} is not in the schema", id));
  }
}

// A path that is no UTF-8 cannot be JSON; what is replaced shows that.
template <typename AnyJson>
std::string Dump(const AnyJson& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of all that is said, in whatever order and layout. What is said of a file cannot be held against
// it without opening it, so another fragment or column would go unnoticed.
std::string ChecksumOf(const Json& json) {
  nlohmann::json sorted = json;
  sorted.erase("checksum");
  return fmt::format("{:016x}", XxHash64(wire::AsBytes(Dump(sorted))));
}

dataset::StagedColumnsState StateFrom(const Json& json) {
  Require(json.is_object() && json.value("format", 0) == kFormat,
          "it is not of a format that is known");
  dataset::StagedColumnsState state;
  state.uri = json.at("uri").get<std::string>();
  state.snapshot = json.at("snapshot").get<std::string>();
  state.read_version = Integer<uint64_t>(json, "read_version");
  state.fragment_id = Integer<uint64_t>(json, "fragment_id");
  state.physical_rows = Integer<uint64_t>(json, "physical_rows");
  state.anchor = json.at("anchor").get<std::string>();
  state.anchor_base_id = OptionalInteger<uint32_t>(json, "anchor_base_id");
  if (json.contains("deletion_file")) {
    state.deletion_file = DeletionFileFrom(json.at("deletion_file"));
  }
  state.max_field_id = Integer<int32_t>(json, "max_field_id");
  state.file = FileFrom(json.at("file"));
  state.schema = SchemaFrom(json.at("schema").get<std::string>());
  state.replaced = WitnessesFrom(json.at("replaced"));
  state.read = WitnessesFrom(json.at("read"));
  for (const int32_t id : Integers(json, "read_fields")) state.read_fields.insert(id);
  RequireColumns(state);
  Require(json.at("checksum").get<std::string>() == ChecksumOf(json),
          "it was changed after it was made: its checksum does not fit");
  return state;
}

}  // namespace

arrow::Result<StagedColumns> StagedColumns::FromJson(std::string_view json) {
  try {
    return dataset::MakeStagedColumns(StateFrom(Json::parse(json)));
  } catch (const std::exception& error) {
    return InvalidInput("not staged columns: {}", error.what());
  }
}

std::string StagedColumns::ToJson() const {
  Json json{{"format", kFormat},
            {"uri", state_->uri},
            {"snapshot", state_->snapshot},
            {"read_version", state_->read_version},
            {"fragment_id", state_->fragment_id},
            {"physical_rows", state_->physical_rows},
            {"anchor", state_->anchor}};
  Put(json, "anchor_base_id", state_->anchor_base_id);
  if (state_->deletion_file) json["deletion_file"] = glaive::ToJson(*state_->deletion_file);
  json["max_field_id"] = state_->max_field_id;
  json["file"] = glaive::ToJson(state_->file);
  json["replaced"] = glaive::ToJson(state_->replaced);
  json["read"] = glaive::ToJson(state_->read);
  json["read_fields"] = state_->read_fields;
  const auto schema = this->schema();
  if (schema.ok()) json["schema"] = Hex(schema->Serialize());
  json["checksum"] = ChecksumOf(json);
  return Dump(json);
}

uint64_t StagedColumns::fragment_id() const { return state_->fragment_id; }

uint64_t StagedColumns::read_version() const { return state_->read_version; }

uint64_t StagedColumns::physical_rows() const { return state_->physical_rows; }

const std::string& StagedColumns::path() const { return state_->file.path; }

uint64_t StagedColumns::size_bytes() const { return state_->file.file_size_bytes; }

arrow::Result<TableSchema> StagedColumns::schema() const {
  return table::MakeTableSchema(state_->schema);
}

bool StagedColumns::operator==(const StagedColumns& other) const {
  return *state_ == *other.state_;
}

ColumnWriteConflict::ColumnWriteConflict(std::optional<uint64_t> fragment_id, std::string field,
                                         FieldWitness staged, FieldWitness current)
    : ErrorDetail(ErrorKind::kCommitConflict, true, "", std::nullopt),
      fragment_id_(fragment_id),
      field_(std::move(field)),
      staged_(std::move(staged)),
      current_(std::move(current)) {}

const ColumnWriteConflict* ColumnWriteConflict::Of(const arrow::Status& status) {
  return dynamic_cast<const ColumnWriteConflict*>(ErrorDetail::Of(status));
}

}  // namespace glaive
