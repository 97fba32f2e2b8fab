#include "glaive/verify.h"

#include "table/operation/conflict.h"

namespace glaive {

ConflictMatrix Conflicts() {
  ConflictMatrix matrix;
  for (size_t ours = 0; ours < table::kNumOperations; ++ours) {
    matrix.operations.emplace_back(table::kOperationNames[ours]);
    std::string& row = matrix.rules.emplace_back();
    for (size_t theirs = 0; theirs < table::kNumOperations; ++theirs) {
      const table::Rule rule = table::RuleFor(ours, theirs);
      row += static_cast<char>(rule);
      matrix.meanings.emplace(static_cast<char>(rule), table::MeaningOf(rule));
    }
  }
  return matrix;
}

}  // namespace glaive
