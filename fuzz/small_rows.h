#pragma once

#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "query/bind/filter.h"

namespace glaive::fuzz {

// Four rows for a predicate: columns i, s, f and b, with a null and what LIKE treats specially.
inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> SmallRows() {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  const auto schema =
      arrow::schema({arrow::field("i", arrow::int64()), arrow::field("s", arrow::utf8()),
                     arrow::field("f", arrow::float64()), arrow::field("b", arrow::boolean())});
  arrow::Int64Builder i;
  arrow::StringBuilder s;
  arrow::DoubleBuilder f;
  arrow::BooleanBuilder b;
  for (int row = 0; row < 4; ++row) {
    ARROW_RETURN_NOT_OK(i.Append(row));
    ARROW_RETURN_NOT_OK(row == 2 ? s.AppendNull() : s.Append("x%_"));
    ARROW_RETURN_NOT_OK(f.Append(row / 3.0));
    ARROW_RETURN_NOT_OK(b.Append(row % 2 == 0));
  }
  std::vector<std::shared_ptr<arrow::Array>> columns(4);
  ARROW_RETURN_NOT_OK(i.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(s.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(f.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(b.Finish(&columns[3]));
  return arrow::RecordBatch::Make(schema, 4, std::move(columns));
}

}  // namespace glaive::fuzz
