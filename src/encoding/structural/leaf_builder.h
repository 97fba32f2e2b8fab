#pragma once

// Owned by the decoding side: grows LeafRows page by page. See page_decoder.h.
#include <memory>

#include <arrow/result.h>

#include "encoding/structural/leaf.h"

namespace glaive::encoding {

class LeafBuilder {
 public:
  explicit LeafBuilder(const LeafPath& path);  // borrows the path
  ~LeafBuilder();

  arrow::Result<LeafRows> Finish() &&;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace glaive::encoding
