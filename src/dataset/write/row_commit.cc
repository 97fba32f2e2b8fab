#include "dataset/write/row_commit.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/commit/retry.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"

namespace glaive::dataset {
namespace {

// Whether a table has the columns that files hold: field by field the same ids, names and types. A
// column that the files lack must be one that may be null.
arrow::Status CheckColumns(const std::vector<wire::Field>& table,
                           const std::vector<wire::Field>& files, uint64_t version) {
  const auto changed = [&](const wire::Field& field) {
    return CommitConflict(Retry::kYes, version,
                          "column '{}' is no longer the one that the rows were written for: write "
                          "them again",
                          field.name);
  };
  for (const wire::Field& field : files) {
    const auto found = std::ranges::find(table, field.id, &wire::Field::id);
    if (found == table.end() || found->name != field.name ||
        found->logical_type != field.logical_type || (field.nullable && !found->nullable)) {
      return changed(field);
    }
    ARROW_RETURN_NOT_OK(CheckColumns(found->children, field.children, version));
  }
  for (const wire::Field& field : table) {
    const bool is_written = std::ranges::count(files, field.id, &wire::Field::id) > 0;
    if (!is_written && !field.nullable) return changed(field);
  }
  return arrow::Status::OK();
}

class RowCommit {
 public:
  RowCommit(const Destination& destination, WrittenRows& rows, const table::CommitOptions& details,
            const WriteOptions& options, Follow follow)
      : destination_(destination),
        rows_(rows),
        details_(details),
        options_(options),
        follow_(follow) {}

  arrow::Result<Dataset> Run() {
    const Persistence persistence;
    const SteadyTime start = SteadyNow();
    const auto deadline = start + std::chrono::milliseconds(persistence.retry_timeout_ms);
    std::chrono::nanoseconds first_attempt{};
    for (uint32_t i = 0;; ++i) {
      auto made = CommitVerb({destination_.table, destination_.base, destination_.session},
                             Change(), options_.version, &rows_.written.files, details_);
      if (made.ok() || !MayFollow(made.status())) return made;
      const SteadyTime now = SteadyNow();
      if (i == persistence.conflict_retries || now >= deadline) return made;
      if (i == 0) first_attempt = now - start;
      ARROW_RETURN_NOT_OK(WaitToTryAgain(i, first_attempt, deadline, options_.version.progress));
      ARROW_ASSIGN_OR_RAISE(const bool is_behind_newest, MoveToNewest());
      if (!is_behind_newest) return made;
    }
  }

 private:
  table::Change Change() const {
    std::vector<FragmentMetadata> fragments = table::FragmentsOf(rows_.written.fragments);
    const bool appends = destination_.mode == WriteMode::kAppend;
    if (appends) return table::Append{std::move(fragments)};
    table::CommitHints hints;
    table::Overwrite overwrite = {.fragments = std::move(fragments),
                                  .schema = table::WrapSchema(rows_.fields)};
    if (destination_.base == nullptr) {
      overwrite.initial_bases = destination_.new_bases;
    } else if (options_.data_storage_version || was_outrun_) {
      hints.data_file_version = rows_.version;
    }
    return {std::move(overwrite), std::move(hints)};
  }

  bool MayFollow(const arrow::Status& failure) const {
    if (destination_.base == nullptr) {
      return options_.mode != WriteMode::kCreate && KindOf(failure) == ErrorKind::kAlreadyExists;
    }
    const bool may = follow_ == Follow::kAlways || destination_.mode == WriteMode::kAppend;
    return may && IsRetryable(failure);
  }

  // False where no newer version is known to be of the same table.
  arrow::Result<bool> MoveToNewest() {
    auto newest = StateOf(*destination_.session)->LatestManifest(destination_.table);
    if (!newest.ok()) {
      // Whoever made the table before us may have taken it back.
      return destination_.base == nullptr && KindOf(newest.status()) == ErrorKind::kNotFound;
    }
    const table::Manifest& manifest = **newest;
    if (destination_.base != nullptr) {
      if (!IsOfSameTable(destination_.table, manifest, *destination_.base)) return false;
    } else if (!destination_.new_bases.empty()) {
      return false;  // the rows lie in bases of which that table knows nothing
    }
    if (options_.mode == WriteMode::kAppend) {
      ARROW_RETURN_NOT_OK(
          CheckColumns(manifest.schema.fields, rows_.fields.fields, manifest.version));
      if (manifest.data_file_version != rows_.version) {
        return CommitConflict(Retry::kYes, manifest.version,
                              "its files are of another version of the format than those that were "
                              "written");
      }
    }
    was_outrun_ = destination_.base == nullptr;
    destination_.mode = options_.mode;
    destination_.base = *std::move(newest);
    return true;
  }

  Destination destination_;
  WrittenRows& rows_;
  const table::CommitOptions& details_;
  const WriteOptions& options_;
  const Follow follow_;
  bool was_outrun_ = false;  // by another who made the table
};

}  // namespace

arrow::Result<Dataset> CommitRows(const Destination& destination, WrittenRows& rows,
                                  const table::CommitOptions& details, const WriteOptions& options,
                                  Follow follow) {
  return RowCommit(destination, rows, details, options, follow).Run();
}

}  // namespace glaive::dataset
