// Any text as a predicate: it may be refused, and what is accepted is evaluated.
#include <string_view>

#include "bytes.h"
#include "query/bind/filter.h"
#include "small_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rows = glaive::fuzz::SmallRows().ValueOrDie();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = glaive::query::Filter::FromSql(text, *rows->schema());
  if (filter.ok()) (void)(*filter)->Select(*rows);
  return 0;
}
