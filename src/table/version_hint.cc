#include "table/version_hint.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/fields.h"

namespace glaive::table {
namespace {

std::string HintPath(const TableLocation& table) {
  return table.Path("_versions/latest_version_hint.json");
}

bool IsTurnedOff() {
  const char* value = std::getenv("LANCE_USE_VERSION_HINT");
  if (value == nullptr) return false;
  std::string text = value;
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "0" || text == "false" || text == "off";
}

// The number behind "version", in an object that has nothing else of interest.
std::optional<uint64_t> ParseHint(std::string_view json) {
  constexpr std::string_view kKey = "\"version\"";
  constexpr std::string_view kBetween = " \t\r\n:";
  const size_t key = json.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  json.remove_prefix(key + kKey.size());
  json.remove_prefix(std::min(json.find_first_not_of(kBetween), json.size()));
  uint64_t version = 0;
  const auto parsed = std::from_chars(json.data(), json.data() + json.size(), version);
  if (parsed.ec != std::errc() || version == 0 || IsDetached(version)) return std::nullopt;
  return version;
}

}  // namespace

std::optional<uint64_t> ReadVersionHint(const TableLocation& table) {
  if (table.store->lists_cheaply() || IsTurnedOff()) return std::nullopt;
  const auto bytes = table.store->ReadWhole(HintPath(table));
  if (!bytes.ok()) return std::nullopt;
  return ParseHint((*bytes)->ToString());
}

void WriteVersionHint(const TableLocation& table, uint64_t version) {
  if (IsTurnedOff()) return;
  const std::string hint = "{\"version\":" + std::to_string(version) + "}";
  // A hint that is missing or old only costs its reader a look further.
  (void)table.store->Put(HintPath(table), wire::AsBytes(hint));
}

}  // namespace glaive::table
