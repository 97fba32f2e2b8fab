#include "core/error.h"
#include "core/random.h"
#include "table/commit/after_put.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/apply.h"
#include "table/versions/chain.h"

namespace glaive::table {
namespace {

// Random numbers of 63 bits do not meet; what would be tried again is a store that says they do.
constexpr int kMostAttempts = 3;

arrow::Status NotKnownToBeWhole(const Manifest& made, const arrow::Status& why) {
  return CommitUnknown(Location{made.path},
                       "version {} was committed; whether the version that it was made of was "
                       "cleaned up before is not known: {}",
                       made.version, why.message());
}

uint64_t NewDetachedVersion() { return kDetachedVersionBit | Random64(); }

}  // namespace

arrow::Result<ManifestPtr> CommitDetached(const TableLocation& table, const ManifestPtr& base,
                                          Change change, const CommitOptions& options) {
  if (base->naming_scheme == NamingScheme::kV1) {
    return Unsupported("detached commits to a table whose manifests have V1 names");
  }
  ARROW_RETURN_NOT_OK(CheckWritable(*base));
  if (options.transaction_properties.contains(kIdempotencyKey)) {
    ARROW_ASSIGN_OR_RAISE(const auto entries, ListDetachedVersions(table));
    ARROW_ASSIGN_OR_RAISE(auto earlier,
                          FindByToken(table, entries, options.transaction_properties));
    if (earlier != nullptr) return earlier;
  }
  ARROW_RETURN_NOT_OK(ReadRestored(table, change.operation, &change.hints));
  ARROW_RETURN_NOT_OK(SyncFiles(table, options.durability, options.files_to_sync));
  ARROW_ASSIGN_OR_RAISE(Manifest applied, Apply(*base, change.operation, change.hints));
  applied.ancestors = AncestorsAfter(*base);
  Transaction transaction{
      .read_version = options.read_version.value_or(base->version),
      .uuid = options.transaction_uuid.empty() ? NewUuid() : options.transaction_uuid,
      .properties = options.transaction_properties,
      .operation = std::move(change.operation),
      .hints = std::move(change.hints),
      .may_be_recorded = !options.transaction_uuid.empty()};
  transaction.parent = ChainHash(*base);
  auto next = std::make_shared<Manifest>(std::move(applied));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    next->version = NewDetachedVersion();
    ARROW_ASSIGN_OR_RAISE(const Outcome outcome,
                          Publish(table, transaction, options.durability, next.get()));
    if (outcome != Outcome::kOurs) continue;
    // A clean-up that took the base before does not know of this version, and of its files.
    const auto is_there = IsStillInTable(table, *base);
    if (!is_there.ok()) return NotKnownToBeWhole(*next, is_there.status());
    if (*is_there) return next;
    ARROW_RETURN_NOT_OK(TakeBack(table, *next, transaction.may_be_recorded));
    return CommitConflict(Retry::kYes, base->version,
                          "a clean-up took that version, which was read");
  }
  return CommitConflict(Retry::kYes, next->version, "the number of a detached version is taken");
}

}  // namespace glaive::table
