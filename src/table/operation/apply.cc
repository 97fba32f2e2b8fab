#include "table/operation/apply.h"

#include "table/manifest/feature_flags.h"
#include "table/operation/apply_operations.h"
#include "table/operation/validate.h"

namespace glaive::table {

arrow::Result<Manifest> Apply(const Manifest& previous, const Operation& operation) {
  Manifest next = previous;
  next.version = previous.version + 1;
  ARROW_RETURN_NOT_OK(
      std::visit([&](const auto& alternative) { return ApplyTo(next, alternative); }, operation));
  ARROW_RETURN_NOT_OK(DeriveFlags(previous, next));
  ARROW_RETURN_NOT_OK(Validate(previous, operation, next));
  return next;
}

}  // namespace glaive::table
