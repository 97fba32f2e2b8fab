#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "table/commit.h"
#include "table/feature_flags.h"
#include "table/manifest_codec.h"
#include "table/manifest_file.h"
#include "table/transaction_codec.h"

namespace glaive::table {
namespace {

constexpr std::string_view kSuffix = ".manifest";
constexpr size_t kV2Digits = 20;

// Names of leftovers (".tmp…", "….manifest-<uuid>") and of detached versions ("d…") are no numbers.
std::optional<VersionEntry> EntryOf(std::string path, uint64_t size_bytes) {
  std::string_view name = path;
  name.remove_prefix(name.rfind('/') + 1);
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  const bool v2 = name.size() == kV2Digits;
  return VersionEntry{.version = v2 ? std::numeric_limits<uint64_t>::max() - number : number,
                      .path = std::move(path),
                      .scheme = v2 ? NamingScheme::kV2 : NamingScheme::kV1,
                      .size_bytes = size_bytes};
}

arrow::Status CheckOneScheme(const std::vector<VersionEntry>& entries) {
  const auto other = std::ranges::find_if(
      entries, [&](const VersionEntry& entry) { return entry.scheme != entries.front().scheme; });
  if (other == entries.end()) return arrow::Status::OK();
  return Corrupt({other->path}, "the manifest is named by another scheme than {}",
                 entries.front().path);
}

std::optional<uint64_t> KnownSize(const VersionEntry& entry) {
  if (entry.size_bytes == 0) return std::nullopt;
  return entry.size_bytes;
}

arrow::Status VersionNotFound(const TableLocation& table, uint64_t version) {
  return NotFound("Dataset at path {} version {} was not found", table.uri, version);
}

arrow::Result<ManifestPtr> Parse(const VersionEntry& entry, ManifestFile file) {
  ARROW_ASSIGN_OR_RAISE(auto message, file.ReadMessage());
  ARROW_ASSIGN_OR_RAISE(
      ParsedManifest parsed,
      ParseManifest(std::move(message), {entry.path, file.manifest_offset() + sizeof(uint32_t)}));
  Manifest& manifest = parsed.manifest;
  manifest.naming_scheme = entry.scheme;
  manifest.path = entry.path;
  manifest.size_bytes = file.size_bytes();
  ARROW_RETURN_NOT_OK(CheckReadable(manifest));
  if (manifest.version != entry.version) {
    return Corrupt({entry.path}, "the manifest is of version {}, its name says {}",
                   manifest.version, entry.version);
  }
  if (parsed.index_section) {
    ARROW_ASSIGN_OR_RAISE(const auto section, file.ReadSection(*parsed.index_section));
    manifest.index_section = section->ToString();
  }
  manifest.transaction_section = parsed.transaction_section;
  return std::make_shared<const Manifest>(std::move(manifest));
}

}  // namespace

std::string TableLocation::Path(std::string_view relative) const {
  std::string path = root;
  if (!path.ends_with('/')) path += '/';
  return path += relative;
}

std::string ManifestName(uint64_t version, NamingScheme scheme) {
  if (IsDetached(version)) return "d" + std::to_string(version) + std::string(kSuffix);
  if (scheme == NamingScheme::kV1) return std::to_string(version) + std::string(kSuffix);
  const std::string digits = std::to_string(std::numeric_limits<uint64_t>::max() - version);
  return std::string(kV2Digits - digits.size(), '0') + digits + std::string(kSuffix);
}

arrow::Result<std::vector<VersionEntry>> ListManifests(const TableLocation& table) {
  const std::string folder = table.Path("_versions");
  ARROW_ASSIGN_OR_RAISE(const auto names, table.store->ListNames(folder));
  std::vector<VersionEntry> entries;
  for (const std::string& name : names) {
    if (auto entry = EntryOf(folder + "/" + name, 0)) entries.push_back(*std::move(entry));
  }
  std::ranges::sort(entries, {}, &VersionEntry::version);
  return entries;
}

arrow::Result<std::vector<VersionEntry>> NewerVersions(const TableLocation& table,
                                                       uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(auto entries, ListManifests(table));
  ARROW_RETURN_NOT_OK(CheckOneScheme(entries));
  if (entries.empty()) return NotFound("Dataset at path {} was not found", table.uri);
  if (entries.back().version < version) {
    return NotFound("Dataset at path {} version {} was not found: the newest is {}", table.uri,
                    version, entries.back().version);
  }
  std::erase_if(entries, [&](const VersionEntry& entry) { return entry.version <= version; });
  return entries;
}

arrow::Result<std::vector<VersionEntry>> ListVersions(const TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, table.store->List(table.Path("_versions")));
  std::vector<VersionEntry> entries;
  for (const io::ObjectInfo& object : objects) {
    if (auto entry = EntryOf(object.path, object.size_bytes)) entries.push_back(*std::move(entry));
  }
  std::ranges::sort(entries, {}, &VersionEntry::version);
  ARROW_RETURN_NOT_OK(CheckOneScheme(entries));
  return entries;
}

arrow::Result<std::optional<VersionEntry>> LatestVersion(const TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(auto entries, ListVersions(table));
  if (entries.empty()) return std::nullopt;
  return std::move(entries.back());
}

arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, const VersionEntry& entry) {
  auto file = ManifestFile::Open(table, entry.path, KnownSize(entry));
  if (!file.ok() && KindOf(file.status()) == ErrorKind::kFileNotFound) {
    return VersionNotFound(table, entry.version);
  }
  ARROW_RETURN_NOT_OK(file.status());
  return Parse(entry, *std::move(file));
}

arrow::Result<VersionEntry> FindVersion(const TableLocation& table, uint64_t version) {
  for (const NamingScheme scheme : {NamingScheme::kV2, NamingScheme::kV1}) {
    const std::string path = table.Path("_versions/" + ManifestName(version, scheme));
    ARROW_ASSIGN_OR_RAISE(const auto info, table.store->Head(path));
    if (info) return VersionEntry{version, path, scheme, info->size_bytes};
  }
  return VersionNotFound(table, version);
}

arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, uint64_t version) {
  for (const NamingScheme scheme : {NamingScheme::kV2, NamingScheme::kV1}) {
    const std::string path = table.Path("_versions/" + ManifestName(version, scheme));
    auto file = ManifestFile::Open(table, path, std::nullopt);
    if (!file.ok() && KindOf(file.status()) == ErrorKind::kFileNotFound) continue;
    ARROW_RETURN_NOT_OK(file.status());
    const VersionEntry entry = {version, path, scheme, file->size_bytes()};
    return Parse(entry, *std::move(file));
  }
  return VersionNotFound(table, version);
}

arrow::Result<ManifestPtr> ReadLatestManifest(const TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, ListVersions(table));
  if (entries.empty()) return NotFound("Dataset at path {} was not found", table.uri);
  const VersionEntry& head = entries.back();
  auto file = ManifestFile::Open(table, head.path, KnownSize(head));
  if (file.ok()) return Parse(head, *std::move(file));
  // A head that is cut short was never published whole: the version before it is the newest.
  if (KindOf(file.status()) != ErrorKind::kCorrupt || entries.size() == 1) return file.status();
  const VersionEntry& previous = entries[entries.size() - 2];
  auto manifest = ReadManifest(table, previous);
  if (!manifest.ok()) return file.status();
  std::fprintf(stderr, "glaive: warning: %s; opening version %llu instead\n",
               file.status().message().c_str(), static_cast<unsigned long long>(previous.version));
  return manifest;
}

arrow::Result<std::optional<Transaction>> ReadTransaction(const TableLocation& table,
                                                          const VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(auto file, ManifestFile::Open(table, entry.path, KnownSize(entry)));
  ARROW_ASSIGN_OR_RAISE(auto message, file.FindTransaction());
  std::string path = entry.path;
  if (message == nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto manifest, file.ReadMessage());
    ARROW_ASSIGN_OR_RAISE(const ParsedManifest parsed, ParseManifest(manifest, {entry.path}));
    if (parsed.manifest.transaction_file.empty()) return std::nullopt;
    path = table.Path("_transactions/" + parsed.manifest.transaction_file);
    auto reader = table.store->OpenRead(path);
    if (!reader.ok() && KindOf(reader.status()) == ErrorKind::kFileNotFound) return std::nullopt;
    ARROW_RETURN_NOT_OK(reader.status());
    ARROW_ASSIGN_OR_RAISE(message, (*reader)->Read({0, (*reader)->size_bytes()}));
  }
  const std::span bytes(reinterpret_cast<const std::byte*>(message->data()),
                        static_cast<size_t>(message->size()));
  ARROW_ASSIGN_OR_RAISE(Transaction transaction, ParseTransaction(bytes, {path}));
  return transaction;
}

}  // namespace glaive::table
