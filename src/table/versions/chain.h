#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

// From which versions a version descends. A number does not tell: where a clean-up removed a
// version of some number, a late writer may put another one under it, of which nothing descends.
//
// A manifest holds the hashes of the transactions that made the versions before it, a transaction
// the hash of the one before it. pylance passes over both, and does not write them.
namespace glaive::table {

// Of a transaction by its uuid, or of the one that made a version. 0: the version does not say.
uint64_t ChainHash(std::string_view transaction_uuid);
uint64_t ChainHash(const Manifest& manifest);

// Of the version that follows `previous`.
std::vector<uint64_t> AncestorsAfter(const Manifest& previous);

enum class Descent : uint8_t { kYes, kNo, kUnknown };

// Whether `newer` was made of the version `older` by any number of steps. It is not known for
// versions that lie far apart, or that another engine made.
Descent Descends(const Manifest& newer, const Manifest& older);
// The same of the version of that number which the transaction of that hash made.
Descent Descends(const Manifest& newer, uint64_t version, uint64_t hash);

// Follows the transactions of consecutive versions, from the one behind a version of that hash on.
class ChainWalk {
 public:
  explicit ChainWalk(uint64_t before) : before_(before) {}

  // Whether the next one was made of the version before it, as far as it says so.
  bool Follows(const std::optional<Transaction>& next) {
    const uint64_t parent = next ? next->parent : 0;
    const bool follows = parent == 0 || before_ == 0 || parent == before_;
    before_ = next ? ChainHash(next->uuid) : 0;
    return follows;
  }

 private:
  uint64_t before_;
};

}  // namespace glaive::table
