#include "table/versions/hint.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "table/versions/versions.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

bool IsTurnedOff() {
  const char* value = std::getenv("LANCE_USE_VERSION_HINT");
  if (value == nullptr) return false;
  std::string text = value;
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "0" || text == "false" || text == "off";
}

// What follows a key, in an object that has nothing else of interest.
std::string_view Behind(std::string_view key, std::string_view json) {
  constexpr std::string_view kBetween = " \t\r\n:";
  const size_t found = json.find(key);
  if (found == std::string_view::npos) return {};
  json.remove_prefix(found + key.size());
  json.remove_prefix(std::min(json.find_first_not_of(kBetween), json.size()));
  return json;
}

std::optional<VersionHint> ParseHint(std::string_view json) {
  VersionHint hint;
  const std::string_view number = Behind("\"version\"", json);
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), hint.version);
  if (parsed.ec != std::errc() || hint.version == 0 || IsDetached(hint.version)) {
    return std::nullopt;
  }
  std::string_view uuid = Behind("\"transaction\"", json);
  if (uuid.starts_with('"')) {
    uuid.remove_prefix(1);
    hint.transaction = uuid.substr(0, uuid.find('"'));
  }
  return hint;
}

}  // namespace

std::string VersionHintPath(const TableLocation& table) {
  return table.Path("_versions/latest_version_hint.json");
}

std::optional<VersionHint> ReadVersionHint(const TableLocation& table) {
  if (table.store->lists_cheaply() || IsTurnedOff()) return std::nullopt;
  const auto bytes = table.store->ReadWhole(VersionHintPath(table));
  if (!bytes.ok()) return std::nullopt;
  return ParseHint((*bytes)->ToString());
}

void WriteVersionHint(const TableLocation& table, const Manifest& manifest) {
  if (IsTurnedOff()) return;
  std::string hint = "{\"version\":" + std::to_string(manifest.version);
  if (const auto uuid = TransactionUuidOf(manifest)) hint += ",\"transaction\":\"" + *uuid + '"';
  hint += '}';
  // A hint that is missing or old only costs its reader a look further.
  (void)table.store->Put(VersionHintPath(table), wire::AsBytes(hint));
}

}  // namespace glaive::table
