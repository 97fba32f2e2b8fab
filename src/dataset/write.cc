#include "glaive/write.h"

#include <utility>

#include "core/error.h"
#include "dataset/commit_version.h"
#include "dataset/dataset_state.h"
#include "dataset/write_session.h"
#include "io/object_store.h"

namespace glaive {
namespace {

constexpr const char* kCommitMessage = "__lance_commit_message";

arrow::Result<table::ManifestPtr> CommitRows(const dataset::Destination& destination,
                                             dataset::WrittenRows& rows,
                                             const table::CommitOptions& commit,
                                             const WriteOptions& options) {
  if (destination.mode == WriteMode::kAppend) {
    return dataset::CommitVersion(destination.table, destination.base,
                                  table::Append{.fragments = std::move(rows.written.fragments)},
                                  commit);
  }
  table::Overwrite overwrite = {.fragments = std::move(rows.written.fragments),
                                .schema = std::move(rows.schema)};
  if (destination.base == nullptr) {
    overwrite.initial_bases = destination.new_bases;
    return table::CommitCreate(destination.table, std::move(overwrite), commit);
  }
  if (options.data_storage_version) overwrite.data_file_version = rows.version;
  return dataset::CommitVersion(destination.table, destination.base, std::move(overwrite), commit);
}

arrow::Result<WriteResult> WriteTo(std::shared_ptr<arrow::RecordBatchReader> stream,
                                   const dataset::Destination& destination,
                                   const WriteOptions& options) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options.durability));
  ARROW_ASSIGN_OR_RAISE(auto rows, dataset::WriteRows(std::move(stream), destination, options));
  commit.transaction_properties = options.transaction_properties;
  if (options.commit_message)
    commit.transaction_properties[kCommitMessage] = *options.commit_message;
  commit.naming_scheme =
      options.enable_v2_manifest_paths ? table::NamingScheme::kV2 : table::NamingScheme::kV1;
  commit.enable_stable_row_ids = options.enable_stable_row_ids;
  commit.data_file_version = rows.version;
  commit.initial_config = options.initial_config;
  commit.files_to_sync = rows.written.files.paths();
  if (options.progress) {
    commit.poll = [&] {
      const WriteSummary& summary = rows.written.summary;
      return options.progress({.rows = summary.rows, .bytes = summary.bytes});
    };
  }

  auto manifest = CommitRows(destination, rows, commit, options);
  // Unless it is certain that no version refers to the files, they stay.
  if (manifest.ok() || KindOf(manifest.status()) == ErrorKind::kCommitUnknown) {
    rows.written.files.Keep();
  }
  ARROW_RETURN_NOT_OK(manifest.status());
  ARROW_ASSIGN_OR_RAISE(auto dataset, dataset::MakeDataset(destination.table, *std::move(manifest),
                                                           destination.session));
  return WriteResult{std::move(dataset), rows.written.summary};
}

}  // namespace

arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        std::string_view uri, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto destination, dataset::OpenDestination(uri, options));
  return WriteTo(std::move(stream), destination, options);
}

arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        const Dataset& dataset, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto destination, dataset::OpenDestination(dataset, options));
  return WriteTo(std::move(stream), destination, options);
}

}  // namespace glaive
