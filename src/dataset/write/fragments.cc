#include <utility>
#include <vector>

#include "dataset/handle/durability.h"
#include "dataset/write/destination.h"
#include "glaive/commit.h"
#include "glaive/write.h"
#include "table/commit/publish.h"
#include "table/manifest/table_schema.h"

namespace glaive {
namespace {

// Files that nothing refers to yet and that stay.
struct Written {
  dataset::Destination destination;
  wire::Schema schema;
  std::vector<FragmentMetadata> fragments;
};

// What is told of fragments remembers their target as what is returned does.
FragmentEvents Remembering(FragmentEvents events,
                           const std::optional<dataset::TableIdentity>& target) {
  if (!target || !events.complete) return events;
  events.complete = [complete = std::move(events.complete), target](const FragmentMetadata& made) {
    return complete(table::MakeFragmentMetadata(StateOf(made)->fragment, target));
  };
  return events;
}

template <typename Place>
arrow::Result<Written> WriteTo(std::shared_ptr<arrow::RecordBatchReader> stream, const Place& place,
                               WriteOptions options) {
  ARROW_ASSIGN_OR_RAISE(auto destination, dataset::FileDestination(place, options));
  options.fragment_events =
      Remembering(std::move(options.fragment_events), destination.written_for);
  ARROW_ASSIGN_OR_RAISE(auto rows, dataset::WriteRows(std::move(stream), destination, options));
  ARROW_RETURN_NOT_OK(
      dataset::HandOver(*destination.table.store, rows.written.files, options.version.durability));
  Written written{std::move(destination), std::move(rows.fields), {}};
  for (wire::DataFragment& fragment : rows.written.fragments) {
    written.fragments.push_back(
        table::MakeFragmentMetadata(std::move(fragment), written.destination.written_for));
  }
  return written;
}

template <typename Place>
arrow::Result<std::vector<FragmentMetadata>> FragmentsFor(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Place& place,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), place, options));
  return std::move(written.fragments);
}

template <typename Place>
arrow::Result<Transaction> TransactionFor(std::shared_ptr<arrow::RecordBatchReader> stream,
                                          const Place& place, const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto written, WriteTo(std::move(stream), place, options));
  Transaction transaction;
  transaction.uuid = table::NewUuid();
  transaction.read_version = written.destination.version;
  transaction.properties = dataset::PropertiesOf(options.version);
  if (written.destination.mode == WriteMode::kAppend) {
    transaction.operation = operation::Append{std::move(written.fragments)};
    return transaction;
  }
  ARROW_ASSIGN_OR_RAISE(auto schema, table::MakeTableSchema(std::move(written.schema)));
  transaction.operation = operation::Overwrite{.fragments = std::move(written.fragments),
                                               .schema = std::move(schema),
                                               .config_upserts = options.initial_config};
  return transaction;
}

}  // namespace

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, std::string_view uri,
    const WriteOptions& options) {
  return FragmentsFor(std::move(stream), uri, options);
}

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Dataset& dataset,
    const WriteOptions& options) {
  return FragmentsFor(std::move(stream), dataset, options);
}

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const WriteTarget& target,
    const WriteOptions& options) {
  return FragmentsFor(std::move(stream), target, options);
}

arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            std::string_view uri, const WriteOptions& options) {
  return TransactionFor(std::move(stream), uri, options);
}

arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const Dataset& dataset, const WriteOptions& options) {
  return TransactionFor(std::move(stream), dataset, options);
}

arrow::Result<Transaction> WriteTransaction(std::shared_ptr<arrow::RecordBatchReader> stream,
                                            const WriteTarget& target,
                                            const WriteOptions& options) {
  return TransactionFor(std::move(stream), target, options);
}

}  // namespace glaive
