#include <algorithm>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "glaive/history.h"
#include "table/versions/versions.h"

namespace glaive {
namespace {

// The keys of pylance's versions().
std::map<std::string, std::string> VersionMetadata(const DatasetSummary& summary) {
  return {
      {"total_fragments", std::to_string(summary.num_fragments)},
      {"total_data_files", std::to_string(summary.num_data_files)},
      {"total_files_size", std::to_string(summary.data_file_bytes)},
      {"total_deletion_files", std::to_string(summary.num_deletion_files)},
      {"total_data_file_rows", std::to_string(summary.physical_rows)},
      {"total_deletion_file_rows", std::to_string(summary.deleted_rows)},
      {"total_rows", std::to_string(summary.physical_rows -
                                    std::min(summary.deleted_rows, summary.physical_rows))},
  };
}

VersionInfo InfoOf(const table::Manifest& manifest) {
  return {manifest.version, manifest.timestamp_ns,
          VersionMetadata(dataset::SummaryOf(manifest.fragments.totals()))};
}

}  // namespace

arrow::Result<uint64_t> LatestVersion(const Dataset& dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto entry, table::LatestVersion(StateOf(dataset)->location));
  if (!entry) return NotFound("Dataset at path {} was not found", dataset.uri());
  return entry->version;
}

arrow::Result<std::vector<VersionInfo>> Versions(const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(state.location));
  std::vector<VersionInfo> versions;
  versions.reserve(entries.size());
  for (const table::VersionEntry& entry : entries) {
    ARROW_ASSIGN_OR_RAISE(const auto manifest,
                          StateOf(*state.session)->ManifestOf(state.location, entry));
    versions.push_back(InfoOf(*manifest));
  }
  return versions;
}

VersionInfo VersionInfoOf(const Dataset& dataset) { return InfoOf(*StateOf(dataset)->manifest); }

arrow::Result<VersionInfo> ReadVersionInfo(const Dataset& dataset, uint64_t version) {
  if (version == dataset.version()) return VersionInfoOf(dataset);
  const dataset::DatasetState& state = *StateOf(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto manifest,
                        StateOf(*state.session)->ManifestOf(state.location, version));
  return InfoOf(*manifest);
}

arrow::Result<std::vector<uint64_t>> VersionNumbers(const Dataset& dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(StateOf(dataset)->location));
  std::vector<uint64_t> versions;
  for (const table::VersionEntry& entry : entries) versions.push_back(entry.version);
  return versions;
}

}  // namespace glaive
