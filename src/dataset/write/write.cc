#include "glaive/write.h"

#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/write/destination.h"
#include "dataset/write/row_commit.h"
#include "io/object_store.h"

namespace glaive {
namespace {

arrow::Result<WriteResult> WriteTo(std::shared_ptr<arrow::RecordBatchReader> stream,
                                   const dataset::Destination& destination,
                                   const WriteOptions& options, dataset::Follow follow) {
  ARROW_ASSIGN_OR_RAISE(auto rows, dataset::WriteRows(std::move(stream), destination, options));
  table::CommitOptions commit;
  commit.naming_scheme =
      options.enable_v2_manifest_paths ? table::NamingScheme::kV2 : table::NamingScheme::kV1;
  commit.enable_stable_row_ids = options.enable_stable_row_ids;
  commit.data_file_version = rows.version;
  commit.initial_config = options.initial_config;
  if (options.version.progress) {
    commit.poll = [&] {
      const WriteSummary& summary = rows.written.summary;
      return options.version.progress({.rows = summary.rows, .bytes = summary.bytes});
    };
  }

  ARROW_ASSIGN_OR_RAISE(auto dataset,
                        dataset::CommitRows(destination, rows, commit, options, follow));
  return WriteResult{std::move(dataset), rows.written.summary};
}

}  // namespace

arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        std::string_view uri, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto destination, dataset::OpenDestination(uri, options));
  return WriteTo(std::move(stream), destination, options, dataset::Follow::kAlways);
}

arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        const Dataset& dataset, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto destination, dataset::OpenDestination(dataset, options));
  return WriteTo(std::move(stream), destination, options, dataset::Follow::kAppends);
}

}  // namespace glaive
