#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/logging.h>

namespace glaive::testing {

// a = begin, begin + 1, ... and, if wanted, s = "row 0", "row 1" and so on after it.
inline std::shared_ptr<arrow::RecordBatch> NumberedRows(int64_t begin, int64_t end,
                                                        bool with_text = true) {
  arrow::Int64Builder a;
  arrow::StringBuilder s;
  for (int64_t i = begin; i < end; ++i) {
    ARROW_CHECK_OK(a.Append(i));
    ARROW_CHECK_OK(s.Append("row " + std::to_string(i)));
  }
  arrow::FieldVector fields = {arrow::field("a", arrow::int64())};
  arrow::ArrayVector columns = {a.Finish().ValueOrDie()};
  if (with_text) {
    fields.push_back(arrow::field("s", arrow::utf8()));
    columns.push_back(s.Finish().ValueOrDie());
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), end - begin, columns);
}

}  // namespace glaive::testing
