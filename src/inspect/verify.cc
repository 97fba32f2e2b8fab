#include "glaive/verify.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/dataset.h"
#include "glaive/repair.h"
#include "glaive/session.h"
#include "inspect/fragment_check.h"
#include "inspect/manifest_check.h"
#include "inspect/table_folders.h"
#include "table/versions/chain.h"
#include "table/versions/not_found.h"

namespace glaive {
namespace {

using inspect::FragmentCheck;

constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr uint64_t kUnitBytes = uint64_t{8} << 20;  // decoded between two looks at Ctrl-C
constexpr uint64_t kSessionBytes = uint64_t{64} << 20;

class Verification {
 public:
  explicit Verification(const VerifyOptions& options) : options_(options) {
    report_.depth = options.depth;
  }

  arrow::Result<VerifyReport> Run(std::string_view uri) {
    ARROW_ASSIGN_OR_RAISE(const auto place, io::Resolve(uri));
    location_ = {place.store, place.path, place.uri};
    ARROW_RETURN_NOT_OK(CheckVersions());
    if (version_) ARROW_RETURN_NOT_OK(CheckSnapshot());
    if (options_.survey_files) ARROW_RETURN_NOT_OK(CheckFiles(uri));
    std::ranges::stable_sort(report_.findings, {}, &Finding::severity);
    return std::move(report_);
  }

 private:
  void Add(Finding finding) {
    // A file that cannot be opened says so for each part of it that was asked for.
    if (!seen_.insert(finding.message).second) return;
    // Nor is one that is not there missing twice, for who reads it and for who looks for it.
    if (finding.kind == ErrorKind::kFileNotFound && !finding.path.empty() &&
        !missing_.insert(RelativePath(finding.path)).second) {
      return;
    }
    report_.findings.push_back(std::move(finding));
  }

  std::string RelativePath(std::string_view path) const {
    const std::string folder = location_.root + "/";
    return std::string(path.starts_with(folder) ? path.substr(folder.size()) : path);
  }

  arrow::Status Poll() {
    if (!options_.progress) return arrow::Status::OK();
    return options_.progress({.rows = report_.num_rows_decoded,
                              .bytes = bytes_done_,
                              .total_bytes = total_bytes_,
                              .tasks = report_.num_fragments,
                              .total_tasks = total_fragments_});
  }

  arrow::Status CheckVersions();
  void CheckDescent(const table::ManifestPtr& manifest);
  arrow::Status CheckSnapshot();
  arrow::Status CheckFragments(const read::Snapshot& snapshot);
  arrow::Status CheckFiles(std::string_view uri);
  arrow::Result<std::optional<WorkUnit>> NextUnit();
  WorkUnit CheckUnit(std::shared_ptr<const wire::DataFragment> fragment);
  WorkUnit DecodeUnit(RowRange rows, bool is_last);
  void PlanDecoding();
  void CheckLiveIds();

  const VerifyOptions& options_;
  VerifyReport report_;
  table::TableLocation location_;
  std::optional<table::VersionEntry> version_;
  table::ManifestPtr newer_;  // the one above that the next is expected to lead to
  std::set<std::string> seen_;
  std::set<std::string> missing_;  // paths within the table

  // Of the version that is verified.
  read::Snapshot snapshot_;
  std::shared_ptr<const read::Projection> columns_;
  std::vector<wire::DataFragment> fragments_;
  size_t next_fragment_ = 0;
  double sampled_ = 0;  // of the fragments met so far, how many should be decoded
  std::shared_ptr<const wire::DataFragment> open_;  // its rows are being decoded
  std::shared_ptr<bool> open_is_whole_;             // as far as they were
  uint64_t next_row_ = 0;
  uint64_t rows_per_unit_ = 0;
  uint64_t bytes_per_unit_ = 0;
  uint64_t bytes_done_ = 0;
  uint64_t total_bytes_ = 0;
  uint64_t total_fragments_ = 0;
  std::vector<RowRange> live_ids_;
};

// All manifests, newest first; finds the one that is to be verified.
arrow::Status Verification::CheckVersions() {
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListVersions(location_));
  if (entries.empty()) return table::TableNotFound(location_);
  const bool whole = options_.depth == VerifyDepth::kRows;
  const uint64_t head = entries.back().version;
  for (const table::VersionEntry& entry : entries | std::views::reverse) {
    ARROW_RETURN_NOT_OK(Poll());
    const bool wanted = options_.version ? entry.version == *options_.version : !version_;
    const auto manifest = inspect::CheckManifestFile(location_, entry, whole || wanted);
    const arrow::Status& status = manifest.status();
    ++report_.num_versions;
    if (status.ok() && wanted) version_ = entry;
    if (status.ok()) {
      if (*manifest != nullptr) CheckDescent(*manifest);
      continue;
    }
    if (inspect::EndsCheck(status)) return status;
    Finding finding = inspect::FindingOf(status, std::nullopt);
    finding.message = fmt::format("version {}{}: {}", entry.version,
                                  entry.version == head ? ", the newest" : "", finding.message);
    Add(std::move(finding));
    if (options_.version && wanted) return arrow::Status::OK();
  }
  if (options_.version && !version_) {
    return NotFound("Dataset at path {} version {} was not found", location_.uri,
                    *options_.version);
  }
  return arrow::Status::OK();
}

// Called from the newest version down.
void Verification::CheckDescent(const table::ManifestPtr& manifest) {
  if (newer_ == nullptr || table::Descends(*newer_, *manifest) != table::Descent::kNo) {
    newer_ = manifest;
    return;
  }
  Add({.severity = Severity::kWarning,
       .kind = ErrorKind::kNotFound,
       .path = RelativePath(manifest->path),
       .fragment_id = std::nullopt,
       .message =
           fmt::format("version {} is a stray: version {} does not descend from it. A writer "
                       "that died left it; the next clean-up removes it",
                       manifest->version, newer_->version)});
}

arrow::Status Verification::CheckSnapshot() {
  // A cache of its own: bytes that somebody read before prove nothing about the disk.
  const auto session = std::make_shared<Session>(kSessionBytes);
  ARROW_ASSIGN_OR_RAISE(auto manifest, table::ReadManifest(location_, *version_));
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                        dataset::MakeDataset(location_, std::move(manifest), session));
  report_.version = dataset.version();
  total_bytes_ = dataset.summary().data_file_bytes;
  total_fragments_ = dataset.num_fragments();
  snapshot_ = dataset::SnapshotOf(dataset);
  ARROW_RETURN_NOT_OK(
      inspect::CheckManifest(snapshot_, [&](Finding finding) { Add(std::move(finding)); }));
  ARROW_ASSIGN_OR_RAISE(columns_, read::Projection::Make(snapshot_.manifest->schema, {}));
  ARROW_RETURN_NOT_OK(
      snapshot_.manifest->fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(fragments_.emplace_back(), view.Parse());
        return arrow::Status::OK();
      }));
  MemoryBudget budget(kBudget);
  const auto next = [this] { return NextUnit(); };
  if (options_.jobs) {
    Executor executor(std::max(*options_.jobs, 1u) - 1);
    ARROW_RETURN_NOT_OK(RunInOrder(executor, budget, next));
  } else {
    ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, next));
  }
  CheckLiveIds();
  return arrow::Status::OK();
}

arrow::Result<std::optional<WorkUnit>> Verification::NextUnit() {
  if (open_ != nullptr) {
    const RowRange rows = {next_row_, std::min(next_row_ + rows_per_unit_, open_->physical_rows)};
    next_row_ = rows.end;
    const bool is_last = next_row_ == open_->physical_rows;
    WorkUnit unit = DecodeUnit(rows, is_last);
    if (is_last) open_.reset();
    return unit;
  }
  if (next_fragment_ == fragments_.size()) return std::nullopt;
  wire::DataFragment& next = fragments_[next_fragment_++];
  // Old writers do not count them. What cannot be opened is a finding of the check.
  next.physical_rows = read::PhysicalRows(snapshot_, next).ValueOr(0);
  auto fragment = std::make_shared<const wire::DataFragment>(std::move(next));
  sampled_ += options_.sample;
  if (options_.depth == VerifyDepth::kRows && sampled_ >= 1 - 1e-9 && fragment->physical_rows > 0) {
    sampled_ -= 1;
    open_ = fragment;
    PlanDecoding();
  }
  return CheckUnit(std::move(fragment));
}

// About the same number of bytes at a time, going by the files' sizes.
void Verification::PlanDecoding() {
  uint64_t bytes = 0;
  for (const wire::DataFile& file : open_->files) {
    bytes += std::min(file.file_size_bytes, UINT64_MAX / 2 - bytes);
  }
  const double bytes_per_row =
      std::max(static_cast<double>(bytes) / static_cast<double>(open_->physical_rows), 8.0);
  rows_per_unit_ =
      std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(kUnitBytes) / bytes_per_row));
  bytes_per_unit_ = std::min(bytes, kUnitBytes);
  next_row_ = 0;
  open_is_whole_ = std::make_shared<bool>(true);
  ++report_.num_fragments_sampled;
}

WorkUnit Verification::CheckUnit(std::shared_ptr<const wire::DataFragment> fragment) {
  auto check = std::make_shared<FragmentCheck>();
  return {.bytes = uint64_t{64} << 10,
          .run = [this, check, fragment]() -> arrow::Status {
            return inspect::CheckFragment(snapshot_, *fragment, columns_).Value(check.get());
          },
          .emit = [this, check]() -> arrow::Status {
            for (Finding& finding : check->findings) Add(std::move(finding));
            ++report_.num_fragments;
            report_.num_data_files += check->num_data_files;
            report_.num_deletion_files += check->num_deletion_files;
            report_.num_rows += check->live_rows;
            live_ids_.insert(live_ids_.end(), check->live_row_ids.begin(),
                             check->live_row_ids.end());
            return Poll();
          }};
}

WorkUnit Verification::DecodeUnit(RowRange rows, bool is_last) {
  auto findings = std::make_shared<std::vector<Finding>>();
  return {.bytes = bytes_per_unit_,
          .run =
              [this, findings, rows, fragment = open_] {
                return inspect::DecodeRows(snapshot_, *fragment, columns_, rows, findings.get());
              },
          .emit = [this, findings, rows, is_last, is_whole = open_is_whole_,
                   bytes = bytes_per_unit_]() -> arrow::Status {
            for (Finding& finding : *findings) Add(std::move(finding));
            if (findings->empty()) report_.num_rows_decoded += rows.size();
            *is_whole = *is_whole && findings->empty();
            if (is_last && *is_whole) ++report_.num_fragments_decoded;
            bytes_done_ += bytes;
            return Poll();
          }};
}

// A live row has one id, and the counter is beyond all of them.
void Verification::CheckLiveIds() {
  std::ranges::sort(live_ids_, {}, &RowRange::begin);
  const std::string& path = snapshot_.manifest->path;
  for (size_t i = 1; i < live_ids_.size(); ++i) {
    if (live_ids_[i].begin >= live_ids_[i - 1].end) continue;
    Add(inspect::FindingOf(
        Corrupt({path}, "two live rows have the stable row id {}", live_ids_[i].begin),
        std::nullopt));
    return;
  }
  if (live_ids_.empty() || live_ids_.back().end <= snapshot_.manifest->next_row_id) return;
  Add(inspect::FindingOf(Corrupt({path}, "a row has the id {}, but {} is the next to be given",
                                 live_ids_.back().end - 1, snapshot_.manifest->next_row_id),
                         std::nullopt));
}

arrow::Status Verification::CheckFiles(std::string_view uri) {
  const auto survey = SurveyFiles(
      uri, {.session = options_.session, .progress = [this](const Progress&) { return Poll(); }});
  if (!survey.ok()) {
    if (inspect::EndsCheck(survey.status())) return survey.status();
    Finding finding = inspect::FindingOf(survey.status(), std::nullopt);
    finding.severity = Severity::kWarning;
    finding.message = "files that nothing refers to were not looked for: " + finding.message;
    Add(std::move(finding));
    return arrow::Status::OK();
  }
  for (const MissingFile& file : survey->missing) {
    // A transaction is in its manifest as well; without the file, it only is in one place.
    const bool is_copy = file.path.starts_with("_transactions/");
    Add({.severity = is_copy ? Severity::kWarning : Severity::kError,
         .kind = ErrorKind::kFileNotFound,
         .path = file.path,
         .fragment_id = std::nullopt,
         .message =
             fmt::format("{} is not there; version {} refers to it", file.path, file.version)});
  }
  for (const OrphanFile& file : survey->orphans) {
    ++report_.num_orphans;
    report_.orphan_bytes += file.size_bytes;
  }
  return arrow::Status::OK();
}

}  // namespace

bool VerifyReport::ok() const {
  return understood() && std::ranges::none_of(findings, [](const Finding& finding) {
           return finding.severity == Severity::kError;
         });
}

bool VerifyReport::understood() const {
  return std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.kind == ErrorKind::kUnsupported; });
}

bool VerifyReport::damaged() const {
  return std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.severity == Severity::kError && finding.kind != ErrorKind::kIO;
  });
}

std::string VerifyReport::Statement() const {
  if (version == 0) return "No version could be read: nothing else was checked.";
  std::string text = fmt::format("Version {} {}: ", version,
                                 ok()           ? "is whole as far as this looked"
                                 : damaged()    ? "or its history is damaged"
                                 : understood() ? "or its history could not be read whole"
                                                : "holds what this build does not read");
  text += fmt::format("{} manifests, {} data files and {} deletion files were looked at",
                      num_versions, num_data_files, num_deletion_files);
  text += ok() ? "; they are there, and hold what the manifest says. "
               : "; what is wrong with them is listed above. ";
  if (!understood()) {
    return text + fmt::format(
                      "What the warnings name is not read by this build and was not "
                      "checked: {} of {} fragments were decoded.",
                      num_fragments_decoded, num_fragments);
  }
  if (depth == VerifyDepth::kFooters) {
    text += "No value was read: damage inside pages would not be seen.";
  } else if (num_fragments_sampled < num_fragments) {
    text += fmt::format(
        "Every value of {} of {} fragments was decoded; damage inside the others "
        "would not be seen.",
        num_fragments_decoded, num_fragments);
  } else {
    text += ok() ? "Every value was decoded. " : "Every value that could be was decoded. ";
    text +=
        "The format has no checksums: a flipped bit that still decodes "
        "to a value would not be seen.";
  }
  return text;
}

arrow::Result<VerifyReport> Verify(std::string_view uri, const VerifyOptions& options) {
  if (!(options.sample > 0 && options.sample <= 1)) {
    return InvalidInput("a sample of {} was asked for; it is a share above 0 and up to 1",
                        options.sample);
  }
  return Verification(options).Run(uri);
}

}  // namespace glaive
