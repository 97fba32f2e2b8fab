#pragma once

#include <utility>

namespace glaive {

// The door between the public handles and the files of the engine: what a handle holds, and a
// handle made of it. Users of the public headers see neither.
struct Access {
  template <class Handle>
  static const auto& StateOf(const Handle& handle) {
    return handle.state_;
  }
  template <class Handle, class State>
  static Handle Make(State state) {
    return Handle(std::move(state));
  }
};

// A pointer to what the handle holds. REQUIRES: the header that defines its type.
template <class Handle>
const auto& StateOf(const Handle& handle) {
  return Access::StateOf(handle);
}

}  // namespace glaive
