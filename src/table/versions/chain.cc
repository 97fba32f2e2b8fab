#include "table/versions/chain.h"

#include <algorithm>

#include "core/xxhash64.h"
#include "wire/fields.h"

namespace glaive::table {

uint64_t ChainHash(std::string_view transaction_uuid) {
  if (transaction_uuid.empty()) return 0;
  return std::max(XxHash64(wire::AsBytes(transaction_uuid)), kNoVersionBefore + 1);
}

uint64_t ChainHash(const Manifest& manifest) {
  const auto uuid = TransactionUuidOf(manifest);
  return uuid ? ChainHash(*uuid) : 0;
}

std::vector<uint64_t> AncestorsAfter(const Manifest& previous) {
  std::vector<uint64_t> ancestors = {ChainHash(previous)};
  const size_t more = std::min(previous.ancestors.size(), kMaxAncestors - 1);
  ancestors.insert(ancestors.end(), previous.ancestors.begin(), previous.ancestors.begin() + more);
  return ancestors;
}

Descent Descends(const Manifest& newer, uint64_t version, uint64_t hash) {
  if (newer.version < version) return Descent::kNo;
  const uint64_t steps = newer.version - version;
  if (steps > newer.ancestors.size()) {
    const bool is_whole = !newer.ancestors.empty() && newer.ancestors.back() == kNoVersionBefore;
    return is_whole ? Descent::kNo : Descent::kUnknown;
  }
  const uint64_t found = steps == 0 ? ChainHash(newer) : newer.ancestors[steps - 1];
  if (found == 0 || hash == 0) return Descent::kUnknown;
  return found == hash ? Descent::kYes : Descent::kNo;
}

Descent Descends(const Manifest& newer, const Manifest& older) {
  return Descends(newer, older.version, ChainHash(older));
}

}  // namespace glaive::table
