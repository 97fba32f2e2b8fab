#include "table/commit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ranges>

#include "core/clock.h"
#include "core/random.h"
#include "table/apply.h"
#include "table/conflict.h"
#include "table/feature_flags.h"
#include "table/manifest_file.h"
#include "table/publish.h"
#include "table/rebase.h"
#include "table/version_hint.h"

namespace glaive::table {
namespace {

using Duration = SteadyTime::duration;

// How long a commit that other writers outrun is tried again, once it has caught up with them.
Duration RetryTimeout() {
  constexpr auto kDefault = std::chrono::seconds(30);
  const char* text = std::getenv("LANCE_COMMIT_RETRY_TIMEOUT_SECS");
  if (text == nullptr) return kDefault;
  uint32_t seconds = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end) return kDefault;
  return std::chrono::seconds(seconds);
}

// One call of Commit: the operation, and up to which version it has been checked.
class PendingCommit {
 public:
  PendingCommit(const TableLocation& table, ManifestPtr base, Operation operation,
                const CommitOptions& options)
      : table_(table), options_(options), latest_(std::move(base)) {
    transaction_.read_version = options.read_version.value_or(latest_->version);
    transaction_.uuid = options.transaction_uuid.empty() ? NewUuid() : options.transaction_uuid;
    transaction_.properties = options.transaction_properties;
    transaction_.operation = std::move(operation);
  }

  PendingCommit(const TableLocation& table, ManifestPtr base, MakeOperation make,
                const CommitOptions& options)
      : PendingCommit(table, std::move(base), Operation(), options) {
    make_ = std::move(make);
  }

  arrow::Result<ManifestPtr> Run();

 private:
  arrow::Result<ManifestPtr> RunAttempts();
  arrow::Status CatchUp();
  arrow::Status CheckNewer(const std::vector<VersionEntry>& newer, bool* moved_rows);
  arrow::Status FitTo(ManifestPtr manifest, bool moved_rows);
  arrow::Result<ManifestPtr> FindEarlier() const;
  arrow::Status CheckSameTable() const;
  bool HasOurToken(const std::optional<Transaction>& theirs) const;
  arrow::Status CheckAgainst(const std::optional<Transaction>& theirs, uint64_t version) const;
  arrow::Result<ManifestPtr> Attempt();
  arrow::Status BackOff(uint32_t attempt, Duration first_attempt);
  // An overwrite that may not be tried again wants the version after the one read, or nothing.
  bool is_blind() const {
    return options_.max_retries == 0 && std::holds_alternative<Overwrite>(*transaction_.operation);
  }

  const TableLocation& table_;
  const CommitOptions& options_;
  const SteadyTime deadline_ = SteadyNow() + options_.timeout;
  ManifestPtr latest_;  // the newest version that the operation was checked against
  std::optional<VersionHint> hint_;
  ManifestPtr earlier_;     // what an earlier call with our idempotency token made
  bool was_taken_ = false;  // by another's version, at the last attempt
  Transaction transaction_;
  MakeOperation make_;  // null: the operation is there, and is rebased
  RebasedFiles rebased_;
};

bool PendingCommit::HasOurToken(const std::optional<Transaction>& theirs) const {
  const auto ours = transaction_.properties.find(kIdempotencyKey);
  if (ours == transaction_.properties.end() || !theirs) return false;
  const auto token = theirs->properties.find(kIdempotencyKey);
  return token != theirs->properties.end() && token->second == ours->second;
}

// The version up to the one read that has our token. A caller who does not know how an earlier call
// ended may have looked at the table since.
arrow::Result<ManifestPtr> PendingCommit::FindEarlier() const {
  if (!transaction_.properties.contains(kIdempotencyKey)) return nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto entries, ListVersions(table_));
  for (const VersionEntry& entry : entries | std::views::reverse) {
    if (entry.version > latest_->version) continue;
    ARROW_ASSIGN_OR_RAISE(const auto theirs, ReadTransaction(table_, entry));
    if (HasOurToken(theirs)) return ReadManifest(table_, entry);
  }
  return nullptr;
}

// A table that was removed and made anew has other transactions under the same numbers. A handle on
// the old one would put its own fragments, whose files are gone, in place of the new table's.
arrow::Status PendingCommit::CheckSameTable() const {
  const Manifest& base = *latest_;
  const auto ours = TransactionUuidOf(base);
  if (!ours) return arrow::Status::OK();
  // Nearly always it is told by the hint, where there is one, or by the file of the transaction
  // that made the version.
  if (hint_ && hint_->version == base.version && hint_->transaction == *ours) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto recorded, table_.store->Head(TransactionPath(table_, base)));
  if (recorded) return arrow::Status::OK();
  VersionEntry entry = {base.version, base.path, base.naming_scheme, base.size_bytes};
  auto found = ReadTransaction(table_, entry);
  if (!found.ok() && KindOf(found.status()) == ErrorKind::kCorrupt) {
    entry.size_bytes = 0;  // another manifest may have another size
    found = ReadTransaction(table_, entry);
  }
  // A version that was cleaned up or damaged since says nothing of the table.
  const bool is_silent = !found.ok() && (KindOf(found.status()) == ErrorKind::kFileNotFound ||
                                         KindOf(found.status()) == ErrorKind::kCorrupt);
  if (is_silent) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(found.status());
  if (!*found || (*found)->uuid.empty() || (*found)->uuid == *ours) return arrow::Status::OK();
  return CommitConflict(Retry::kNo, base.version,
                        "the table that it was read from is gone, and another one is in its place");
}

arrow::Status PendingCommit::CheckAgainst(const std::optional<Transaction>& theirs,
                                          uint64_t version) const {
  if (options_.strict) {
    return CommitConflict(Retry::kYes, version, "it was made after version {}, which was read",
                          latest_->version);
  }
  if (make_) return arrow::Status::OK();
  if (!theirs || !theirs->operation) {
    return CommitConflict(Retry::kNo, version, "that version does not say what it changed");
  }
  return CheckConflict(*transaction_.operation, *theirs->operation, version);
}

// What has to be known of the versions in between: whether one of them is what an earlier call
// made, and whether rows were moved.
arrow::Status PendingCommit::CheckNewer(const std::vector<VersionEntry>& newer, bool* moved_rows) {
  const bool has_token = transaction_.properties.contains(kIdempotencyKey);
  if (make_ && !has_token && !options_.strict) return arrow::Status::OK();
  for (const VersionEntry& entry : newer) {
    const auto theirs = ReadTransaction(table_, entry);
    if (!theirs.ok() && KindOf(theirs.status()) == ErrorKind::kCorrupt) {
      return WithContext(theirs.status(), "nothing can follow version {}, which is damaged",
                         entry.version);
    }
    ARROW_RETURN_NOT_OK(theirs.status());
    if (HasOurToken(*theirs)) return ReadManifest(table_, entry).Value(&earlier_);
    ARROW_RETURN_NOT_OK(CheckAgainst(*theirs, entry.version));
    const bool known = *theirs && (*theirs)->operation;
    *moved_rows |= known && std::holds_alternative<Update>(*(*theirs)->operation);
  }
  return arrow::Status::OK();
}

// Fits an operation that was checked against all up to `manifest` to that version.
arrow::Status PendingCommit::FitTo(ManifestPtr manifest, bool moved_rows) {
  auto* const overlay = std::get_if<DataOverlay>(&*transaction_.operation);
  if (overlay != nullptr && moved_rows) {
    ARROW_RETURN_NOT_OK(CheckCoverage(table_, *latest_, *manifest, *overlay));
  }
  const size_t already_written = rebased_.written.size();
  ARROW_RETURN_NOT_OK(Rebase(table_, *latest_, *manifest, &*transaction_.operation, &rebased_));
  if (rebased_.written.size() > already_written) transaction_.read_version = manifest->version;
  latest_ = std::move(manifest);
  return arrow::Status::OK();
}

// Checks the operation against whatever was committed since, and fits it to the newest version.
arrow::Status PendingCommit::CatchUp() {
  if (is_blind()) return arrow::Status::OK();
  if (was_taken_) hint_ = ReadVersionHint(table_);
  ARROW_ASSIGN_OR_RAISE(const auto newer, NewerVersions(table_, latest_->version, hint_,
                                                        /*trusts_hint=*/!was_taken_));
  if (!newer.empty()) {
    bool moved_rows = false;
    ARROW_RETURN_NOT_OK(CheckNewer(newer, &moved_rows));
    if (earlier_ != nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto manifest, ReadManifest(table_, newer.back()));
    ARROW_RETURN_NOT_OK(CheckWritable(*manifest));
    if (!make_) return FitTo(std::move(manifest), moved_rows);
    latest_ = std::move(manifest);
  }
  if (!make_) return arrow::Status::OK();
  transaction_.read_version = options_.read_version.value_or(latest_->version);
  return make_(latest_).Value(&transaction_.operation);
}

// The version that was made, or null if another took its place.
arrow::Result<ManifestPtr> PendingCommit::Attempt() {
  ARROW_ASSIGN_OR_RAISE(Manifest applied, Apply(*latest_, *transaction_.operation));
  auto next = std::make_shared<Manifest>(std::move(applied));
  ARROW_RETURN_NOT_OK(SyncFiles(table_, options_.durability, rebased_.written));
  ARROW_ASSIGN_OR_RAISE(const Outcome outcome,
                        Publish(table_, transaction_, options_.durability, next.get()));
  was_taken_ = outcome != Outcome::kOurs;
  return was_taken_ ? nullptr : std::move(next);
}

// Waits for a random share of a time that doubles, in units of what one attempt costs: a table that
// is large is contended for longer.
arrow::Status PendingCommit::BackOff(uint32_t attempt, Duration first_attempt) {
  constexpr uint32_t kMaxDoublings = 6;
  constexpr auto kLongestStep = std::chrono::milliseconds(50);
  const auto slots = uint32_t{1} << std::min(attempt + 1, kMaxDoublings);
  const auto wait = first_attempt * RandomBelow(slots) * 11 / 10;
  const auto until = std::min(SteadyNow() + wait, deadline_);
  while (true) {
    if (options_.poll) ARROW_RETURN_NOT_OK(options_.poll());
    const auto left = until - SteadyNow();
    if (left <= Duration::zero()) break;
    SleepFor(std::min<Duration>(left, kLongestStep));
  }
  return arrow::Status::OK();
}

arrow::Result<ManifestPtr> PendingCommit::RunAttempts() {
  ARROW_RETURN_NOT_OK(CheckWritable(*latest_));
  ARROW_ASSIGN_OR_RAISE(earlier_, FindEarlier());
  if (earlier_ != nullptr) return earlier_;
  hint_ = ReadVersionHint(table_);
  ARROW_RETURN_NOT_OK(CheckSameTable());
  ARROW_RETURN_NOT_OK(ReadRestored(table_, &*transaction_.operation));
  ARROW_RETURN_NOT_OK(SyncFiles(table_, options_.durability, options_.files_to_sync));
  SteadyTime retry_deadline;
  const uint32_t attempts = std::max(options_.max_retries, 1u);
  Duration first_attempt{};
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    ARROW_RETURN_NOT_OK(CatchUp());
    if (earlier_ != nullptr) return earlier_;
    const auto attempt_start = SteadyNow();
    // However far behind the base was, catching up with it is no attempt.
    if (attempt == 0) retry_deadline = std::min(deadline_, attempt_start + RetryTimeout());
    ARROW_ASSIGN_OR_RAISE(auto made, Attempt());
    if (made != nullptr) return made;
    if (attempt == 0) first_attempt = SteadyNow() - attempt_start;
    if (attempt + 1 == attempts || SteadyNow() >= retry_deadline) break;
    ARROW_RETURN_NOT_OK(BackOff(attempt, first_attempt));
  }
  return CommitConflict(Retry::kYes, latest_->version + 1,
                        "another writer was faster, in {} attempts", attempts);
}

arrow::Result<ManifestPtr> PendingCommit::Run() {
  auto made = RunAttempts();
  // What a rebase wrote belongs to the version, or to nobody; leftovers are only garbage.
  const bool unknown = !made.ok() && KindOf(made.status()) == ErrorKind::kCommitUnknown;
  const bool ours = made.ok() && *made != earlier_;
  if (ours) {
    for (const std::string& path : rebased_.superseded) (void)table_.store->Delete(path);
    WriteVersionHint(table_, **made);
  } else if (!unknown) {
    for (const std::string& path : rebased_.written) (void)table_.store->Delete(path);
  }
  return made;
}

arrow::Status Exists(const TableLocation& table) {
  return AlreadyExists("Dataset already exists: {}", table.uri);
}

// Whether the table has a manifest besides the one at `path`.
arrow::Result<bool> HasOther(const TableLocation& table, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, ListManifests(table));
  return std::ranges::any_of(entries, [&](const auto& entry) { return entry.path != path; });
}

// Publishes the first version under the V2 name, which every creator has to get first, and holds it
// only if no other name was there before.
arrow::Status PublishFirst(const TableLocation& table, const Transaction& transaction,
                           const CommitOptions& options, Manifest* manifest) {
  ARROW_ASSIGN_OR_RAISE(const Outcome outcome,
                        Publish(table, transaction, options.durability, manifest));
  if (outcome == Outcome::kTaken) return Exists(table);
  const auto other = HasOther(table, manifest->path);
  if (other.ok() && !*other) return arrow::Status::OK();
  const arrow::Status withdrawn = Withdraw(table, *manifest);
  if (!withdrawn.ok()) {
    return CommitUnknown(Location{manifest->path},
                         "the table may be another's, and taking this back failed: {}",
                         withdrawn.message());
  }
  return other.ok() ? Exists(table) : other.status();
}

// Under its V1 name, while the V2 name is held: whoever gets that one afterwards sees this one.
arrow::Status PublishV1Beside(const TableLocation& table, const Transaction& transaction,
                              const CommitOptions& options, const Manifest& held,
                              Manifest* manifest) {
  auto outcome = Publish(table, transaction, options.durability, manifest);
  const bool unknown = !outcome.ok() && KindOf(outcome.status()) == ErrorKind::kCommitUnknown;
  if (unknown) return outcome.status();
  const arrow::Status released = table.store->Delete(held.path);
  ARROW_RETURN_NOT_OK(outcome.status());
  if (*outcome == Outcome::kTaken) return Exists(table);
  if (released.ok()) return arrow::Status::OK();
  return CommitUnknown(Location{held.path}, "the table is there under two names: {}",
                       released.message());
}

arrow::Result<ManifestPtr> CommitFirst(const TableLocation& table, const Manifest& previous,
                                       uint64_t read_version, Operation operation,
                                       const CommitOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const bool exists, HasOther(table, ""));
  if (exists) return Exists(table);
  Transaction transaction{
      .read_version = options.read_version.value_or(read_version),
      .uuid = options.transaction_uuid.empty() ? NewUuid() : options.transaction_uuid,
      .properties = options.transaction_properties};
  ARROW_ASSIGN_OR_RAISE(Manifest applied, Apply(previous, operation));
  transaction.operation = std::move(operation);

  auto manifest = std::make_shared<Manifest>(std::move(applied));
  manifest->naming_scheme = NamingScheme::kV2;
  ARROW_RETURN_NOT_OK(SyncFiles(table, options.durability, options.files_to_sync));
  ARROW_RETURN_NOT_OK(PublishFirst(table, transaction, options, manifest.get()));
  if (options.naming_scheme == NamingScheme::kV1) {
    const Manifest held = *manifest;
    manifest->naming_scheme = NamingScheme::kV1;
    ARROW_RETURN_NOT_OK(PublishV1Beside(table, transaction, options, held, manifest.get()));
  }
  WriteVersionHint(table, *manifest);
  return manifest;
}

}  // namespace

arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  Operation operation, const CommitOptions& options) {
  if (IsDetached(base->version) && !options.detached) {
    return InvalidInput("version {} is detached, and only a detached one can follow it",
                        base->version);
  }
  if (options.detached) return CommitDetached(table, base, std::move(operation), options);
  return PendingCommit(table, base, std::move(operation), options).Run();
}

arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  MakeOperation make, const CommitOptions& options) {
  if (IsDetached(base->version)) {
    return InvalidInput("version {} is detached, and only a detached one can follow it",
                        base->version);
  }
  return PendingCommit(table, base, std::move(make), options).Run();
}

arrow::Result<ManifestPtr> CommitCreate(const TableLocation& table, Overwrite operation,
                                        const CommitOptions& options) {
  Manifest nothing;
  nothing.config = options.initial_config;
  if (options.data_file_version) nothing.data_file_version = *options.data_file_version;
  if (options.enable_stable_row_ids) {
    nothing.reader_feature_flags = nothing.writer_feature_flags = feature::kStableRowIds;
  }
  return CommitFirst(table, nothing, 0, std::move(operation), options);
}

arrow::Result<ManifestPtr> CommitClone(const TableLocation& table, const Manifest& source,
                                       Clone operation, const CommitOptions& options) {
  ARROW_RETURN_NOT_OK(CheckWritable(source));
  const uint64_t version = operation.ref_version;
  return CommitFirst(table, source, version, std::move(operation), options);
}

}  // namespace glaive::table
