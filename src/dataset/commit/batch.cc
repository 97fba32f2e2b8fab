#include <algorithm>
#include <utility>

#include "core/error.h"
#include "dataset/handle/durability.h"
#include "glaive/commit.h"
#include "table/commit/publish.h"

namespace glaive {
namespace {

arrow::Status AddProperties(const Transaction& from, Transaction& merged) {
  for (const auto& [key, value] : from.properties) {
    const auto [known, is_new] = merged.properties.emplace(key, value);
    if (is_new || known->second == value) continue;
    return InvalidInput("transactions of one batch set the property '{}' to '{}' and to '{}'", key,
                        known->second, value);
  }
  return arrow::Status::OK();
}

// All the fragments in one append, as of the oldest version that any of them was read from.
arrow::Result<Transaction> Merged(std::span<const Transaction> batch) {
  if (batch.empty()) return InvalidInput("No transactions to commit");
  Transaction merged;
  merged.uuid = table::NewUuid();
  operation::Append append;
  for (const Transaction& transaction : batch) {
    const bool is_append = transaction.operation.has_value() &&
                           std::holds_alternative<operation::Append>(*transaction.operation);
    if (!is_append) return InvalidInput("a batch of other transactions than appends");
    if (!transaction.read_version) return InvalidInput("an append without a read_version");
    merged.read_version = std::min(merged.read_version.value_or(*transaction.read_version),
                                   *transaction.read_version);
    const auto& fragments = std::get<operation::Append>(*transaction.operation).fragments;
    append.fragments.insert(append.fragments.end(), fragments.begin(), fragments.end());
    ARROW_RETURN_NOT_OK(AddProperties(transaction, merged));
  }
  merged.operation = std::move(append);
  return merged;
}

template <typename Destination>
arrow::Result<BatchResult> CommitTo(const Destination& destination,
                                    std::span<const Transaction> batch,
                                    const CommitOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Transaction merged, Merged(batch));
  for (const auto& [key, value] : dataset::PropertiesOf(options.version)) {
    merged.properties.insert_or_assign(key, value);
  }
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Commit(destination, merged, options));
  return BatchResult{std::move(dataset), std::move(merged)};
}

}  // namespace

arrow::Result<BatchResult> CommitBatch(std::string_view uri, std::span<const Transaction> batch,
                                       const CommitOptions& options) {
  return CommitTo(uri, batch, options);
}

arrow::Result<BatchResult> CommitBatch(const Dataset& dataset, std::span<const Transaction> batch,
                                       const CommitOptions& options) {
  return CommitTo(dataset, batch, options);
}

}  // namespace glaive
