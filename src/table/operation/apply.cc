#include "table/operation/apply.h"

#include "table/manifest/feature_flags.h"
#include "table/operation/apply_operations.h"
#include "table/operation/validate.h"

namespace glaive::table {

namespace {

// Some operations are applied with what is known of them besides.
template <typename Kind>
arrow::Status Applied(Manifest& next, const Kind& operation, const CommitHints& hints) {
  if constexpr (requires { table::ApplyTo(next, operation, hints); }) {
    return table::ApplyTo(next, operation, hints);
  } else {
    return table::ApplyTo(next, operation);
  }
}

}  // namespace

arrow::Result<Manifest> Apply(const Manifest& previous, const Operation& operation,
                              const CommitHints& hints) {
  Manifest next = previous;
  next.version = previous.version + 1;
  ARROW_RETURN_NOT_OK(
      std::visit([&](const auto& kind) { return Applied(next, kind, hints); }, operation));
  ARROW_RETURN_NOT_OK(DeriveFlags(previous, next));
  ARROW_RETURN_NOT_OK(Validate(previous, operation, next));
  return next;
}

}  // namespace glaive::table
