#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "query/bind/filter.h"
#include "query/nodes/bound_expression.h"

namespace glaive::query {

// A filter as a bound expression of type bool.
class BoundFilter final : public Filter {
 public:
  BoundFilter(std::string text, BoundValue bound)
      : text_(std::move(text)), bound_(std::move(bound)) {}

  const std::vector<std::string>& columns() const override { return bound_.columns; }
  arrow::Result<std::vector<uint32_t>> Select(const arrow::RecordBatch& batch) const override;
  std::string ToString() const override { return text_; }

 private:
  std::string text_;
  BoundValue bound_;
};

}  // namespace glaive::query
