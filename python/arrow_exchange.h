#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "call.h"

namespace glaive::python {

// Arrow data crosses through the Arrow PyCapsule interface alone, so that the two sides need not
// share one Arrow library.

void BindArrow(nb::module_& m);

// Objects for pa.schema(), pa.record_batch() and pa.table() to take.
nb::object ToPython(std::shared_ptr<arrow::Schema> schema);
nb::object ToPython(std::shared_ptr<arrow::RecordBatch> batch);
nb::object ToPython(std::shared_ptr<arrow::Table> table);

std::shared_ptr<arrow::Schema> SchemaFromPython(nb::handle object);
std::shared_ptr<arrow::RecordBatch> BatchFromPython(nb::handle object);

// A stream of batches for the engine. A pyarrow RecordBatchReader may call back into Python: it is
// asked batch by batch, and what it raises is kept in `call`. Anything else with __arrow_c_stream__
// is read without the GIL.
std::shared_ptr<arrow::RecordBatchReader> StreamFromPython(nb::handle object, const Call& call);

// The same for rows to be written, which may be a Dataset of ours, too. A write may cut that, and a
// pyarrow Table.
std::shared_ptr<arrow::RecordBatchReader> RowsFromPython(nb::handle object, const Call& call);

// The bytes of an object with the buffer protocol, held in place. Needs the GIL at both ends.
class BufferView {
 public:
  explicit BufferView(nb::handle object);
  ~BufferView();
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;

  std::string_view bytes() const;
  // The bytes as numbers; an error is raised when they are not whole, aligned ones.
  std::span<const uint64_t> numbers() const;

 private:
  Py_buffer view_{};
};

}  // namespace glaive::python
