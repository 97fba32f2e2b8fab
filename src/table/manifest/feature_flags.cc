#include "table/manifest/feature_flags.h"

#include <array>
#include <string>

#include "core/error.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

enum class Words : uint8_t { kAny, kBothOrNone, kWriterOnly };

struct Flag {
  uint64_t bit;
  std::string_view name;
  bool reads;
  bool writes;
  Words words = Words::kAny;
};

constexpr std::array kFlags = {
    Flag{feature::kDeletionFiles, "deletion files", true, true},
    Flag{feature::kStableRowIds, "stable row ids", true, true},
    Flag{feature::kV2Format, "v2 format", true, true},
    Flag{feature::kTableConfig, "table config", true, true},
    Flag{feature::kBasePaths, "base paths", true, true},
    Flag{feature::kNoTransactionFile, "no transaction file", true, true},
    Flag{feature::kOverlays, "data overlay files", true, true},
    Flag{feature::kCoveringIndexColumns, "covering index columns", true, true},
    Flag{feature::kMixedFileVersions, "mixed data file versions", true, true, Words::kBothOrNone},
    Flag{feature::kReuseIndexStableRowIds, "reuse index with stable row ids", false, false},
    Flag{feature::kTaggedReuseHistory, "tagged reuse history", true, false, Words::kBothOrNone},
    Flag{feature::kSpilledRowLineage, "spilled row lineage", false, false},
    Flag{feature::kFragmentTree, "fragment tree", false, false},
    Flag{feature::kIndependentCoveringFields, "independent covering fields", false, false},
    Flag{feature::kManagedBlobs, "managed blobs", true, false, Words::kBothOrNone},
    Flag{feature::kNonReusableFieldIds, "non-reusable field ids", true, true, Words::kWriterOnly},
    Flag{feature::kZoneSeeds, "zone seeds", false, false, Words::kBothOrNone},
    Flag{feature::kObjectMetadata, "object metadata", false, false},
};

// The bits of `word` that `understood` does not allow, as "64 (data overlay files), 262144".
template <typename Understood>
std::string NotUnderstood(uint64_t word, Understood understood) {
  std::string text;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if ((word & bit) == 0 || (i < kFlags.size() && understood(kFlags[i]))) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(bit);
    if (i < kFlags.size()) text += " (" + std::string(kFlags[i].name) + ")";
  }
  return text;
}

arrow::Status CheckWords(const Manifest& manifest) {
  for (const Flag& flag : kFlags) {
    const bool reader = (manifest.reader_feature_flags & flag.bit) != 0;
    const bool writer = (manifest.writer_feature_flags & flag.bit) != 0;
    const bool wrong = (flag.words == Words::kBothOrNone && reader != writer) ||
                       (flag.words == Words::kWriterOnly && reader);
    if (!wrong) continue;
    return Corrupt({manifest.path}, "manifest flag {} ({}) is set in the {} word alone", flag.bit,
                   flag.name, reader ? "reader" : "writer");
  }
  const bool counts_ids = (manifest.writer_feature_flags & feature::kNonReusableFieldIds) != 0;
  if (counts_ids != manifest.max_allocated_field_id.has_value()) {
    return Corrupt({manifest.path},
                   "manifest flag {} (non-reusable field ids) and the highest id contradict each "
                   "other: one is there, the other is not",
                   feature::kNonReusableFieldIds);
  }
  return arrow::Status::OK();
}

// The only thing that the words say of indices is whether one carries columns besides its keys.
arrow::Result<bool> CarriesColumns(const Manifest& manifest) {
  bool found = false;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(manifest.index_section), {manifest.path}, "IndexSection",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != wire::Bytes(1)) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const auto entry, wire::ParseIndex(field.payload, field.where));
        found = found || entry.covering_fields.size() > 0;
        return arrow::Status::OK();
      }));
  return found;
}

}  // namespace

arrow::Status CheckReadable(const Manifest& manifest) {
  ARROW_RETURN_NOT_OK(CheckWords(manifest));
  const std::string refused =
      NotUnderstood(manifest.reader_feature_flags, [](const Flag& flag) { return flag.reads; });
  if (!refused.empty()) {
    return Unsupported(Location{manifest.path}, "reading a table with the feature flags {}",
                       refused);
  }
  const uint64_t without = manifest.fragments.totals().without_row_ids;
  if (manifest.has_stable_row_ids() && without > 0) {
    return Corrupt({manifest.path},
                   "manifest flag {} (stable row ids) is set, but {} fragments have no row ids",
                   feature::kStableRowIds, without);
  }
  return arrow::Status::OK();
}

arrow::Status CheckWritable(const Manifest& manifest) {
  ARROW_RETURN_NOT_OK(CheckReadable(manifest));
  const std::string refused =
      NotUnderstood(manifest.writer_feature_flags, [](const Flag& flag) { return flag.writes; });
  if (refused.empty()) return arrow::Status::OK();
  return Unsupported(Location{manifest.path}, "writing to a table with the feature flags {}",
                     refused);
}

arrow::Status DeriveFlags(const Manifest& previous, Manifest& next) {
  const FragmentTotals& totals = next.fragments.totals();
  const uint64_t own_version = totals.files_by_version[static_cast<size_t>(next.data_file_version)];
  uint64_t files = totals.files_of_unknown_version;
  for (const uint64_t count : totals.files_by_version) files += count;

  uint64_t both =
      previous.reader_feature_flags & (feature::kStableRowIds | feature::kMixedFileVersions);
  if (totals.deletion_files > 0) both |= feature::kDeletionFiles;
  if (!next.base_paths.empty()) both |= feature::kBasePaths;
  if (totals.overlays > 0) both |= feature::kOverlays;
  if (files > own_version) both |= feature::kMixedFileVersions;
  if (totals.spilled_lineages > 0) both |= feature::kSpilledRowLineage;
  ARROW_ASSIGN_OR_RAISE(const bool carries_columns, CarriesColumns(next));
  if (carries_columns) both |= feature::kCoveringIndexColumns;

  next.reader_feature_flags = both;
  next.writer_feature_flags = both;
  if (!next.config.empty()) next.writer_feature_flags |= feature::kTableConfig;
  if (next.max_allocated_field_id) next.writer_feature_flags |= feature::kNonReusableFieldIds;
  return arrow::Status::OK();
}

}  // namespace glaive::table
