#include <span>
#include <string>
#include <utility>

#include <arrow/buffer.h>

#include "table/commit/after_put.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/manifest/feature_flags.h"
#include "table/operation/apply.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/hint.h"
#include "table/versions/naming_schemes.h"

namespace glaive::table {
namespace {

// Between a look of a creator and the next one, who follows a version that is to be withdrawn
// withdraws his own.
constexpr int kMostLooks = 8;

arrow::Status Exists(const TableLocation& table) {
  return AlreadyExists("Dataset already exists: {}", table.uri);
}

// What is there may be no table: a name that another creator holds, or held when it died.
arrow::Status Exists(const TableLocation& table, const std::vector<VersionEntry>& entries) {
  if (entries.size() != 1) return Exists(table);
  const auto is_held = IsHeldName(table, entries.front());
  if (!is_held.ok() || !*is_held) return Exists(table);
  return AlreadyExists(
      "Dataset already exists: {}: another writer is creating it; if that one died, `glaive repair "
      "{}` removes what it left ({})",
      table.uri, table.uri, entries.front().path);
}

arrow::Status MayBeAnothers(const Manifest& manifest, std::string_view why) {
  return CommitUnknown(Location{manifest.path}, "the table may be another creator's: {}", why);
}

// What is there besides the version that a creator put.
struct Others {
  bool have_rival = false;  // a version that cannot come from ours
  bool have_newer = false;  // one that may
  bool lack_ours = true;    // ours is not there itself
};

arrow::Result<Others> LookAround(const TableLocation& table, const Manifest& put,
                                 const std::string& held) {
  auto entries = ListManifests(table);
  if (!entries.ok()) entries = ListManifests(table);  // nothing hangs on one failure
  ARROW_RETURN_NOT_OK(entries.status());
  Others others;
  for (const VersionEntry& entry : *entries) {
    if (entry.path == held) continue;
    const bool is_ours = entry.scheme == put.naming_scheme;
    others.have_rival |= !is_ours || entry.version < put.version;
    others.have_newer |= is_ours && entry.version > put.version;
    others.lack_ours &= entry.path != put.path;
  }
  return others;
}

// Lets go of a name that was held, unless another has it by now.
arrow::Status Release(const TableLocation& table, const std::string& held) {
  ARROW_ASSIGN_OR_RAISE(const auto info, table.store->Head(held));
  if (!info) return arrow::Status::OK();
  const VersionEntry entry = {.path = held, .size_bytes = info->size_bytes};
  ARROW_ASSIGN_OR_RAISE(const bool is_held, IsHeldName(table, entry));
  return is_held ? table.store->DeleteIf(*info).status() : arrow::Status::OK();
}

// Publishes the first version, and keeps it unless there was a version before. One that another
// writer made of ours is none.
arrow::Status PublishAlone(const TableLocation& table, const Transaction& transaction,
                           const CommitOptions& options, const std::string& held,
                           Manifest* manifest) {
  ARROW_ASSIGN_OR_RAISE(const Outcome outcome,
                        Publish(table, transaction, options.durability, manifest));
  if (outcome == Outcome::kTaken) return Exists(table);
  for (int look = 0; look < kMostLooks; ++look) {
    const auto others = LookAround(table, *manifest, held);
    if (!others.ok()) return MayBeAnothers(*manifest, others.status().message());
    if (others->have_rival && others->have_newer) continue;
    // A clean-up took it, for the sake of a rival that yielded since, or of versions above it that
    // the listing missed; or the table was removed.
    if (!others->have_rival && !others->have_newer && others->lack_ours) continue;
    if (!others->have_rival && !others->have_newer) return arrow::Status::OK();
    if (others->have_newer) {
      const auto standing = StandingOf(table, *manifest);
      if (!standing.ok()) return MayBeAnothers(*manifest, standing.status().message());
      if (*standing == Standing::kInChain) return arrow::Status::OK();
      if (*standing == Standing::kUnknown) return MayBeAnothers(*manifest, "newer ones do not say");
    }
    const arrow::Status withdrawn = TakeBack(table, *manifest, transaction.may_be_recorded);
    return withdrawn.ok() ? Exists(table) : MayBeAnothers(*manifest, withdrawn.message());
  }
  return MayBeAnothers(*manifest, "its versions come and go");
}

// Every creator has to get the V2 name first.
arrow::Status PublishFirst(const TableLocation& table, const Transaction& transaction,
                           const CommitOptions& options, Manifest* manifest) {
  return PublishAlone(table, transaction, options, "", manifest);
}

// A version of a V1 name is put while the V2 name is held by what is no version: nobody builds upon
// that, and whoever gets the V2 name afterwards sees the V1 name.
arrow::Status PublishFirstV1(const TableLocation& table, const Transaction& transaction,
                             const CommitOptions& options, Manifest* manifest) {
  const std::string held =
      table.Path("_versions/" + ManifestName(manifest->version, NamingScheme::kV2));
  const std::shared_ptr<arrow::Buffer> mark = arrow::Buffer::FromString(std::string(kHeldName));
  const arrow::Status put = table.store->PutIfAbsent(held, std::span(&mark, 1), /*sync=*/false);
  if (!put.ok() && KindOf(put) == ErrorKind::kAlreadyExists) return Exists(table);
  ARROW_RETURN_NOT_OK(put);

  manifest->naming_scheme = NamingScheme::kV1;
  const auto others = LookAround(table, *manifest, held);
  arrow::Status made = others.status();
  if (others.ok()) {
    made = others->have_rival || others->have_newer
               ? Exists(table)
               : PublishAlone(table, transaction, options, held, manifest);
  }
  arrow::Status released = Release(table, held);
  if (!released.ok()) released = Release(table, held);
  if (!made.ok() || released.ok()) return made;
  return CommitUnknown(Location{held}, "the table is there, beside a name that was held for it: {}",
                       released.message());
}

arrow::Result<ManifestPtr> CommitFirst(const TableLocation& table, const Manifest& previous,
                                       uint64_t read_version, Change change,
                                       const CommitOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, ListManifests(table));
  if (!entries.empty()) return Exists(table, entries);
  Transaction transaction{
      .read_version = options.read_version.value_or(read_version),
      .uuid = options.transaction_uuid.empty() ? NewUuid() : options.transaction_uuid,
      .properties = options.transaction_properties,
      .may_be_recorded = !options.transaction_uuid.empty()};
  transaction.parent = kNoVersionBefore;
  ARROW_ASSIGN_OR_RAISE(Manifest applied, Apply(previous, change.operation, change.hints));
  transaction.operation = std::move(change.operation);

  auto manifest = std::make_shared<Manifest>(std::move(applied));
  manifest->ancestors = {kNoVersionBefore};
  manifest->naming_scheme = NamingScheme::kV2;
  ARROW_RETURN_NOT_OK(SyncFiles(table, options.durability, options.files_to_sync));
  const auto publish = options.naming_scheme == NamingScheme::kV1 ? PublishFirstV1 : PublishFirst;
  ARROW_RETURN_NOT_OK(publish(table, transaction, options, manifest.get()));
  WriteVersionHint(table, *manifest);
  return manifest;
}

}  // namespace

arrow::Result<ManifestPtr> CommitCreate(const TableLocation& table, Change overwrite,
                                        const CommitOptions& options) {
  Manifest nothing;
  nothing.config = options.initial_config;
  if (options.data_file_version) nothing.data_file_version = *options.data_file_version;
  if (options.enable_stable_row_ids) {
    nothing.reader_feature_flags = nothing.writer_feature_flags = feature::kStableRowIds;
  }
  return CommitFirst(table, nothing, 0, std::move(overwrite), options);
}

arrow::Result<ManifestPtr> CommitClone(const TableLocation& table, const Manifest& source,
                                       Clone operation, const CommitOptions& options) {
  ARROW_RETURN_NOT_OK(CheckWritable(source));
  const uint64_t version = operation.ref_version;
  return CommitFirst(table, source, version, std::move(operation), options);
}

}  // namespace glaive::table
