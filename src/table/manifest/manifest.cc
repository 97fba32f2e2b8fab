#include "table/manifest/manifest.h"

#include <algorithm>
#include <string_view>

namespace glaive::table {

int32_t Manifest::MaxFieldId() const {
  return std::max({wire::MaxFieldId(schema), fragments.totals().max_field_id,
                   max_allocated_field_id.value_or(-1)});
}

// "<read version>-<uuid>.txn"
std::optional<std::string> TransactionUuidOf(const Manifest& manifest) {
  constexpr std::string_view kSuffix = ".txn";
  std::string_view name = manifest.transaction_file;
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(dash + 1);
  name.remove_suffix(kSuffix.size());
  if (name.empty()) return std::nullopt;
  return std::string(name);
}

}  // namespace glaive::table
