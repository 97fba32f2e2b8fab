#include "dataset/handle/table_identity.h"

#include <fmt/format.h>

#include "core/error.h"
#include "table/commit/publish.h"

namespace glaive::dataset {
namespace {

// What two versions of one number are still unlikely to share.
std::string StandIn(const table::Manifest& manifest) {
  return fmt::format("made-at-{}", manifest.timestamp_ns);
}

}  // namespace

bool IsSameVersion(const table::Manifest& one, const table::Manifest& other) {
  return one.version == other.version && one.transaction_file == other.transaction_file &&
         one.timestamp_ns == other.timestamp_ns;
}

arrow::Result<TableIdentity> IdentityOf(const table::TableLocation& table,
                                        const table::Manifest& manifest) {
  if (auto uuid = table::TransactionUuidOf(manifest)) {
    return TableIdentity{manifest.version, *std::move(uuid)};
  }
  ARROW_ASSIGN_OR_RAISE(
      const auto transaction,
      table::ReadTransaction(
          table, {manifest.version, manifest.path, manifest.naming_scheme, manifest.size_bytes}));
  if (transaction && !transaction->uuid.empty()) {
    return TableIdentity{manifest.version, transaction->uuid};
  }
  return TableIdentity{manifest.version, StandIn(manifest)};
}

arrow::Result<TableIdentity> IdentityOf(const table::TableLocation& table, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(const auto entry, table::FindVersion(table, version));
  ARROW_ASSIGN_OR_RAISE(const auto transaction, table::ReadTransaction(table, entry));
  if (transaction && !transaction->uuid.empty()) return TableIdentity{version, transaction->uuid};
  ARROW_ASSIGN_OR_RAISE(const auto manifest, table::ReadManifest(table, entry));
  return IdentityOf(table, *manifest);
}

std::string AbsolutePath(const table::TableLocation& location) {
  const bool has_scheme = location.uri.find("://") != std::string::npos;
  return has_scheme ? location.uri : location.root;
}

}  // namespace glaive::dataset
