#include "dataset/refs/files.h"

#include <exception>
#include <utility>

#include <arrow/buffer.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "dataset/handle/time_text.h"

namespace glaive::dataset {
namespace {

using Json = nlohmann::ordered_json;  // keys in pylance's order

constexpr const char* KindName(RefKind kind) { return kind == RefKind::kTag ? "tag" : "branch"; }

arrow::Result<std::string> ReadText(const table::TableLocation& main, RefKind kind,
                                    const std::string& name) {
  auto reader = main.store->OpenRead(RefPath(main, kind, name));
  if (!reader.ok() && KindOf(reader.status()) == ErrorKind::kFileNotFound) {
    return NotFound("Ref not found error: {} {} does not exist", KindName(kind), name);
  }
  ARROW_RETURN_NOT_OK(reader.status());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, (*reader)->Read({0, (*reader)->size_bytes()}));
  return bytes->ToString();
}

// The parser's errors, and those of values of other types than expected, are exceptions; they end
// here.
template <typename Use>
arrow::Status WithJson(const std::string& path, const std::string& text, Use&& use) {
  try {
    Json json = Json::parse(text);
    use(json);
    return arrow::Status::OK();
  } catch (const std::exception& error) {
    return Corrupt({path}, "not the JSON of a tag or branch: {}", error.what());
  }
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<std::string> OptionalText(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<int64_t> OptionalTime(const Json& json, const char* key) {
  const auto text = OptionalText(json, key);
  if (!text) return std::nullopt;
  const auto time = ParseTime(*text);
  if (!time) throw std::invalid_argument("not a time: " + *text);
  return time;
}

std::map<std::string, std::string> MetadataOf(const Json& json) {
  const auto found = json.find("metadata");
  if (found == json.end() || found->is_null()) return {};
  return found->get<std::map<std::string, std::string>>();
}

void Write(const TagInfo& tag, Json& json) {
  json["branch"] = OrNull(tag.branch);
  json["version"] = tag.version;
  if (tag.created_at_ns) json["createdAt"] = FormatTime(*tag.created_at_ns);
  if (tag.updated_at_ns) json["updatedAt"] = FormatTime(*tag.updated_at_ns);
  json["manifestSize"] = tag.manifest_size;
  json["metadata"] = Json(tag.metadata.empty() ? Json::object() : Json(tag.metadata));
}

void Write(const BranchInfo& branch, Json& json) {
  Json mapping = Json::array();
  for (const auto& [version, uuid] : branch.identifier) mapping.push_back({version, uuid});
  json["parentBranch"] = OrNull(branch.parent_branch);
  json["identifier"]["version_mapping"] = std::move(mapping);
  json["parentVersion"] = branch.parent_version;
  json["createAt"] = branch.created_at_s;
  json["manifestSize"] = branch.manifest_size;
  json["metadata"] = Json(branch.metadata.empty() ? Json::object() : Json(branch.metadata));
}

// Branches of old writers have no identifier. What stands for it is a hash of the rest, by which
// all engines agree: two FNV-1a of 64 bits from different beginnings.
std::vector<std::pair<uint64_t, std::string>> IdentifierOf(const std::string& name,
                                                           const BranchInfo& branch) {
  const std::string input = "branch_name=" + name +
                            "\nparent_branch=" + branch.parent_branch.value_or("") +
                            "\nparent_version=" + std::to_string(branch.parent_version) +
                            "\ncreate_at=" + std::to_string(branch.created_at_s);
  constexpr uint64_t kOffset = 0xcbf29ce484222325;
  std::string text;
  for (const uint64_t seed : {kOffset, kOffset ^ 0x9e3779b97f4a7c15}) {
    uint64_t hash = seed;
    for (const char byte : input) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    text += fmt::format("{:016x}", hash);
  }
  return {{0, text}};
}

BranchInfo BranchFrom(const std::string& name, const Json& json) {
  BranchInfo branch{.parent_branch = OptionalText(json, "parentBranch"),
                    .parent_version = json.at("parentVersion").get<uint64_t>(),
                    .identifier = {},
                    .created_at_s = json.at("createAt").get<uint64_t>(),
                    .manifest_size = json.at("manifestSize").get<uint64_t>(),
                    .metadata = MetadataOf(json)};
  const auto found = json.find("identifier");
  if (found == json.end()) {
    branch.identifier = IdentifierOf(name, branch);
    return branch;
  }
  for (const Json& entry : found->at("version_mapping")) {
    branch.identifier.emplace_back(entry.at(0).get<uint64_t>(), entry.at(1).get<std::string>());
  }
  return branch;
}

template <typename Info>
arrow::Status Create(const table::TableLocation& main, RefKind kind, const std::string& name,
                     const Info& info) {
  Json json;
  Write(info, json);
  const auto bytes = arrow::Buffer::FromString(json.dump(2));
  return main.store->PutIfAbsent(RefPath(main, kind, name), {{bytes}}, /*sync=*/true);
}

template <typename Info>
arrow::Status Replace(const table::TableLocation& main, RefKind kind, const std::string& name,
                      const Info& info) {
  const std::string path = RefPath(main, kind, name);
  ARROW_ASSIGN_OR_RAISE(std::string text, ReadText(main, kind, name));
  ARROW_RETURN_NOT_OK(WithJson(path, text, [&](Json& json) {
    Write(info, json);
    text = json.dump(2);
  }));
  return main.store->PutSynced(path, std::as_bytes(std::span(text)));
}

// `is_ours` is told what lies there now.
template <typename Read, typename IsOurs>
arrow::Status TakeBack(const table::TableLocation& main, RefKind kind, const std::string& name,
                       Read&& read, IsOurs&& is_ours) {
  ARROW_ASSIGN_OR_RAISE(const auto there, main.store->Head(RefPath(main, kind, name)));
  if (!there) return arrow::Status::OK();
  const auto info = read(main, name);
  if (!info.ok() && KindOf(info.status()) == ErrorKind::kNotFound) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(info.status());
  return is_ours(*info) ? main.store->DeleteIf(*there).status() : arrow::Status::OK();
}

}  // namespace

arrow::Status TakeBackRef(const table::TableLocation& main, const std::string& name,
                          const TagInfo& tag) {
  return TakeBack(main, RefKind::kTag, name, ReadTag, [&](const TagInfo& there) {
    return there.version == tag.version && there.created_at_ns == tag.created_at_ns &&
           there.updated_at_ns == tag.updated_at_ns;
  });
}

arrow::Status TakeBackRef(const table::TableLocation& main, const std::string& name,
                          const BranchInfo& branch) {
  return TakeBack(main, RefKind::kBranch, name, ReadBranch,
                  [&](const BranchInfo& there) { return there.identifier == branch.identifier; });
}

arrow::Result<TagInfo> ReadTag(const table::TableLocation& main, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, ReadText(main, RefKind::kTag, name));
  TagInfo tag;
  ARROW_RETURN_NOT_OK(WithJson(RefPath(main, RefKind::kTag, name), text, [&](const Json& json) {
    tag = {.branch = Standardized(OptionalText(json, "branch")),
           .version = json.at("version").get<uint64_t>(),
           .created_at_ns = OptionalTime(json, "createdAt"),
           .updated_at_ns = OptionalTime(json, "updatedAt"),
           .manifest_size = json.at("manifestSize").get<uint64_t>(),
           .metadata = MetadataOf(json)};
  }));
  return tag;
}

arrow::Result<BranchInfo> ReadBranch(const table::TableLocation& main, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, ReadText(main, RefKind::kBranch, name));
  BranchInfo branch;
  ARROW_RETURN_NOT_OK(WithJson(RefPath(main, RefKind::kBranch, name), text,
                               [&](const Json& json) { branch = BranchFrom(name, json); }));
  return branch;
}

arrow::Status CreateRef(const table::TableLocation& main, const std::string& name,
                        const TagInfo& tag) {
  return Create(main, RefKind::kTag, name, tag);
}
arrow::Status CreateRef(const table::TableLocation& main, const std::string& name,
                        const BranchInfo& branch) {
  return Create(main, RefKind::kBranch, name, branch);
}
arrow::Status ReplaceRef(const table::TableLocation& main, const std::string& name,
                         const TagInfo& tag) {
  return Replace(main, RefKind::kTag, name, tag);
}
arrow::Status ReplaceRef(const table::TableLocation& main, const std::string& name,
                         const BranchInfo& branch) {
  return Replace(main, RefKind::kBranch, name, branch);
}

}  // namespace glaive::dataset
