#include "simulation/history.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "table/manifest/codec.h"
#include "table/operation/transaction_codec.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"

namespace glaive::simulation {
namespace {

constexpr uint64_t kBirthsOfRecord = 1000;

std::shared_ptr<arrow::Buffer> MessageAt(const std::shared_ptr<arrow::Buffer>& bytes,
                                         uint64_t offset) {
  uint32_t size = 0;
  std::memcpy(&size, bytes->data() + offset, sizeof(size));
  return arrow::SliceBuffer(bytes, static_cast<int64_t>(offset + sizeof(size)), size);
}

std::span<const std::byte> BytesOf(const arrow::Buffer& buffer) {
  return std::as_bytes(std::span(buffer.data(), static_cast<size_t>(buffer.size())));
}

}  // namespace

bool IsManifestPath(std::string_view path) {
  const size_t folder = path.rfind("/_versions/");
  if (folder == std::string_view::npos || !path.ends_with(".manifest")) return false;
  const std::string_view name = path.substr(folder + std::strlen("/_versions/"));
  return name.find('/') == std::string_view::npos && !name.starts_with('.') &&
         !name.starts_with('d');
}

std::string UuidOf(const table::Manifest& manifest) {
  const std::string& name = manifest.transaction_file;
  const size_t dash = name.find('-');
  if (dash == std::string::npos || !name.ends_with(".txn")) return name;
  return name.substr(dash + 1, name.size() - dash - 5);
}

arrow::Result<Record*> History::Add(const std::string& path,
                                    const std::shared_ptr<arrow::Buffer>& bytes, VerbRun* verb,
                                    uint64_t step) {
  const auto file = BytesOf(*bytes);
  const size_t folder = path.rfind("/_versions/");
  if (!IsManifestPath(path)) return nullptr;
  const auto footer = table::ParseManifestFooter(file, file.size(), path);
  if (!footer.ok()) return nullptr;  // a name that is only held
  const uint64_t offset = *footer;
  ARROW_ASSIGN_OR_RAISE(auto parsed, table::ParseManifest(MessageAt(bytes, offset), {path}));
  Record record{.number = records_.size(),
                .path = path,
                .root = path.substr(0, folder),
                .version = parsed.manifest.version,
                .uuid = UuidOf(parsed.manifest),
                .verb = verb,
                .put_at = step};
  if (Record* const known = Find(record.root, record.version, record.uuid)) return known;
  if (parsed.transaction_section) {
    const auto message = MessageAt(bytes, *parsed.transaction_section);
    ARROW_ASSIGN_OR_RAISE(record.transaction, table::ParseTransaction(BytesOf(*message), {path}));
  }
  record.manifest = std::move(parsed.manifest);
  records_.push_back(std::move(record));
  return &records_.back();
}

Record* History::Find(std::string_view root, uint64_t version, std::string_view uuid) {
  for (Record& record : records_) {
    if (record.version == version && record.uuid == uuid && record.root == root) return &record;
  }
  return nullptr;
}

Record* History::Find(const std::string& path, const std::shared_ptr<arrow::Buffer>& bytes) {
  const auto file = BytesOf(*bytes);
  const auto offset = table::ParseManifestFooter(file, file.size(), path);
  if (!offset.ok()) return nullptr;
  const auto parsed = table::ParseManifest(MessageAt(bytes, *offset), {path});
  if (!parsed.ok()) return nullptr;
  return Find(path.substr(0, path.rfind("/_versions/")), parsed->manifest.version,
              UuidOf(parsed->manifest));
}

Record* History::SourceOf(const Record& clone) {
  for (Record& record : records_) {
    // A transaction may have been put under several numbers, one after the other.
    const bool is_it = clone.verb != nullptr && record.uuid == clone.verb->intent.from;
    if (is_it && record.version == clone.version && &record != &clone) return &record;
  }
  return nullptr;
}

// What it says itself, if anything. Else versions of a number are put one after the other, and it
// is the last one of the number before that was put before it.
Record* History::Before(const Record& record) {
  const bool is_clone = record.transaction && record.transaction->operation &&
                        std::holds_alternative<table::Clone>(*record.transaction->operation);
  if (is_clone) return SourceOf(record);
  Record* last = nullptr;
  const auto& ancestors = record.manifest.ancestors;
  for (size_t i = record.number; i > 0; --i) {
    Record& other = records_[i - 1];
    if (other.version + 1 != record.version || other.root != record.root) continue;
    if (last == nullptr) last = &other;
    if (!ancestors.empty() && ancestors.front() == table::ChainHash(other.uuid)) return &other;
  }
  return last;
}

Record* History::Ancestor(Record& record, uint64_t version) {
  Record* at = &record;
  while (at != nullptr && at->version > version) at = Before(*at);
  return at != nullptr && at->version == version ? at : nullptr;
}

bool History::Descends(Record& record, const Record& ancestor) {
  for (Record* at = &record; at != nullptr; at = Before(*at)) {
    if (at == &ancestor) return true;
  }
  return false;
}

arrow::Result<Rows> History::Replay(Record& record) {
  if (record.verb == nullptr) return Internal("a version was made by nobody");
  Record* const before = Before(record);
  const bool is_clone = before != nullptr && before->root != record.root;
  const Rows none;
  const Rows* rows_before = &none;
  if (before != nullptr) {
    ARROW_ASSIGN_OR_RAISE(rows_before, RowsOf(*before));
  }
  if (is_clone) return *rows_before;
  const Intent& intent = record.verb->intent;
  const Rows* read = rows_before;
  if (intent.kind == Intent::Kind::kDelete || intent.kind == Intent::Kind::kAssign) {
    return ReplayChoice(record, before);
  }
  if (!intent.from.empty() && before != nullptr) {
    Record* base = before;
    while (base != nullptr && base->uuid != intent.from) base = Before(*base);
    if (base == nullptr) {
      return Internal("version {} was made from a version of which it does not descend",
                      record.version);
    }
    ARROW_ASSIGN_OR_RAISE(read, RowsOf(*base));
  }
  const bool is_reservation =
      record.transaction && record.transaction->operation &&
      std::holds_alternative<table::ReserveFragments>(*record.transaction->operation);
  return After(*rows_before, *read, is_reservation ? Intent() : intent, record.version,
               (record.number + 1) * kBirthsOfRecord);
}

// Of a verb that chose rows in a version, and was then fitted to newer ones that did not touch
// them.
arrow::Result<Rows> History::ReplayChoice(Record& record, Record* before) {
  const Intent& intent = record.verb->intent;
  if (before == nullptr) return Internal("rows were chosen where there is no version");
  ARROW_ASSIGN_OR_RAISE(const Rows* const rows_before, RowsOf(*before));
  std::vector<Rows> possible;
  for (Record* read = before; read != nullptr && read->version >= intent.since;
       read = Before(*read)) {
    ARROW_ASSIGN_OR_RAISE(const Rows* const rows_read, RowsOf(*read));
    if (!MayFollow(*rows_before, *rows_read, intent)) continue;
    Rows rows = After(*rows_before, *rows_read, intent, record.version, 0);
    const bool is_new = std::ranges::none_of(possible, [&](const Rows& other) {
      return Difference(rows, other, /*with_versions=*/true).empty();
    });
    if (is_new) possible.push_back(std::move(rows));
  }
  if (possible.empty()) {
    return Internal("version {} was made upon version {}, which changed the rows that it chose",
                    record.version, before->version);
  }
  if (possible.size() == 1 || !look_) return possible.front();
  ARROW_ASSIGN_OR_RAISE(const Rows shown, look_(record));
  for (const Rows& rows : possible) {
    if (Difference(rows, shown, /*with_versions=*/false).empty()) return rows;
  }
  return possible.front();
}

arrow::Result<const Rows*> History::RowsOf(Record& record) {
  if (!record.rows) {
    ARROW_ASSIGN_OR_RAISE(record.rows, Replay(record));
  }
  return &*record.rows;
}

}  // namespace glaive::simulation
