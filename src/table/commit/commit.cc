#include "table/commit/commit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ranges>

#include "core/clock.h"
#include "core/random.h"
#include "table/commit/after_put.h"
#include "table/commit/publish.h"
#include "table/commit/rebase.h"
#include "table/commit/same_table.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/apply.h"
#include "table/operation/conflict.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/hint.h"
#include "table/versions/not_found.h"

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

bool HaveSameToken(const wire::StringMap& properties, const std::optional<Transaction>& theirs) {
  const auto ours = properties.find(kIdempotencyKey);
  if (ours == properties.end() || !theirs) return false;
  const auto token = theirs->properties.find(kIdempotencyKey);
  return token != theirs->properties.end() && token->second == ours->second;
}

arrow::Status NotCompared(uint64_t version, std::string_view why) {
  return CommitConflict(Retry::kYes, version, "this change was not compared with that version: {}",
                        why);
}

// One call of Commit: the operation, and up to which version it has been checked.
class PendingCommit {
 public:
  PendingCommit(const TableLocation& table, ManifestPtr base, Change change,
                const CommitOptions& options)
      : table_(table), options_(options), latest_(std::move(base)) {
    transaction_.read_version = options.read_version.value_or(latest_->version);
    transaction_.may_be_recorded = !options.transaction_uuid.empty();
    transaction_.uuid = transaction_.may_be_recorded ? options.transaction_uuid : NewUuid();
    transaction_.properties = options.transaction_properties;
    SetChange(std::move(change));
  }

  PendingCommit(const TableLocation& table, ManifestPtr base, MakeChange make,
                const CommitOptions& options)
      : PendingCommit(table, std::move(base), Append(), options) {
    make_ = std::move(make);
  }

  arrow::Result<ManifestPtr> Run();

 private:
  arrow::Result<ManifestPtr> RunAttempts();
  arrow::Status Torn(const arrow::Status& status, uint64_t version) const;
  arrow::Status CatchUp();
  arrow::Result<bool> TryToCatchUp();
  arrow::Status CheckNewer(const std::vector<VersionEntry>& newer, bool* moved_rows);
  arrow::Status FitTo(ManifestPtr manifest, bool moved_rows);
  arrow::Result<ManifestPtr> FindEarlier() const;
  arrow::Status CheckAgainst(const std::optional<Transaction>& theirs, uint64_t version) const;
  arrow::Result<ManifestPtr> Attempt();
  arrow::Result<ManifestPtr> Look(std::shared_ptr<Manifest> put);
  arrow::Result<std::optional<VersionEntry>> FindAbove(const Manifest& put) const;
  arrow::Result<Standing> CheckBase(const Manifest& put);
  arrow::Status BackOff(uint32_t attempt, Duration first_attempt);
  void SetChange(Change change) {
    transaction_.operation = std::move(change.operation);
    transaction_.hints = std::move(change.hints);
  }
  // An overwrite that may not be tried again wants the version after the one read, or nothing.
  bool is_blind() const {
    return options_.max_retries == 0 && std::holds_alternative<Overwrite>(*transaction_.operation);
  }

  const TableLocation& table_;
  const CommitOptions& options_;
  const SteadyTime deadline_ = SteadyNow() + options_.timeout;
  ManifestPtr latest_;  // the newest version that the operation was checked against
  std::optional<VersionHint> hint_;
  Witness witness_ = Witness::kSilent;  // of the base
  ManifestPtr earlier_;                 // what an earlier call with our idempotency token made
  bool was_taken_ = false;              // by another's version, at the last attempt
  bool was_outrun_ = false;             // there were newer ones, at the last look
  Transaction transaction_;
  MakeChange make_;  // null: the operation is there, and is rebased
  RebasedFiles rebased_;
};

// A caller who does not know how an earlier call ended may have looked at the table since.
arrow::Result<ManifestPtr> PendingCommit::FindEarlier() const {
  if (!transaction_.properties.contains(kIdempotencyKey)) return nullptr;
  ARROW_ASSIGN_OR_RAISE(auto entries, ListVersions(table_));
  // Those after the base are searched when they are compared with ours, which such a commit does
  // not do.
  if (!is_blind()) {
    std::erase_if(entries, [&](const auto& entry) { return entry.version > latest_->version; });
  }
  return FindByToken(table_, entries, transaction_.properties);
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
// made, whether one of them is in the way, and whether rows were moved. None of them may be
// missing.
arrow::Status PendingCommit::CheckNewer(const std::vector<VersionEntry>& newer, bool* moved_rows) {
  const bool has_token = transaction_.properties.contains(kIdempotencyKey);
  if (make_ && !has_token && !options_.strict) return arrow::Status::OK();
  uint64_t expected = latest_->version + 1;
  ChainWalk chain(ChainHash(*latest_));
  for (const VersionEntry& entry : newer) {
    if (entry.version != expected) return NotCompared(expected, "a clean-up removed it");
    ++expected;
    const auto theirs = ReadTransaction(table_, entry);
    if (!theirs.ok() && KindOf(theirs.status()) == ErrorKind::kCorrupt) {
      return Torn(theirs.status(), entry.version);
    }
    if (IsGone(theirs.status())) {
      return NotCompared(entry.version, "a clean-up removed it");
    }
    ARROW_RETURN_NOT_OK(theirs.status());
    if (!chain.Follows(*theirs)) {
      return NotCompared(entry.version - 1, "the next one was made of another of its number");
    }
    if (HaveSameToken(transaction_.properties, *theirs))
      return ReadManifest(table_, entry).Value(&earlier_);
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

// The error where a version that is damaged is in the way.
arrow::Status PendingCommit::Torn(const arrow::Status& status, uint64_t version) const {
  return WithContext(status,
                     "nothing can follow version {}, which is damaged (`glaive repair {}` shows "
                     "what can be done)",
                     version, table_.uri);
}

// Checks the operation against whatever was committed since, and fits it to the newest version.
arrow::Status PendingCommit::CatchUp() {
  if (is_blind()) {
    if (witness_ == Witness::kSameTable) return arrow::Status::OK();
    return NotCompared(latest_->version + 1, "the one before it, which was read, is gone");
  }
  for (int look = 1; look <= kMostLooksForNewest; ++look) {
    ARROW_ASSIGN_OR_RAISE(const bool caught_up, TryToCatchUp());
    if (!caught_up) continue;
    if (!make_ || earlier_ != nullptr) return arrow::Status::OK();
    transaction_.read_version = options_.read_version.value_or(latest_->version);
    ARROW_ASSIGN_OR_RAISE(Change change, make_(latest_));
    SetChange(std::move(change));
    return arrow::Status::OK();
  }
  return NotCompared(latest_->version + 1, "clean-ups remove versions faster than they are read");
}

// False where the newest version went before it was read.
arrow::Result<bool> PendingCommit::TryToCatchUp() {
  // A writer who was slow may have left a hint that newer versions do not follow without a gap.
  if (was_taken_) hint_ = was_outrun_ ? std::nullopt : ReadVersionHint(table_);
  ARROW_ASSIGN_OR_RAISE(const auto newer, NewerVersions(table_, latest_->version, hint_,
                                                        /*trusts_hint=*/!was_taken_));
  if (newer.empty()) {
    // Nothing but the base could tell whether this is its table. What has its number instead was
    // not compared.
    if (witness_ != Witness::kSameTable) return OtherTable(Retry::kYes, latest_->version);
    return true;
  }
  auto newest = ReadManifest(table_, newer.back());
  if (IsGone(newest.status())) return false;
  // What was found behind an old hint, others would not find either.
  if (was_outrun_ && newest.ok()) WriteVersionHint(table_, **newest);
  // A torn head is reported by the check of what it says of itself, where there is one.
  bool moved_rows = false;
  if (newest.ok() && witness_ == Witness::kSilent) {
    ARROW_RETURN_NOT_OK(CheckOneTable(**newest, *latest_));
  }
  ARROW_RETURN_NOT_OK(CheckNewer(newer, &moved_rows));
  witness_ = Witness::kSameTable;
  if (earlier_ != nullptr) return true;
  if (!newest.ok() && KindOf(newest.status()) == ErrorKind::kCorrupt) {
    return Torn(newest.status(), newer.back().version);
  }
  ARROW_RETURN_NOT_OK(newest.status());
  ARROW_RETURN_NOT_OK(CheckWritable(**newest));
  if (make_) {
    latest_ = *std::move(newest);
  } else {
    ARROW_RETURN_NOT_OK(FitTo(*std::move(newest), moved_rows));
  }
  return true;
}

// The version that was made, or null if another took its place.
arrow::Result<ManifestPtr> PendingCommit::Attempt() {
  ARROW_ASSIGN_OR_RAISE(Manifest applied,
                        Apply(*latest_, *transaction_.operation, transaction_.hints));
  auto next = std::make_shared<Manifest>(std::move(applied));
  next->ancestors = AncestorsAfter(*latest_);
  transaction_.parent = ChainHash(*latest_);
  ARROW_RETURN_NOT_OK(SyncFiles(table_, options_.durability, rebased_.written));
  ARROW_ASSIGN_OR_RAISE(const Outcome outcome,
                        Publish(table_, transaction_, options_.durability, next.get()));
  was_taken_ = outcome != Outcome::kOurs;
  if (was_taken_) return nullptr;
  return Look(std::move(next));
}

// Whether what was put became one of the table's versions. Null where it was taken back.
arrow::Result<ManifestPtr> PendingCommit::Look(std::shared_ptr<Manifest> put) {
  was_outrun_ = false;
  auto standing = StandingOf(table_, *put, &was_outrun_);
  const bool is_newest = standing.ok() && *standing == Standing::kInChain;
  if (is_newest) standing = CheckBase(*put);
  if (!standing.ok() || *standing == Standing::kUnknown) {
    return CommitUnknown(
        Location{put->path},
        "version {} was put, but whether the newest version descends from it is "
        "not known: {}",
        put->version, standing.ok() ? "those in between do not say" : standing.status().message());
  }
  if (*standing == Standing::kInChain) return put;
  arrow::Status taken_back = TakeBack(table_, *put, transaction_.may_be_recorded);
  // Nothing hangs on one failure.
  if (!taken_back.ok()) taken_back = TakeBack(table_, *put, transaction_.may_be_recorded);
  // Below versions that descend from another it may stay: who reads the newest never sees it.
  if (!taken_back.ok() && is_newest) {
    return CommitUnknown(Location{put->path},
                         "version {} was put where another table may be by now, and could not be "
                         "taken back: {}",
                         put->version, taken_back.message());
  }
  was_taken_ = true;
  return nullptr;
}

// A version above it, the lowest one that is known. By name first: a listing may be older than what
// was built on it.
arrow::Result<std::optional<VersionEntry>> PendingCommit::FindAbove(const Manifest& put) const {
  VersionEntry next = {.version = put.version + 1, .scheme = put.naming_scheme};
  next.path = table_.Path("_versions/" + ManifestName(next.version, next.scheme));
  ARROW_ASSIGN_OR_RAISE(const auto built, table_.store->Head(next.path));
  if (built) return next;
  ARROW_ASSIGN_OR_RAISE(auto newest, LatestVersion(table_));
  if (newest && newest->version <= put.version) newest.reset();
  return newest;
}

// The table may have been removed, and made anew, since the base was seen in it.
arrow::Result<Standing> PendingCommit::CheckBase(const Manifest& put) {
  ARROW_ASSIGN_OR_RAISE(witness_, WitnessOf(table_, *latest_, std::nullopt));
  // A clean-up may have taken the base since, and a late writer its number.
  if (witness_ == Witness::kSameTable || witness_ == Witness::kReplaced) return Standing::kInChain;
  for (int look = 0; look < kMostLooksForNewest; ++look) {
    ARROW_ASSIGN_OR_RAISE(const auto above, FindAbove(put));
    if (witness_ == Witness::kOtherTable) return above ? Standing::kUnknown : Standing::kStray;
    if (!above) break;
    // What a newer version came from is the table's, whatever clean-ups left of the base. It may
    // have come from another one of this number, whose writer read that before the table was
    // removed.
    auto standing = StandingBelow(table_, *above, put);
    if (standing.ok() || !IsGone(standing.status())) return standing;
  }
  ARROW_ASSIGN_OR_RAISE(const Descent lies, LiesInItsTable(table_, put));
  if (lies == Descent::kUnknown) return Standing::kUnknown;
  return lies == Descent::kYes ? Standing::kInChain : Standing::kStray;
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
  ARROW_ASSIGN_OR_RAISE(witness_, WitnessOf(table_, *latest_, hint_));
  if (witness_ == Witness::kOtherTable) return OtherTable(Retry::kNo, latest_->version);
  ARROW_RETURN_NOT_OK(CheckFollowsHint(table_, *latest_, hint_));
  ARROW_RETURN_NOT_OK(ReadRestored(table_, *transaction_.operation, &transaction_.hints));
  ARROW_RETURN_NOT_OK(SyncFiles(table_, options_.durability, options_.files_to_sync));
  SteadyTime retry_deadline;
  const uint32_t attempts = std::max(options_.max_retries, 1u);
  Duration first_attempt{};
  uint32_t num_made = 0;
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    if (attempt > 0) {
      ARROW_ASSIGN_OR_RAISE(witness_, WitnessOf(table_, *latest_, std::nullopt));
      if (witness_ == Witness::kOtherTable) return OtherTable(Retry::kNo, latest_->version);
    }
    ARROW_RETURN_NOT_OK(CatchUp());
    if (earlier_ != nullptr) return earlier_;
    const auto attempt_start = SteadyNow();
    // However far behind the base was, catching up with it is no attempt.
    if (attempt == 0) retry_deadline = std::min(deadline_, attempt_start + RetryTimeout());
    ++num_made;
    ARROW_ASSIGN_OR_RAISE(auto made, Attempt());
    if (made != nullptr) return made;
    if (witness_ != Witness::kSameTable) {
      return OtherTable(witness_ == Witness::kOtherTable ? Retry::kNo : Retry::kYes,
                        latest_->version);
    }
    if (attempt == 0) first_attempt = SteadyNow() - attempt_start;
    if (attempt + 1 == attempts || SteadyNow() >= retry_deadline) break;
    ARROW_RETURN_NOT_OK(BackOff(attempt, first_attempt));
  }
  if (is_blind()) {
    ARROW_ASSIGN_OR_RAISE(earlier_, FindEarlier());
    if (earlier_ != nullptr) return earlier_;
  }
  return CommitConflict(Retry::kYes, latest_->version + 1,
                        "another writer was faster, in {} attempts", num_made);
}

arrow::Result<ManifestPtr> PendingCommit::Run() {
  auto made = RunAttempts();
  // What a rebase wrote belongs to the version, or to nobody; leftovers are only garbage.
  const bool unknown = !made.ok() && KindOf(made.status()) == ErrorKind::kCommitUnknown;
  const bool ours = made.ok() && *made != earlier_;
  if (ours) {
    for (const std::string& path : rebased_.superseded) (void)table_.store->Delete(path);
    // Who made newer ones leaves a better hint.
    if (!was_outrun_) WriteVersionHint(table_, **made);
  } else if (!unknown) {
    for (const std::string& path : rebased_.written) (void)table_.store->Delete(path);
  }
  return made;
}

}  // namespace

arrow::Result<ManifestPtr> FindByToken(const TableLocation& table,
                                       const std::vector<VersionEntry>& entries,
                                       const wire::StringMap& properties) {
  if (!properties.contains(kIdempotencyKey)) return nullptr;
  for (const VersionEntry& entry : entries | std::views::reverse) {
    const auto theirs = ReadTransaction(table, entry);
    if (IsGone(theirs.status())) continue;
    ARROW_RETURN_NOT_OK(theirs.status());
    if (!HaveSameToken(properties, *theirs)) continue;
    auto found = ReadManifest(table, entry);
    if (IsGone(found.status())) continue;
    ARROW_RETURN_NOT_OK(found.status());
    if (IsDetached(entry.version)) return found;
    ARROW_ASSIGN_OR_RAISE(const Standing standing, StandingOf(table, **found));
    if (standing != Standing::kStray) return found;
  }
  return nullptr;
}

arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  Change change, const CommitOptions& options) {
  if (IsDetached(base->version) && !options.detached) {
    return InvalidInput("version {} is detached, and only a detached one can follow it",
                        base->version);
  }
  if (options.detached) return CommitDetached(table, base, std::move(change), options);
  return PendingCommit(table, base, std::move(change), options).Run();
}

arrow::Result<ManifestPtr> Commit(const TableLocation& table, const ManifestPtr& base,
                                  MakeChange make, const CommitOptions& options) {
  if (IsDetached(base->version)) {
    return InvalidInput("version {} is detached, and only a detached one can follow it",
                        base->version);
  }
  return PendingCommit(table, base, std::move(make), options).Run();
}

}  // namespace glaive::table
