#pragma once

#include <functional>

#include "testing/hooked_store.h"

namespace glaive::testing {

// As object stores are whose listings are long and in no order: writers leave hints there.
class DearListings final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  arrow::Status Around(const StoreCall&, const std::function<arrow::Status()>& perform) override {
    return perform();
  }
  bool lists_cheaply() const override { return false; }
};

}  // namespace glaive::testing
