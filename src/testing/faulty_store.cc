#include "testing/faulty_store.h"

#include "core/error.h"

namespace glaive::testing {

void FaultyStore::FailAt(uint64_t call, Fault fault, bool and_later_ones) {
  next_call_ = 0;
  has_failed_ = false;
  fault_ = fault;
  later_ones_fail_ = and_later_ones;
  failing_call_ = call;
}

arrow::Status FaultyStore::Around(const StoreCall& call,
                                  const std::function<arrow::Status()>& perform) {
  const uint64_t number = next_call_++;
  const uint64_t failing = failing_call_;
  if (number != failing && !(later_ones_fail_ && number > failing)) return perform();
  failed_kind_ = call.kind;
  has_failed_ = true;
  if (fault_ == Fault::kAfterEffect) ARROW_RETURN_NOT_OK(perform());
  return IOError({call.path}, "call {} fails on purpose", number);
}

}  // namespace glaive::testing
