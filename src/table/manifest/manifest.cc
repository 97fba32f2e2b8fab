#include "table/manifest/manifest.h"

#include <algorithm>

namespace glaive::table {

int32_t Manifest::MaxFieldId() const {
  return std::max({wire::MaxFieldId(schema), fragments.totals().max_field_id,
                   max_allocated_field_id.value_or(-1)});
}

}  // namespace glaive::table
