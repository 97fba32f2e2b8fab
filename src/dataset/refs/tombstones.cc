#include "dataset/refs/tombstones.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <fmt/format.h>

#include "core/error.h"
#include "dataset/refs/file_references.h"
#include "table/commit/publish.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "table/versions/not_found.h"

namespace glaive::dataset {
namespace {

constexpr std::string_view kFolder = "_versions";
constexpr std::string_view kManifest = ".manifest";
constexpr std::string_view kGone = "-gone-";
constexpr std::string_view kPin = "-pin-";
constexpr std::string_view kFate = ".manifest-fate-";

std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Of the name of an attached version's manifest.
std::optional<table::VersionEntry> EntryOf(const std::string& folder, std::string_view name) {
  constexpr size_t kDigitsOfV2 = 20;
  if (!name.ends_with(kManifest)) return std::nullopt;
  const std::string_view digits = name.substr(0, name.size() - kManifest.size());
  const auto number = NumberIn(digits);
  if (!number) return std::nullopt;
  const bool is_v2 = digits.size() == kDigitsOfV2;
  return table::VersionEntry{
      .version = is_v2 ? std::numeric_limits<uint64_t>::max() - *number : *number,
      .path = fmt::format("{}/{}", folder, name),
      .scheme = is_v2 ? table::NamingScheme::kV2 : table::NamingScheme::kV1};
}

// "<manifest><word><rest>"
struct MarkName {
  table::VersionEntry version;
  std::string_view rest;
};
std::optional<MarkName> Split(const std::string& folder, std::string_view name,
                              std::string_view word) {
  const size_t at = name.find(word);
  if (at == name.npos) return std::nullopt;
  auto version = EntryOf(folder, name.substr(0, at));
  if (!version) return std::nullopt;
  return MarkName{*std::move(version), name.substr(at + word.size())};
}

std::string FatePath(const table::TableLocation& table, const std::string& run) {
  return table.Path(fmt::format("{}/{}{}", kFolder, kFate, run));
}

constexpr std::string_view kGoneLine = "gone ";
constexpr std::string_view kBackLine = "back ";

std::string TextOf(const Fate& fate) {
  std::string text;
  for (const uint64_t version : fate.gone) text += fmt::format("{}{}\n", kGoneLine, version);
  for (const uint64_t version : fate.back) text += fmt::format("{}{}\n", kBackLine, version);
  return text;
}

arrow::Result<Fate> ReadFate(const table::TableLocation& table, const std::string& run) {
  const std::string path = FatePath(table, run);
  ARROW_ASSIGN_OR_RAISE(const auto bytes, table.store->ReadWhole(path));
  Fate fate;
  std::string_view text(*bytes);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool is_gone = line.starts_with(kGoneLine);
    const auto number = NumberIn(line.substr(std::min(line.size(), kGoneLine.size())));
    if (!number || !(is_gone || line.starts_with(kBackLine))) {
      return Corrupt({path}, "not a list of versions");
    }
    (is_gone ? fate.gone : fate.back).insert(*number);
  }
  return fate;
}

}  // namespace

arrow::Result<VersionMarks> ListMarks(const table::TableLocation& table) {
  const std::string folder = table.Path(kFolder);
  ARROW_ASSIGN_OR_RAISE(const auto names, table.store->ListNames(folder));
  VersionMarks marks;
  std::vector<table::VersionEntry> attached;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (auto entry = EntryOf(folder, name)) {
      attached.push_back(*std::move(entry));
    } else if (name.starts_with(kFate)) {
      marks.decided.insert(name.substr(kFate.size()));
    } else if (auto gone = Split(folder, name, kGone)) {
      marks.tombstones.push_back({std::move(gone->version), path, std::string(gone->rest)});
    } else if (const auto pin = Split(folder, name, kPin)) {
      const auto as = NumberIn(pin->rest.substr(0, pin->rest.find('-')));
      if (as) marks.pins.push_back({pin->version.version, *as, path});
    }
  }
  std::ranges::sort(attached, {}, &table::VersionEntry::version);
  ARROW_RETURN_NOT_OK(table::TakeOutNoVersions(table, &attached).status());
  for (const table::VersionEntry& entry : attached) marks.attached.insert(entry.version);
  return marks;
}

std::string NewRunName() {
  std::string name = table::NewUuid();
  std::erase(name, '-');
  return name;
}

arrow::Result<std::optional<Tombstone>> Bury(const table::TableLocation& table,
                                             const table::VersionEntry& entry,
                                             const std::string& run) {
  Tombstone tombstone = {entry, entry.path + std::string(kGone) + run, run};
  const auto linked = table.store->Link(entry.path, tombstone.path);
  if (!linked.ok()) {
    // It may be there all the same.
    static_cast<void>(table.store->Delete(tombstone.path));
    if (KindOf(linked.status()) == ErrorKind::kFileNotFound) return std::nullopt;
    return linked.status();
  }
  const auto removed =
      table.store->DeleteIf({entry.path, entry.size_bytes, entry.modified_ns, entry.file_id});
  if (removed.ok() && !*removed) {
    ARROW_RETURN_NOT_OK(table.store->Delete(tombstone.path));
    return std::nullopt;
  }
  // After an error the name may be there or not: the next listing tells.
  return tombstone;
}

arrow::Result<table::ManifestPtr> ReadTombstone(const table::TableLocation& table,
                                                const Tombstone& tombstone) {
  table::VersionEntry entry = tombstone.version;
  entry.path = tombstone.path;
  entry.size_bytes = 0;
  return table::ReadManifest(table, entry);
}

arrow::Result<Fate> DecideFate(const table::TableLocation& table, const std::string& run,
                               const Fate& fate) {
  const auto text = arrow::Buffer::FromString(TextOf(fate));
  const arrow::Status put = table.store->PutIfAbsent(FatePath(table, run), {{text}},
                                                     /*sync=*/false);
  if (put.ok()) return fate;
  auto said = ReadFate(table, run);
  // What the store did when it failed is told by what is there.
  if (!said.ok() && KindOf(said.status()) == ErrorKind::kFileNotFound) return put;
  return said;
}

// Whether a manifest is the one that a tombstone holds, and not another one of its number: both are
// of one transaction.
arrow::Result<bool> Holds(const table::TableLocation& table, const Tombstone& tombstone,
                          const io::ObjectInfo& manifest, const io::ObjectInfo& buried) {
  if (manifest.size_bytes != buried.size_bytes) return false;
  table::VersionEntry entry = tombstone.version;
  entry.size_bytes = 0;
  const auto there = table::ReadTransaction(table, entry);
  entry.path = tombstone.path;
  const auto gone = table::ReadTransaction(table, entry);
  if (table::IsGone(there.status()) || table::IsGone(gone.status())) return false;
  ARROW_RETURN_NOT_OK(there.status());
  ARROW_RETURN_NOT_OK(gone.status());
  return !*there || !*gone || (*there)->uuid == (*gone)->uuid;
}

// Whether a version stays that was put back after its run was forgotten: another clean-up found it
// back, and finished the run. Or else that came before, and a later one has removed the version, or
// is about to: then there is a tombstone of which nobody said that it goes back, or files are gone.
arrow::Result<bool> IsBackForGood(const table::TableLocation& table,
                                  const table::VersionEntry& version) {
  ARROW_ASSIGN_OR_RAISE(const VersionMarks marks, ListMarks(table));
  for (const Tombstone& tombstone : marks.tombstones) {
    if (tombstone.version.version != version.version) continue;
    const auto fate = ReadFate(table, tombstone.run);
    if (!fate.ok() && KindOf(fate.status()) != ErrorKind::kFileNotFound) return fate.status();
    if (!fate.ok() || !fate->back.contains(version.version)) return false;
  }
  ARROW_ASSIGN_OR_RAISE(const auto manifest, table::ReadManifest(table, version));
  return HasAllFiles(table, *manifest);
}

// Another may have said the contrary of the run, once all that was said first had been done and was
// forgotten. Then it came before the version was back, and the version goes again.
arrow::Status PutBack(const table::TableLocation& table, const Tombstone& tombstone) {
  const std::string fate = FatePath(table, tombstone.run);
  ARROW_ASSIGN_OR_RAISE(const auto before, table.store->Head(fate));
  if (!before) return arrow::Status::OK();
  const auto bytes = table.store->ReadWhole(tombstone.path);
  if (!bytes.ok() && KindOf(bytes.status()) == ErrorKind::kFileNotFound) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(bytes.status());
  const arrow::Status put =
      table.store->PutIfAbsent(tombstone.version.path, {{*bytes}}, /*sync=*/true);
  if (!put.ok() && KindOf(put) != ErrorKind::kAlreadyExists) return put;
  ARROW_ASSIGN_OR_RAISE(const auto there, table.store->Head(tombstone.version.path));
  ARROW_ASSIGN_OR_RAISE(const auto after, table.store->Head(fate));
  if (!there) return arrow::Status::OK();
  if (after != before) {
    if (!put.ok()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const bool stays, IsBackForGood(table, tombstone.version));
    return stays ? arrow::Status::OK() : table.store->DeleteIf(*there).status();
  }
  // What a late writer put under the name is not this version.
  ARROW_ASSIGN_OR_RAISE(const auto spare, table.store->Head(tombstone.path));
  if (!spare) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const bool is_it, Holds(table, tombstone, *there, *spare));
  return is_it ? table.store->Delete(tombstone.path) : arrow::Status::OK();
}

arrow::Result<bool> RemoveSpare(const table::TableLocation& table, const Tombstone& tombstone) {
  const auto fate = ReadFate(table, tombstone.run);
  if (!fate.ok() && KindOf(fate.status()) == ErrorKind::kFileNotFound) return false;
  ARROW_RETURN_NOT_OK(fate.status());
  // Its owner took that name already, and does so once.
  if (!fate->back.contains(tombstone.version.version)) return false;
  ARROW_ASSIGN_OR_RAISE(const auto there, table.store->Head(tombstone.version.path));
  ARROW_ASSIGN_OR_RAISE(const auto spare, table.store->Head(tombstone.path));
  // What a late writer put under the name is not this version.
  if (!there || !spare) return false;
  ARROW_ASSIGN_OR_RAISE(const bool is_it, Holds(table, tombstone, *there, *spare));
  if (is_it) ARROW_RETURN_NOT_OK(table.store->Delete(tombstone.path));
  return is_it;
}

arrow::Status ForgetFate(const table::TableLocation& table, const std::string& run) {
  ARROW_ASSIGN_OR_RAISE(const auto said, table.store->Head(FatePath(table, run)));
  if (!said) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const VersionMarks marks, ListMarks(table));
  const auto is_of_run = [&](const Tombstone& each) { return each.run == run; };
  if (std::ranges::any_of(marks.tombstones, is_of_run)) return arrow::Status::OK();
  return table.store->DeleteIf(*said).status();
}

arrow::Status MakeAChange(const table::TableLocation& table, const std::string& run) {
  ARROW_RETURN_NOT_OK(DecideFate(table, run, {}).status());
  return table.store->Delete(FatePath(table, run));
}

arrow::Result<std::optional<Tombstone>> FindTombstone(const table::TableLocation& table,
                                                      uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(const VersionMarks marks, ListMarks(table));
  for (const Tombstone& tombstone : marks.tombstones) {
    if (tombstone.version.version != version) continue;
    if (!marks.decided.contains(tombstone.run)) return tombstone;
    ARROW_ASSIGN_OR_RAISE(const Fate fate, ReadFate(table, tombstone.run));
    if (!fate.gone.contains(version)) return tombstone;
  }
  return std::nullopt;
}

Pins::~Pins() {
  for (const std::string& path : paths_) static_cast<void>(table_.store->Delete(path));
}

arrow::Status Pins::Put(const table::VersionEntry& version, uint64_t published_as) {
  // After an error the pin may exist all the same; then it goes with the others.
  paths_.push_back(fmt::format("{}{}{}-{}", version.path, kPin, published_as, NewRunName()));
  return table_.store->PutIfAbsent(paths_.back(), {}, /*sync=*/false);
}

}  // namespace glaive::dataset
