#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/dataset.h"
#include "glaive/history.h"
#include "table/operation/conflict.h"
#include "table/versions/versions.h"

namespace glaive {

arrow::Result<std::optional<TransactionInfo>> ReadTransaction(const Dataset& dataset,
                                                              uint64_t version) {
  const table::TableLocation& location = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(location));
  const auto entry = std::ranges::find(entries, version, &table::VersionEntry::version);
  if (entry == entries.end()) {
    return NotFound("Version {} of the dataset at path {} was not found", version, dataset.uri());
  }
  ARROW_ASSIGN_OR_RAISE(auto transaction, table::ReadTransaction(location, *entry));
  if (!transaction) return std::nullopt;
  TransactionInfo info{.read_version = transaction->read_version,
                       .uuid = std::move(transaction->uuid),
                       .operation = {},
                       .properties = std::move(transaction->properties)};
  if (transaction->operation) {
    info.operation = std::string(table::kOperationNames[transaction->operation->index()]);
  }
  return info;
}

}  // namespace glaive
