// Any bytes as a predicate in Substrait's form, as fuzz_sql does with text.
#include <string_view>

#include "bytes.h"
#include "query/bind/filter.h"
#include "small_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rows = glaive::fuzz::SmallRows().ValueOrDie();
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const auto filter = glaive::query::Filter::FromSubstrait(message, *rows->schema());
  if (!filter.ok()) return 0;
  (void)(*filter)->ToString();
  (void)(*filter)->Select(*rows);
  return 0;
}
