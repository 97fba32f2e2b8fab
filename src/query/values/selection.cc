#include "query/values/selection.h"

#include <bit>
#include <cstring>
#include <numeric>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/util/bitmap_reader.h>

namespace glaive::query {

std::vector<uint32_t> SelectTrue(const arrow::Datum& passes, int64_t num_rows) {
  std::vector<uint32_t> rows;
  if (passes.is_scalar()) {
    const auto& scalar = passes.scalar_as<arrow::BooleanScalar>();
    if (!scalar.is_valid || !scalar.value) return rows;
    rows.resize(static_cast<size_t>(num_rows));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  const arrow::BooleanArray array(passes.array());
  rows.resize(static_cast<size_t>(array.true_count()));
  if (rows.empty()) return rows;
  const uint8_t* validity = array.null_count() > 0 ? array.null_bitmap_data() : nullptr;
  const arrow::ArrayData& data = *array.data();
  size_t next = 0;
  const auto take = [&](uint64_t word, uint32_t base) {
    for (; word != 0; word &= word - 1) {
      rows[next++] = base + static_cast<uint32_t>(std::countr_zero(word));
    }
  };
  arrow::internal::BitmapUInt64Reader values(data.buffers[1]->data(), data.offset, data.length);
  if (validity == nullptr) {
    for (int64_t row = 0; row < data.length; row += 64) {
      take(values.NextWord(), static_cast<uint32_t>(row));
    }
    return rows;
  }
  arrow::internal::BitmapUInt64Reader valid(validity, data.offset, data.length);
  for (int64_t row = 0; row < data.length; row += 64) {
    take(values.NextWord() & valid.NextWord(), static_cast<uint32_t>(row));
  }
  return rows;
}

}  // namespace glaive::query
