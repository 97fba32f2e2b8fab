#include "core/attempt.h"

#include <exception>
#include <new>

#include "core/error.h"

namespace glaive {

arrow::Status StatusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return arrow::Status::OutOfMemory("no memory for what was asked for");
  } catch (const std::exception& error) {
    return Internal("an exception was thrown: {}", error.what());
  } catch (...) {
    return Internal("an exception was thrown that says nothing");
  }
}

}  // namespace glaive
