#include <algorithm>
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <ranges>
#include <set>

#include "table/manifest/codec.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/transaction_codec.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/hint.h"
#include "table/versions/naming_schemes.h"
#include "table/versions/versions.h"

namespace glaive::table {
namespace {

constexpr std::string_view kSuffix = ".manifest";
constexpr size_t kV2Digits = 20;
constexpr int kMostListings = 8;  // where one may be old, or no snapshot

struct NamedVersion {
  uint64_t version;
  NamingScheme scheme;
};

// Names of leftovers (".tmp…", "….manifest-<uuid>") and of detached versions ("d…") are no numbers.
std::optional<NamedVersion> VersionOf(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (name.size() != kV2Digits) return NamedVersion{number, NamingScheme::kV1};
  return NamedVersion{std::numeric_limits<uint64_t>::max() - number, NamingScheme::kV2};
}

std::optional<VersionEntry> EntryOf(io::ObjectInfo info) {
  const auto named = VersionOf(std::string_view(info.path).substr(info.path.rfind('/') + 1));
  if (!named) return std::nullopt;
  return VersionEntry{named->version,  std::move(info.path), named->scheme,
                      info.size_bytes, info.modified_ns,     info.file_id};
}

arrow::Status TwoSchemes(std::string_view path, std::string_view other) {
  return Corrupt({path}, "the manifest is named by another scheme than {}", other);
}

// Leaves the versions of a table, which are named by one scheme. Returns the others.
arrow::Result<std::vector<VersionEntry>> SettleOnOneScheme(const TableLocation& table,
                                                           std::vector<VersionEntry>& entries) {
  ARROW_ASSIGN_OR_RAISE(auto others, TakeOutNoVersions(table, &entries));
  const auto is_other = [&](const VersionEntry& entry) {
    return entry.scheme != entries.front().scheme;
  };
  const auto other = std::ranges::find_if(entries, is_other);
  if (other == entries.end()) return others;
  return TwoSchemes(other->path, entries.front().path);
}

// Where a version lies, of whatever name; nothing where there is none.
arrow::Result<std::optional<VersionEntry>> LookFor(const TableLocation& table, uint64_t version,
                                                   std::initializer_list<NamingScheme> schemes) {
  for (const NamingScheme scheme : schemes) {
    ARROW_ASSIGN_OR_RAISE(
        auto info, table.store->Head(table.Path("_versions/" + ManifestName(version, scheme))));
    if (info) {
      VersionEntry entry{version,          std::move(info->path), scheme,
                         info->size_bytes, info->modified_ns,     info->file_id};
      ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, entry));
      if (!is_held) return entry;
    }
  }
  return std::nullopt;
}

// Numbers between the first and the last that a listing lacks. Listings are no snapshots: what was
// put while one ran may be missing beside what was put later.
arrow::Status FillGaps(const TableLocation& table, std::vector<VersionEntry>& entries) {
  std::vector<VersionEntry> whole;
  for (VersionEntry& entry : entries) {
    const uint64_t expected = whole.empty() ? entry.version : whole.back().version + 1;
    for (uint64_t version = expected; version < entry.version; ++version) {
      ARROW_ASSIGN_OR_RAISE(auto found, LookFor(table, version, {entry.scheme}));
      if (!found) break;  // and those after it are of no use
      whole.push_back(*std::move(found));
    }
    whole.push_back(std::move(entry));
  }
  entries = std::move(whole);
  return arrow::Status::OK();
}

// Versions follow each other without gaps, but for old ones that were cleaned up. So the newest is
// the one from `version` on, itself included, behind which nothing comes. Nothing where `version`
// is not there.
arrow::Result<std::vector<VersionEntry>> ProbeUpward(const TableLocation& table, uint64_t version) {
  std::vector<VersionEntry> found;
  ARROW_ASSIGN_OR_RAISE(auto entry,
                        LookFor(table, version, {NamingScheme::kV2, NamingScheme::kV1}));
  // Beside a first version of a V1 name, one of a V2 name is of a creator who yields.
  if (entry && version == 1 && entry->scheme == NamingScheme::kV2) {
    ARROW_ASSIGN_OR_RAISE(auto first, LookFor(table, version, {NamingScheme::kV1}));
    if (first) entry = std::move(first);
  }
  while (entry) {
    found.push_back(*std::move(entry));
    ARROW_ASSIGN_OR_RAISE(entry, LookFor(table, ++version, {found.back().scheme}));
  }
  return found;
}

// The version of the highest number that a listing shows.
arrow::Result<std::optional<VersionEntry>> HighestVersion(const TableLocation& table) {
  std::optional<NamingScheme> scheme;
  bool is_mixed = false;
  const auto rank = [&](std::string_view name) -> std::optional<uint64_t> {
    const auto named = VersionOf(name);
    if (!named) return std::nullopt;
    if (!scheme) scheme = named->scheme;
    is_mixed |= *scheme != named->scheme;
    return named->version;
  };
  ARROW_ASSIGN_OR_RAISE(auto info, table.store->FindHighest(table.Path("_versions"), rank));
  if (is_mixed) {
    ARROW_ASSIGN_OR_RAISE(auto entries, ListVersions(table));  // which knows of held names
    if (entries.empty()) return std::nullopt;
    return std::move(entries.back());
  }
  if (!info) return std::nullopt;
  auto entry = EntryOf(*std::move(info));
  ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, *entry));
  if (is_held) return std::nullopt;
  return entry;
}

std::optional<uint64_t> KnownSize(const VersionEntry& entry) {
  if (entry.size_bytes == 0) return std::nullopt;
  return entry.size_bytes;
}

arrow::Status VersionNotFound(const TableLocation& table, uint64_t version) {
  return NotFound("Dataset at path {} version {} was not found", table.uri, version);
}

// The fragments are opened while they are read.
arrow::Result<ParsedManifest> ReadMessage(const VersionEntry& entry, ManifestFile& file) {
  const Location where = {entry.path, file.manifest_offset() + sizeof(uint32_t)};
  std::optional<FragmentTable::Opener> fragments;
  const auto open_fragments = [&](const std::shared_ptr<arrow::Buffer>& message,
                                  uint64_t num_bytes) {
    if (!fragments) fragments.emplace(message, where);
    return fragments->Advance(num_bytes);
  };
  ARROW_ASSIGN_OR_RAISE(const auto message, file.ReadMessage(open_fragments));
  ARROW_ASSIGN_OR_RAISE(FragmentTable table, std::move(*fragments).Finish());
  return ParseManifest(message, where, std::move(table));
}

arrow::Result<ManifestPtr> Parse(const VersionEntry& entry, ManifestFile file) {
  ARROW_ASSIGN_OR_RAISE(ParsedManifest parsed, ReadMessage(entry, file));
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

// The last of the versions; one that is torn is passed over for the one before it.
arrow::Result<ManifestPtr> ReadHead(const TableLocation& table,
                                    const std::vector<VersionEntry>& entries) {
  const VersionEntry& head = entries.back();
  auto file = ManifestFile::Open(table, head.path, KnownSize(head));
  if (file.ok()) return Parse(head, *std::move(file));
  if (KindOf(file.status()) == ErrorKind::kFileNotFound) {
    return VersionNotFound(table, head.version);
  }
  // A head that is cut short was never published whole: the version before it is the newest.
  if (KindOf(file.status()) != ErrorKind::kCorrupt || entries.size() == 1) return file.status();
  const VersionEntry& previous = entries[entries.size() - 2];
  auto manifest = ReadManifest(table, previous);
  if (!manifest.ok()) return file.status();
  std::fprintf(stderr, "glaive: warning: %s; opening version %llu instead\n",
               file.status().message().c_str(), static_cast<unsigned long long>(previous.version));
  return manifest;
}

}  // namespace

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
    if (auto entry = EntryOf({.path = folder + "/" + name})) entries.push_back(*std::move(entry));
  }
  std::ranges::sort(entries, {}, &VersionEntry::version);
  return entries;
}

// Putting the next version if absent is the check of a hint that says `version`.
arrow::Result<std::vector<VersionEntry>> NewerVersions(const TableLocation& table, uint64_t version,
                                                       const std::optional<VersionHint>& hint,
                                                       bool trusts_hint) {
  if (hint) {
    if (trusts_hint && hint->version == version) return std::vector<VersionEntry>();
    ARROW_ASSIGN_OR_RAISE(auto found, ProbeUpward(table, version));
    if (!found.empty() && found.back().version >= hint->version) {
      found.erase(found.begin());
      return found;
    }
  }
  uint64_t newest = 0;
  for (int listing = 0; listing < kMostListings; ++listing) {
    ARROW_ASSIGN_OR_RAISE(auto entries, ListManifests(table));
    ARROW_RETURN_NOT_OK(SettleOnOneScheme(table, entries).status());
    newest = entries.empty() ? 0 : entries.back().version;
    std::erase_if(entries, [&](const VersionEntry& entry) { return entry.version <= version; });
    if (!entries.empty()) {
      // The one after `version` is looked for as well, should the listing lack it.
      if (entries.front().version != version + 1) {
        ARROW_ASSIGN_OR_RAISE(auto next, LookFor(table, version + 1, {entries.front().scheme}));
        if (next) entries.insert(entries.begin(), *std::move(next));
      }
      ARROW_RETURN_NOT_OK(FillGaps(table, entries));
      return entries;
    }
    if (trusts_hint && newest == version) return entries;
    // A listing may be old: names tell.
    ARROW_ASSIGN_OR_RAISE(auto found, ProbeUpward(table, version));
    if (!found.empty()) {
      found.erase(found.begin());
      return found;
    }
    if (newest == version) return entries;  // and it went since
    if (newest == 0) break;
    // It is older than `version`, which a clean-up took since.
  }
  if (newest == 0) return NotFound("Dataset at path {} was not found", table.uri);
  return NotFound("Dataset at path {} version {} was not found: the newest is {}", table.uri,
                  version, newest);
}

arrow::Result<std::vector<VersionEntry>> ListVersions(const TableLocation& table,
                                                      std::vector<VersionEntry>* no_versions) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, table.store->List(table.Path("_versions")));
  std::vector<VersionEntry> entries;
  for (const io::ObjectInfo& object : objects) {
    if (auto entry = EntryOf(object)) entries.push_back(*std::move(entry));
  }
  std::ranges::sort(entries, {}, &VersionEntry::version);
  ARROW_ASSIGN_OR_RAISE(auto others, SettleOnOneScheme(table, entries));
  if (entries.size() == 1) {
    ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, entries.front()));
    if (is_held) entries.swap(others);
  }
  *no_versions = std::move(others);
  return entries;
}

arrow::Result<std::vector<VersionEntry>> ListVersions(const TableLocation& table) {
  std::vector<VersionEntry> no_versions;
  return ListVersions(table, &no_versions);
}

arrow::Result<std::vector<VersionEntry>> ListDetachedVersions(const TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto objects, table.store->List(table.Path("_versions")));
  std::vector<VersionEntry> entries;
  for (const io::ObjectInfo& object : objects) {
    std::string_view name = std::string_view(object.path).substr(object.path.rfind('/') + 1);
    if (!name.starts_with('d') || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(1);
    name.remove_suffix(kSuffix.size());
    uint64_t version = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    entries.push_back({version, object.path, NamingScheme::kV2, object.size_bytes});
  }
  return entries;
}

arrow::Result<std::optional<VersionEntry>> LatestVersion(const TableLocation& table) {
  if (const auto hinted = ReadVersionHint(table)) {
    ARROW_ASSIGN_OR_RAISE(auto found, ProbeUpward(table, hinted->version));
    if (!found.empty()) return std::move(found.back());
  }
  // A listing may show nothing where every version that was there went, and every newer one came,
  // while it ran. Who wrote a version left a hint.
  for (int listing = 1;; ++listing) {
    ARROW_ASSIGN_OR_RAISE(auto entry, HighestVersion(table));
    if (entry || listing == kMostListings) return entry;
    ARROW_ASSIGN_OR_RAISE(const auto hint, table.store->Head(VersionHintPath(table)));
    if (!hint) return entry;
  }
}

arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, const VersionEntry& entry) {
  auto file = ManifestFile::Open(table, entry.path, KnownSize(entry));
  // Another manifest of another size may have the name since it was listed.
  if (!file.ok() && KindOf(file.status()) == ErrorKind::kCorrupt && KnownSize(entry)) {
    file = ManifestFile::Open(table, entry.path, std::nullopt);
  }
  if (!file.ok() && KindOf(file.status()) == ErrorKind::kFileNotFound) {
    return VersionNotFound(table, entry.version);
  }
  ARROW_RETURN_NOT_OK(file.status());
  return Parse(entry, *std::move(file));
}

arrow::Result<VersionEntry> FindVersion(const TableLocation& table, uint64_t version) {
  using enum NamingScheme;
  ARROW_ASSIGN_OR_RAISE(auto entry, LookFor(table, version, {kV2, kV1}));
  if (entry) {
    ARROW_ASSIGN_OR_RAISE(const bool is_lost, IsOfLostCreation(table, *entry));
    if (is_lost) {
      ARROW_ASSIGN_OR_RAISE(entry, LookFor(table, version, {kV1}));
    }
  }
  if (!entry) return VersionNotFound(table, version);
  return *std::move(entry);
}

arrow::Result<ManifestPtr> ReadManifest(const TableLocation& table, uint64_t version) {
  for (const NamingScheme scheme : {NamingScheme::kV2, NamingScheme::kV1}) {
    const std::string path = table.Path("_versions/" + ManifestName(version, scheme));
    auto file = ManifestFile::Open(table, path, std::nullopt);
    if (!file.ok() && KindOf(file.status()) == ErrorKind::kFileNotFound) continue;
    if (!file.ok() && KindOf(file.status()) == ErrorKind::kCorrupt) {
      ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, {version, path, scheme}));
      if (is_held) continue;
    }
    ARROW_RETURN_NOT_OK(file.status());
    const VersionEntry entry = {version, path, scheme, file->size_bytes()};
    ARROW_ASSIGN_OR_RAISE(const bool is_lost, IsOfLostCreation(table, entry));
    if (!is_lost) return Parse(entry, *std::move(file));
  }
  return VersionNotFound(table, version);
}

arrow::Result<ManifestPtr> ReadLatestManifest(const TableLocation& table) {
  for (int look = 1;; ++look) {
    ARROW_ASSIGN_OR_RAISE(const auto entries, ListVersions(table));
    if (entries.empty()) return NotFound("Dataset at path {} was not found", table.uri);
    auto head = ReadHead(table, entries);
    const bool has_gone = !head.ok() && KindOf(head.status()) == ErrorKind::kNotFound;
    if (!has_gone || look == kMostLooksForNewest) return head;
  }
}
arrow::Result<TransactionMessage> ReadTransactionMessage(const TableLocation& table,
                                                         const VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(auto file, ManifestFile::Open(table, entry.path, KnownSize(entry)));
  ARROW_ASSIGN_OR_RAISE(auto message, file.FindTransaction());
  std::string path = entry.path;
  if (message == nullptr) {
    ARROW_ASSIGN_OR_RAISE(const ParsedManifest parsed, ReadMessage(entry, file));
    if (parsed.manifest.transaction_file.empty()) return TransactionMessage{};
    path = table.Path("_transactions/" + parsed.manifest.transaction_file);
    auto reader = table.store->OpenRead(path);
    if (!reader.ok() && KindOf(reader.status()) == ErrorKind::kFileNotFound) {
      return TransactionMessage{};
    }
    ARROW_RETURN_NOT_OK(reader.status());
    ARROW_ASSIGN_OR_RAISE(message, (*reader)->Read({0, (*reader)->size_bytes()}));
  }
  return TransactionMessage{std::move(message), std::move(path)};
}

arrow::Result<std::optional<Transaction>> ReadTransaction(const TableLocation& table,
                                                          const VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(const auto found, ReadTransactionMessage(table, entry));
  if (found.message == nullptr) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(Transaction transaction, ParseTransaction(found.bytes(), {found.path}));
  return transaction;
}

}  // namespace glaive::table
