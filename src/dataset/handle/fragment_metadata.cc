#include "glaive/fragment.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "table/manifest/fragment_metadata.h"
#include "wire/fields.h"
#include "wire/fragment.h"
#include "wire/overlay.h"
#include "wire/relative_path.h"

namespace glaive {
namespace {

using Json = nlohmann::ordered_json;  // keys in pylance's order

// A key of ours, of fragments that were written for a WriteTarget alone; pylance passes over it.
constexpr const char* kWrittenFor = "written_for";

// nlohmann's exceptions end in FromJson.
class BadJson : public std::exception {
 public:
  explicit BadJson(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ToJson(const wire::DataFile& file) {
  Json json;
  json["fields"] = file.fields;
  json["column_indices"] = file.column_indices;
  json["file_major_version"] = file.file_major_version;
  json["file_minor_version"] = file.file_minor_version;
  json["file_size_bytes"] = file.file_size_bytes != 0 ? Json(file.file_size_bytes) : Json(nullptr);
  json["base_id"] = OrNull(file.base_id);
  json["path"] = file.path;
  return json;
}

// What cannot be read is told by what reads the fragment's rows; here it shows as no overlay.
Json OverlayJson(const std::string& message) {
  const auto overlay = wire::ParseOverlay(wire::AsBytes(message), {"(overlay)"});
  if (!overlay.ok()) return nullptr;
  Json lists = Json::array();
  for (const std::string& bitmap : overlay->offset_bitmaps) {
    const auto offsets = ReadBitmap(bitmap);
    if (!offsets.ok()) return nullptr;
    lists.push_back(*offsets);
  }
  const uint64_t version = overlay->committed_version;
  Json json;
  json["data_file"] = ToJson(overlay->data_file);
  json["offsets"] = overlay->per_field ? lists : lists.front();
  json["committed_version"] = version != 0 ? Json(version) : Json(nullptr);
  return json;
}

Json ToJson(const wire::DeletionFile& file) {
  Json json;
  json["read_version"] = file.read_version;
  json["id"] = file.id;
  json["file_type"] = file.file_type == wire::DeletionFileType::kBitmap ? "bitmap" : "array";
  json["num_deleted_rows"] = file.num_deleted_rows;
  json["base_id"] = OrNull(file.base_id);
  return json;
}

// Row ids name their arms with a capital, row versions do not, and an arm without content is a
// string in one and an empty object in the other.
struct ArmNames {
  const char* inline_arm;
  const char* column_arm;
  bool column_is_string;
};
constexpr ArmNames kRowIdArms = {"Inline", "Column", true};
constexpr ArmNames kRowVersionArms = {"inline", "column", false};

Json ToJson(const wire::RowSequence& sequence, const ArmNames& names) {
  if (const auto* inlined = std::get_if<wire::InlineSequence>(&sequence)) {
    Json bytes = Json::array();
    for (const char byte : inlined->bytes) bytes.push_back(static_cast<uint8_t>(byte));
    return {{names.inline_arm, std::move(bytes)}};
  }
  if (std::holds_alternative<wire::ColumnSequence>(sequence)) {
    if (names.column_is_string) return names.column_arm;
    return {{names.column_arm, Json::object()}};
  }
  return nullptr;
}

// Absent and null are the same.
const Json* FindValue(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null() ? &*found : nullptr;
}

template <typename T>
T Integer(const Json& json, const char* what) {
  if (!json.is_number_unsigned() && !json.is_number_integer()) {
    throw BadJson(std::string(what) + " is not an integer");
  }
  if (json.is_number_unsigned()) {
    const auto value = json.get<uint64_t>();
    if (std::in_range<T>(value)) return static_cast<T>(value);
  } else if (const auto value = json.get<int64_t>(); std::in_range<T>(value)) {
    return static_cast<T>(value);
  }
  throw BadJson(std::string(what) + " is out of range: " + json.dump());
}

template <typename T>
T IntegerAt(const Json& json, const char* key) {
  const Json* value = FindValue(json, key);
  if (value == nullptr) throw BadJson(std::string("'") + key + "' is missing");
  return Integer<T>(*value, key);
}

template <typename T>
std::optional<T> OptionalInteger(const Json& json, const char* key) {
  const Json* value = FindValue(json, key);
  return value != nullptr ? std::optional(Integer<T>(*value, key)) : std::nullopt;
}

std::vector<int32_t> Integers(const Json& json, const char* key, bool required) {
  const Json* value = FindValue(json, key);
  if (value == nullptr && !required) return {};
  if (value == nullptr || !value->is_array()) {
    throw BadJson(std::string("'") + key + "' is not a list of integers");
  }
  std::vector<int32_t> integers;
  for (const Json& item : *value) integers.push_back(Integer<int32_t>(item, key));
  return integers;
}

std::string StringAt(const Json& json, const char* key) {
  const Json* value = FindValue(json, key);
  if (value == nullptr || !value->is_string()) {
    throw BadJson(std::string("'") + key + "' is not a string");
  }
  return value->get<std::string>();
}

wire::DataFile DataFileFrom(const Json& json) {
  if (!json.is_object()) throw BadJson("a data file is not an object");
  wire::DataFile file;
  file.path = StringAt(json, "path");
  // Files are read, copied and removed by it.
  if (!wire::StaysBelow(file.path)) throw BadJson("'" + file.path + "' leaves the table's folder");
  file.fields = Integers(json, "fields", /*required=*/true);
  file.column_indices = Integers(json, "column_indices", /*required=*/false);
  file.file_major_version = OptionalInteger<uint32_t>(json, "file_major_version").value_or(0);
  file.file_minor_version = OptionalInteger<uint32_t>(json, "file_minor_version").value_or(0);
  file.file_size_bytes = OptionalInteger<uint64_t>(json, "file_size_bytes").value_or(0);
  file.base_id = OptionalInteger<uint32_t>(json, "base_id");
  return file;
}

std::string Offsets(const Json& json) {
  std::vector<uint32_t> offsets;
  for (const Json& offset : json) offsets.push_back(Integer<uint32_t>(offset, "an offset"));
  const auto bitmap = MakeBitmap(std::move(offsets));
  if (!bitmap.ok()) throw BadJson("'offsets': " + bitmap.status().message());
  return *bitmap;
}

// A list of offsets for all fields, or a list of such lists.
std::string OverlayFrom(const Json& json) {
  if (!json.is_object()) throw BadJson("an overlay is not an object");
  const Json* file = FindValue(json, "data_file");
  const Json* offsets = FindValue(json, "offsets");
  if (file == nullptr) throw BadJson("an overlay has no 'data_file'");
  if (offsets == nullptr || !offsets->is_array()) throw BadJson("'offsets' is not a list");
  OverlayFile overlay{.data_file = DataFileFrom(*file)};
  overlay.per_field = !offsets->empty() && offsets->front().is_array();
  if (overlay.per_field) {
    for (const Json& list : *offsets) overlay.offset_bitmaps.push_back(Offsets(list));
  } else {
    overlay.offset_bitmaps.push_back(Offsets(*offsets));
  }
  overlay.committed_version = OptionalInteger<uint64_t>(json, "committed_version").value_or(0);
  if (overlay.per_field && overlay.offset_bitmaps.size() != overlay.data_file.fields.size()) {
    throw BadJson("'offsets' are not those of each field");
  }
  return wire::Serialize(overlay);
}

wire::DeletionFile DeletionFileFrom(const Json& json) {
  if (!json.is_object()) throw BadJson("'deletion_file' is not an object");
  wire::DeletionFile file;
  const std::string type = StringAt(json, "file_type");
  if (type != "array" && type != "bitmap") throw BadJson("unknown file_type '" + type + "'");
  file.file_type =
      type == "bitmap" ? wire::DeletionFileType::kBitmap : wire::DeletionFileType::kArrowArray;
  file.read_version = IntegerAt<uint64_t>(json, "read_version");
  file.id = IntegerAt<uint64_t>(json, "id");
  file.num_deleted_rows = IntegerAt<uint64_t>(json, "num_deleted_rows");
  file.base_id = OptionalInteger<uint32_t>(json, "base_id");
  return file;
}

wire::RowSequence SequenceFrom(const Json& json, const char* key, const ArmNames& names) {
  const Json* value = FindValue(json, key);
  if (value == nullptr) return {};
  if (value->is_string() && value->get<std::string>() == names.column_arm) {
    return wire::ColumnSequence{};
  }
  if (value->is_object() && value->contains(names.column_arm)) return wire::ColumnSequence{};
  const Json* bytes = value->is_object() ? FindValue(*value, names.inline_arm) : nullptr;
  if (bytes == nullptr || !bytes->is_array()) {
    throw BadJson(std::string("'") + key + "' has no list '" + names.inline_arm + "'");
  }
  wire::InlineSequence sequence;
  for (const Json& byte : *bytes) {
    sequence.bytes.push_back(static_cast<char>(Integer<uint8_t>(byte, key)));
  }
  return sequence;
}

wire::DataFragment FragmentFrom(const Json& json) {
  if (!json.is_object()) throw BadJson("it is not an object");
  wire::DataFragment fragment;
  fragment.id = IntegerAt<uint64_t>(json, "id");
  fragment.physical_rows = IntegerAt<uint64_t>(json, "physical_rows");
  const Json* files = FindValue(json, "files");
  if (files == nullptr || !files->is_array()) throw BadJson("'files' is not a list");
  for (const Json& file : *files) fragment.files.push_back(DataFileFrom(file));
  if (const Json* file = FindValue(json, "deletion_file")) {
    fragment.deletion_file = DeletionFileFrom(*file);
  }
  if (const Json* overlays = FindValue(json, "overlays")) {
    if (!overlays->is_array()) throw BadJson("'overlays' is not a list");
    for (const Json& overlay : *overlays) fragment.overlays.push_back(OverlayFrom(overlay));
  }
  fragment.row_ids = SequenceFrom(json, "row_id_meta", kRowIdArms);
  fragment.created_at_versions = SequenceFrom(json, "created_at_version_meta", kRowVersionArms);
  fragment.last_updated_at_versions =
      SequenceFrom(json, "last_updated_at_version_meta", kRowVersionArms);
  return fragment;
}

std::optional<WrittenFor> WrittenForFrom(const Json& json) {
  const Json* value = FindValue(json, kWrittenFor);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) throw BadJson("'written_for' is not an object");
  return WrittenFor{IntegerAt<uint64_t>(*value, "version"), StringAt(*value, "transaction")};
}

}  // namespace

arrow::Result<FragmentMetadata> FragmentMetadata::FromJson(std::string_view json) {
  try {
    const Json parsed = Json::parse(json);
    wire::DataFragment fragment = FragmentFrom(parsed);
    return table::MakeFragmentMetadata(std::move(fragment), WrittenForFrom(parsed));
  } catch (const std::exception& error) {
    return InvalidInput("not the metadata of a fragment: {}", error.what());
  }
}

std::string FragmentMetadata::ToJson() const {
  const wire::DataFragment& fragment = state_->fragment;
  Json json;
  json["id"] = fragment.id;
  json["files"] = Json::array();
  for (const wire::DataFile& file : fragment.files) json["files"].push_back(glaive::ToJson(file));
  json["overlays"] = Json::array();
  for (const std::string& overlay : fragment.overlays) {
    json["overlays"].push_back(OverlayJson(overlay));
  }
  json["physical_rows"] = fragment.physical_rows;
  json["deletion_file"] =
      fragment.deletion_file ? glaive::ToJson(*fragment.deletion_file) : Json(nullptr);
  json["row_id_meta"] = glaive::ToJson(fragment.row_ids, kRowIdArms);
  json["created_at_version_meta"] = glaive::ToJson(fragment.created_at_versions, kRowVersionArms);
  json["last_updated_at_version_meta"] =
      glaive::ToJson(fragment.last_updated_at_versions, kRowVersionArms);
  if (const auto target = written_for()) {
    json[kWrittenFor] = {{"version", target->version}, {"transaction", target->transaction}};
  }
  // A path that is no UTF-8 cannot be JSON; what is replaced shows that.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace glaive
