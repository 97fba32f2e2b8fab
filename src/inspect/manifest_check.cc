#include "inspect/manifest_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/error.h"
#include "inspect/fragment_check.h"
#include "inspect/index_files.h"
#include "table/manifest/feature_flags.h"
#include "table/versions/file.h"

namespace glaive::inspect {
namespace {

arrow::Status CheckCounters(const table::Manifest& manifest) {
  std::optional<uint64_t> highest;
  ARROW_RETURN_NOT_OK(manifest.fragments.Visit([&](const table::Fragment& fragment) {
    highest = fragment.id();
    return arrow::Status::OK();
  }));
  if (!highest || (manifest.max_fragment_id && *manifest.max_fragment_id >= *highest)) {
    return arrow::Status::OK();
  }
  return Corrupt({manifest.path}, "fragment {} is above the highest id that was given, {}",
                 *highest,
                 manifest.max_fragment_id ? std::to_string(*manifest.max_fragment_id) : "none");
}

arrow::Status CheckFieldIds(const table::Manifest& manifest, const std::vector<wire::Field>& fields,
                            std::set<int32_t>* ids) {
  for (const wire::Field& field : fields) {
    if (!ids->insert(field.id).second) {
      return Corrupt({manifest.path}, "two fields have the id {}, one of them '{}'", field.id,
                     field.name);
    }
    ARROW_RETURN_NOT_OK(CheckFieldIds(manifest, field.children, ids));
  }
  return arrow::Status::OK();
}

// A reader that is not told of a feature may read wrong rows.
arrow::Status CheckFlags(const table::Manifest& manifest) {
  table::Manifest derived = manifest;
  ARROW_RETURN_NOT_OK(table::DeriveFlags(manifest, derived));
  const uint64_t missing = derived.reader_feature_flags & ~manifest.reader_feature_flags;
  if (missing == 0) return arrow::Status::OK();
  return Corrupt({manifest.path}, "readers are not told of features that they need: flags {:#x}",
                 missing);
}

arrow::Status CheckIndices(const read::Snapshot& snapshot,
                           const std::function<void(Finding)>& add) {
  ARROW_ASSIGN_OR_RAISE(const auto missing,
                        IndicesWithoutFiles(snapshot.location, *snapshot.manifest));
  for (const StoredIndex& index : missing) {
    add(FindingOf(FileNotFound({index.folder}, "index '{}' has no files", index.entry.name),
                  std::nullopt));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<table::ManifestPtr> CheckManifestFile(const table::TableLocation& table,
                                                    const table::VersionEntry& entry, bool whole) {
  if (!whole) {
    ARROW_RETURN_NOT_OK(table::ManifestFile::Open(table, entry.path, std::nullopt).status());
    return nullptr;
  }
  ARROW_ASSIGN_OR_RAISE(auto manifest, table::ReadManifest(table, entry));
  ARROW_RETURN_NOT_OK(table::ReadTransaction(table, entry).status());
  return manifest;
}

arrow::Status CheckManifest(const read::Snapshot& snapshot,
                            const std::function<void(Finding)>& add) {
  const table::Manifest& manifest = *snapshot.manifest;
  const auto note = [&](const arrow::Status& status, Severity severity) {
    if (status.ok() || EndsCheck(status)) return status;
    Finding finding = FindingOf(status, std::nullopt);
    if (severity == Severity::kWarning) finding.severity = severity;
    add(std::move(finding));
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(note(CheckCounters(manifest), Severity::kError));
  std::set<int32_t> ids;
  ARROW_RETURN_NOT_OK(
      note(CheckFieldIds(manifest, manifest.schema.fields, &ids), Severity::kError));
  ARROW_RETURN_NOT_OK(note(CheckFlags(manifest), Severity::kWarning));
  return note(CheckIndices(snapshot, add), Severity::kError);
}

}  // namespace glaive::inspect
