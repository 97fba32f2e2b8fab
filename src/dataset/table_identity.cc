#include "dataset/table_identity.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/error.h"

namespace glaive::dataset {
namespace {

// "<read version>-<uuid>.txn"
std::optional<std::string> UuidOf(std::string_view transaction_file) {
  constexpr std::string_view kSuffix = ".txn";
  const size_t dash = transaction_file.find('-');
  if (dash == std::string_view::npos || !transaction_file.ends_with(kSuffix)) return std::nullopt;
  transaction_file.remove_prefix(dash + 1);
  transaction_file.remove_suffix(kSuffix.size());
  if (transaction_file.empty()) return std::nullopt;
  return std::string(transaction_file);
}

// What two versions of one number are still unlikely to share.
std::string StandIn(const table::Manifest& manifest) {
  return fmt::format("made-at-{}", manifest.timestamp_ns);
}

}  // namespace

arrow::Result<TableIdentity> IdentityOf(const table::TableLocation& table,
                                        const table::Manifest& manifest) {
  if (auto uuid = UuidOf(manifest.transaction_file)) {
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

}  // namespace glaive::dataset
