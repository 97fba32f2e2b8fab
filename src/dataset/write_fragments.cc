#include <utility>
#include <vector>

#include "dataset/fragment_state.h"
#include "dataset/schema_state.h"
#include "dataset/write_session.h"
#include "glaive/commit.h"
#include "glaive/write.h"
#include "table/publish.h"

namespace glaive {
namespace {

// Files that nothing refers to yet and that stay.
struct Written {
  dataset::WriteTarget target;
  wire::Schema schema;
  std::vector<FragmentMetadata> fragments;
};

template <typename Place>
arrow::Result<Written> WriteTo(std::shared_ptr<arrow::RecordBatchReader> stream, const Place& place,
                               const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto target, dataset::OpenTarget(place, options));
  ARROW_ASSIGN_OR_RAISE(const table::Durability durability, dataset::Resolve(options.durability));
  ARROW_ASSIGN_OR_RAISE(auto rows, dataset::WriteRows(std::move(stream), target, options));
  if (durability == table::Durability::kCommit && !rows.written.files.paths().empty()) {
    ARROW_RETURN_NOT_OK(target.table.store->Sync(rows.written.files.paths()));
  }
  rows.written.files.Keep();
  Written written{std::move(target), std::move(rows.schema), {}};
  for (wire::DataFragment& fragment : rows.written.fragments) {
    written.fragments.push_back(dataset::MakeFragmentMetadata(std::move(fragment)));
  }
  return written;
}

arrow::Result<Transaction> TransactionFor(Written written, const WriteOptions& options) {
  Transaction transaction;
  transaction.uuid = table::NewUuid();
  transaction.read_version = written.target.base != nullptr ? written.target.base->version : 0;
  transaction.properties = options.transaction_properties;
  if (options.commit_message) transaction.properties[kCommitMessageKey] = *options.commit_message;
  if (written.target.mode == WriteMode::kAppend) {
    transaction.operation = operation::Append{std::move(written.fragments)};
    return transaction;
  }
  ARROW_ASSIGN_OR_RAISE(auto schema, dataset::MakeTableSchema(std::move(written.schema)));
  transaction.operation = operation::Overwrite{.schema = std::move(schema),
                                               .fragments = std::move(written.fragments),
                                               .config_upserts = options.initial_config,
                                               .initial_bases = {}};
  return transaction;
}

}  // namespace

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, std::string_view uri,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), uri, options));
  return std::move(written.fragments);
}

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Dataset& dataset,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), dataset, options));
  return std::move(written.fragments);
}

arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            std::string_view uri, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), uri, options));
  return TransactionFor(std::move(written), options);
}

arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const Dataset& dataset, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), dataset, options));
  return TransactionFor(std::move(written), options);
}

}  // namespace glaive
