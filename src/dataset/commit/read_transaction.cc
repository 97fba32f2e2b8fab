#include <ranges>
#include <utility>

#include "dataset/handle/dataset_state.h"
#include "glaive/commit.h"
#include "table/manifest/table_schema.h"
#include "table/operation/operation.h"
#include "table/versions/versions.h"

namespace glaive {
namespace {

// Users see schemas as Arrow has them.
constexpr auto ShowSchema = [](auto& operation) -> arrow::Status {
  if constexpr (requires { operation.schema; }) {
    return table::MakeTableSchema(StateOf(operation.schema)->schema).Value(&operation.schema);
  }
  return arrow::Status::OK();
};

arrow::Result<std::optional<Transaction>> Read(const table::TableLocation& location,
                                               const table::VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(auto transaction, table::ReadTransaction(location, entry));
  if (!transaction) return std::nullopt;
  Transaction read{.read_version = transaction->read_version,
                   .operation = std::move(transaction->operation),
                   .uuid = std::move(transaction->uuid),
                   .properties = std::move(transaction->properties)};
  if (read.operation) ARROW_RETURN_NOT_OK(std::visit(ShowSchema, *read.operation));
  return read;
}

}  // namespace

arrow::Result<std::optional<Transaction>> TransactionOf(const Dataset& dataset, uint64_t version) {
  const table::TableLocation& location = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const auto entry, table::FindVersion(location, version));
  return Read(location, entry);
}

arrow::Result<std::vector<std::optional<Transaction>>> RecentTransactions(const Dataset& dataset,
                                                                          uint64_t limit) {
  const table::TableLocation& location = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(location));
  std::vector<std::optional<Transaction>> transactions;
  for (const table::VersionEntry& entry : entries | std::views::reverse) {
    if (entry.version > dataset.version()) continue;
    if (transactions.size() == limit) break;
    ARROW_ASSIGN_OR_RAISE(auto transaction, Read(location, entry));
    transactions.push_back(std::move(transaction));
  }
  return transactions;
}

}  // namespace glaive
