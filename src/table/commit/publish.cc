#include "table/commit/publish.h"

#include <array>
#include <span>

#include "core/clock.h"
#include "core/random.h"
#include "table/commit/after_put.h"
#include "table/manifest/codec.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/transaction_codec.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

constexpr std::string_view kWriterLibrary = "glaive";
constexpr std::string_view kWriterVersion = "0.1.0";

void SignManifest(const TableLocation& table, const Transaction& transaction, Manifest& manifest) {
  manifest.timestamp_ns = UnixNanoseconds();
  manifest.writer_version = WriterVersion{std::string(kWriterLibrary), std::string(kWriterVersion)};
  manifest.tag.clear();
  manifest.transaction_file =
      std::to_string(transaction.read_version) + "-" + transaction.uuid + ".txn";
  manifest.path = table.Path("_versions/" + ManifestName(manifest.version, manifest.naming_scheme));
}

// Whose the manifest is that lies there now. FileNotFound where there is none.
arrow::Result<Outcome> WhoseIsIt(const TableLocation& table, const Manifest& manifest,
                                 const std::string& uuid) {
  ARROW_ASSIGN_OR_RAISE(const auto info, table.store->Head(manifest.path));
  if (!info) return FileNotFound({manifest.path}, "no such manifest");
  const VersionEntry entry{manifest.version, manifest.path, manifest.naming_scheme,
                           info->size_bytes};
  // No version: another creator has the name while it makes one of a V1 name.
  ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, entry));
  if (is_held) return Outcome::kTaken;
  ARROW_ASSIGN_OR_RAISE(const auto found, ReadTransaction(table, entry));
  return found && found->uuid == uuid ? Outcome::kOurs : Outcome::kTaken;
}

arrow::Status NotKnown(const Manifest& manifest, const arrow::Status& failure,
                       std::string_view why) {
  return CommitUnknown(Location{manifest.path},
                       "whether version {} was committed is not known: {}; and looking for it: {}",
                       manifest.version, failure.message(), why);
}

// The store failed to say what it did: that is for the manifest itself to tell.
arrow::Result<Outcome> Resolve(const TableLocation& table, const arrow::Status& failure,
                               Durability durability, const Manifest& manifest,
                               const std::string& uuid) {
  const bool exists = KindOf(failure) == ErrorKind::kAlreadyExists;
  auto outcome = WhoseIsIt(table, manifest, uuid);
  if (!outcome.ok()) {
    const bool is_gone = KindOf(outcome.status()) == ErrorKind::kFileNotFound;
    if (exists && !is_gone) return outcome;
    if (!is_gone) return NotKnown(manifest, failure, outcome.status().message());
    // Ours may have been there, and have been built upon and cleaned up, before this look.
    const auto standing = StandingOfGone(table, manifest);
    if (!standing.ok()) return NotKnown(manifest, failure, standing.status().message());
    if (*standing == Standing::kInChain) return Outcome::kOurs;
    // Another's that its writer took back since, or that was cleaned up.
    if (exists) return Outcome::kTaken;
    if (*standing == Standing::kStray) return failure;
    return NotKnown(manifest, failure, "newer versions do not say");
  }
  if (*outcome == Outcome::kOurs && durability == Durability::kCommit) {
    const arrow::Status synced = table.store->Sync({{manifest.path}});
    if (!synced.ok()) {
      return CommitUnknown(Location{manifest.path},
                           "version {} was committed, but may not outlast a crash: {}",
                           manifest.version, synced.message());
    }
  }
  return outcome;
}

// A clean-up removes manifests first, and then looks for transactions that restore what they hold.
// So it sees ours, or we see that the version is going.
arrow::Status CheckRestored(const TableLocation& table, const Transaction& transaction) {
  const auto* restore =
      transaction.operation ? std::get_if<Restore>(&*transaction.operation) : nullptr;
  if (restore == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const bool is_there, IsStillInTable(table, *transaction.hints.content));
  if (is_there) return arrow::Status::OK();
  return CommitConflict(Retry::kYes, restore->version,
                        "a clean-up removes that version, which was to be restored");
}

arrow::Result<Outcome> PutManifest(const TableLocation& table, const Transaction& transaction,
                                   Durability durability, const std::string& bytes,
                                   Manifest& manifest) {
  std::optional<std::string_view> inlined;
  if (bytes.size() <= kMaxInlineTransaction) inlined = bytes;
  if (!inlined) {
    ARROW_RETURN_NOT_OK(SyncFiles(table, durability, {TransactionPath(table, manifest)}));
  }
  ARROW_ASSIGN_OR_RAISE(const auto parts, SerializeManifestFile(manifest, inlined));
  manifest.size_bytes = 0;
  for (const auto& part : parts) manifest.size_bytes += static_cast<uint64_t>(part->size());
  const uint64_t index_size =
      manifest.index_section.empty() ? 0 : manifest.index_section.size() + sizeof(uint32_t);
  manifest.transaction_section.reset();
  if (inlined) manifest.transaction_section = index_size;
  const arrow::Status put =
      table.store->PutIfAbsent(manifest.path, parts, durability == Durability::kCommit);
  if (put.ok()) return Outcome::kOurs;
  return Resolve(table, put, durability, manifest, transaction.uuid);
}

}  // namespace

std::string TransactionPath(const TableLocation& table, const Manifest& manifest) {
  return table.Path("_transactions/" + manifest.transaction_file);
}

std::string NewUuid() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<uint32_t, 4> random;
  FillRandom(std::as_writable_bytes(std::span(random)));
  random[1] = (random[1] & 0xffff0fff) | 0x4000;      // version 4
  random[2] = (random[2] & 0x3fffffff) | 0x80000000;  // variant of RFC 4122
  std::string uuid;
  for (size_t digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) uuid += '-';
    uuid += kDigits[random[digit / 8] >> (28 - digit % 8 * 4) & 0xf];
  }
  return uuid;
}

arrow::Status ReadRestored(const TableLocation& table, const Operation& operation,
                           CommitHints* hints) {
  const auto* const restore = std::get_if<Restore>(&operation);
  if (restore == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(hints->content, ReadManifest(table, restore->version));
  return CheckWritable(*hints->content);
}

arrow::Result<Outcome> Publish(const TableLocation& table, const Transaction& transaction,
                               Durability durability, Manifest* manifest) {
  SignManifest(table, transaction, *manifest);
  const std::string bytes = Serialize(transaction);
  const std::string path = TransactionPath(table, *manifest);
  arrow::Status recorded = table.store->Put(path, wire::AsBytes(bytes));
  if (recorded.ok()) recorded = CheckRestored(table, transaction);
  auto outcome = recorded.ok() ? PutManifest(table, transaction, durability, bytes, *manifest)
                               : arrow::Result<Outcome>(recorded);
  const bool unknown = !outcome.ok() && KindOf(outcome.status()) == ErrorKind::kCommitUnknown;
  const bool published = outcome.ok() && *outcome == Outcome::kOurs;
  const bool is_mine_alone = !unknown && !published && !transaction.may_be_recorded;
  if (is_mine_alone) (void)table.store->Delete(path);
  return outcome;
}

arrow::Status SyncFiles(const TableLocation& table, Durability durability,
                        const std::vector<std::string>& paths) {
  if (durability == Durability::kNone || paths.empty()) return arrow::Status::OK();
  return table.store->Sync(paths);
}

}  // namespace glaive::table
