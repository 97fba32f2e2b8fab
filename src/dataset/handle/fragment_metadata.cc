#include "glaive/fragment.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "dataset/handle/fragment_conversion.h"
#include "dataset/handle/fragment_state.h"
#include "table/rows/deletion_vector.h"
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
  const auto overlay = dataset::OverlayInfoOf(message);
  if (!overlay.ok()) return nullptr;
  Json json;
  json["data_file"] = ToJson(dataset::WireOf(overlay->data_file));
  json["offsets"] = overlay->per_field ? Json(overlay->offsets) : Json(overlay->offsets.front());
  json["committed_version"] = OrNull(overlay->committed_version);
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

std::vector<uint32_t> Offsets(const Json& json) {
  std::vector<uint32_t> offsets;
  for (const Json& offset : json) offsets.push_back(Integer<uint32_t>(offset, "an offset"));
  std::ranges::sort(offsets);
  return offsets;
}

// A list of offsets for all fields, or a list of such lists.
std::string OverlayFrom(const Json& json) {
  if (!json.is_object()) throw BadJson("an overlay is not an object");
  const Json* file = FindValue(json, "data_file");
  const Json* offsets = FindValue(json, "offsets");
  if (file == nullptr) throw BadJson("an overlay has no 'data_file'");
  if (offsets == nullptr || !offsets->is_array()) throw BadJson("'offsets' is not a list");
  OverlayFile overlay{.data_file = dataset::InfoOf(DataFileFrom(*file))};
  overlay.per_field = !offsets->empty() && offsets->front().is_array();
  if (overlay.per_field) {
    for (const Json& list : *offsets) overlay.offsets.push_back(Offsets(list));
  } else {
    overlay.offsets.push_back(Offsets(*offsets));
  }
  overlay.committed_version = OptionalInteger<uint64_t>(json, "committed_version");
  const auto message = dataset::OverlayMessageOf(overlay);
  if (!message.ok()) throw BadJson(message.status().message());
  return *message;
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

std::optional<dataset::TableIdentity> WrittenForFrom(const Json& json) {
  const Json* value = FindValue(json, kWrittenFor);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) throw BadJson("'written_for' is not an object");
  return dataset::TableIdentity{IntegerAt<uint64_t>(*value, "version"),
                                StringAt(*value, "transaction")};
}

}  // namespace

arrow::Result<FragmentMetadata> FragmentMetadata::FromJson(std::string_view json) {
  try {
    const Json parsed = Json::parse(json);
    wire::DataFragment fragment = FragmentFrom(parsed);
    return dataset::MakeFragmentMetadata(std::move(fragment), WrittenForFrom(parsed));
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
  if (const auto& target = state_->written_for) {
    json[kWrittenFor] = {{"version", target->version}, {"transaction", target->transaction}};
  }
  // A path that is no UTF-8 cannot be JSON; what is replaced shows that.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

uint64_t FragmentMetadata::id() const { return state_->fragment.id; }

uint64_t FragmentMetadata::physical_rows() const { return state_->fragment.physical_rows; }

uint64_t FragmentMetadata::num_deletions() const {
  // Of rows that are not counted none is: see RowsOfFragment.
  const auto& file = state_->fragment.deletion_file;
  return file ? std::min(file->num_deleted_rows, state_->fragment.physical_rows) : 0;
}

std::vector<DataFileInfo> FragmentMetadata::files() const {
  std::vector<DataFileInfo> files;
  for (const wire::DataFile& file : state_->fragment.files) files.push_back(dataset::InfoOf(file));
  return files;
}

arrow::Result<std::vector<OverlayFile>> FragmentMetadata::overlays() const {
  std::vector<OverlayFile> overlays;
  for (const std::string& message : state_->fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(auto overlay, dataset::OverlayInfoOf(message));
    overlays.push_back(std::move(overlay));
  }
  return overlays;
}

std::optional<DeletionFileInfo> FragmentMetadata::deletion_file() const {
  const auto& file = state_->fragment.deletion_file;
  if (!file) return std::nullopt;
  DeletionFileInfo info{file->read_version, file->id,
                        file->file_type == wire::DeletionFileType::kBitmap};
  if (file->num_deleted_rows != 0) info.num_deleted_rows = file->num_deleted_rows;
  info.base_id = file->base_id;
  info.path = table::DeletionFilePath(id(), *file);
  return info;
}

std::optional<WrittenFor> FragmentMetadata::written_for() const {
  const auto& target = state_->written_for;
  if (!target) return std::nullopt;
  return WrittenFor{.version = target->version, .transaction = target->transaction};
}

bool FragmentMetadata::has_files_only() const {
  const wire::DataFragment& fragment = state_->fragment;
  const auto absent = [](const wire::RowSequence& sequence) {
    return std::holds_alternative<std::monostate>(sequence);
  };
  return !fragment.deletion_file && fragment.overlays.empty() && absent(fragment.row_ids) &&
         absent(fragment.created_at_versions) && absent(fragment.last_updated_at_versions);
}

bool FragmentMetadata::operator==(const FragmentMetadata& other) const {
  return state_->fragment == other.state_->fragment;
}

}  // namespace glaive
