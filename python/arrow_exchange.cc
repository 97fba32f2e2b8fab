#include "arrow_exchange.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/c/abi.h>
#include <arrow/c/bridge.h>
#include <arrow/chunked_array.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/config.h>

#include "glaive/write.h"

#include "bind_error.h"

namespace glaive::python {
namespace {

constexpr const char* kSchemaName = "arrow_schema";
constexpr const char* kArrayName = "arrow_array";
constexpr const char* kStreamName = "arrow_array_stream";

template <typename Struct>
Struct* FromCapsule(nb::handle capsule, const char* name) {
  auto* exported = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (exported == nullptr) throw nb::python_error();
  return exported;
}

// A capsule that owns what it exports until a consumer has moved it out.
template <typename Struct>
nb::object ToCapsule(std::unique_ptr<Struct> exported, const char* name) {
  const auto release = [](PyObject* capsule) {
    auto* held = static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (held->release != nullptr) held->release(held);
    delete held;
  };
  PyObject* capsule = PyCapsule_New(exported.get(), name, release);
  if (capsule == nullptr) {
    exported->release(exported.get());
    throw nb::python_error();
  }
  (void)exported.release();
  return nb::steal(capsule);
}

void OkOrRaise(const arrow::Status& status) {
  if (!status.ok()) RaiseStatus(status);
}

nb::object SchemaCapsule(const arrow::Schema& schema) {
  auto exported = std::make_unique<ArrowSchema>();
  OkOrRaise(arrow::ExportSchema(schema, exported.get()));
  return ToCapsule(std::move(exported), kSchemaName);
}

class ExportedSchema {
 public:
  explicit ExportedSchema(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}
  nb::object Capsule() const { return SchemaCapsule(*schema_); }

 private:
  std::shared_ptr<arrow::Schema> schema_;
};

class ExportedBatch {
 public:
  explicit ExportedBatch(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}

  nb::tuple Capsules(const nb::handle& /*requested_schema*/) const {
    auto exported = std::make_unique<ArrowArray>();
    OkOrRaise(arrow::ExportRecordBatch(*batch_, exported.get()));
    return nb::make_tuple(SchemaCapsule(*batch_->schema()),
                          ToCapsule(std::move(exported), kArrayName));
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
};

class ExportedTable {
 public:
  explicit ExportedTable(std::shared_ptr<arrow::Table> table) : table_(std::move(table)) {}

  nb::object Capsule(const nb::handle& /*requested_schema*/) const {
    auto exported = std::make_unique<ArrowArrayStream>();
    OkOrRaise(arrow::ExportRecordBatchReader(std::make_shared<arrow::TableBatchReader>(table_),
                                             exported.get()));
    return ToCapsule(std::move(exported), kStreamName);
  }

 private:
  std::shared_ptr<arrow::Table> table_;
};

// Batches of a Python reader, asked for one at a time with the GIL held.
class PythonReader final : public arrow::RecordBatchReader {
 public:
  PythonReader(nb::object reader, std::shared_ptr<arrow::Schema> schema,
               std::shared_ptr<KeptException> kept)
      : reader_(std::move(reader)), schema_(std::move(schema)), kept_(std::move(kept)) {}

  ~PythonReader() override {
    nb::gil_scoped_acquire acquire;
    reader_.reset();
    kept_.reset();
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    nb::gil_scoped_acquire acquire;
    try {
      *batch = BatchFromPython(reader_.attr("read_next_batch")());
      return arrow::Status::OK();
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_StopIteration)) return kept_->Keep(std::move(error));
    }
    batch->reset();
    return arrow::Status::OK();
  }

 private:
  nb::object reader_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<KeptException> kept_;
};

// pyarrow's own way from its table to C++, where that is a table of the libarrow that we use; else
// null.
using UnwrapTable = std::shared_ptr<arrow::Table> (*)(PyObject*);

UnwrapTable FindUnwrapTable() {
#ifdef GLAIVE_ARROW_OF_PYARROW
  constexpr const char* kSignature = "std::shared_ptr< arrow::Table>  (PyObject *)";
  const nb::module_ pyarrow = nb::module_::import_("pyarrow");
  if (!pyarrow.attr("cpp_build_info").attr("so_version").equal(nb::str(ARROW_SO_VERSION))) {
    return nullptr;
  }
  const nb::dict functions = pyarrow.attr("lib").attr("__pyx_capi__");
  if (!functions.contains("pyarrow_unwrap_table")) return nullptr;
  const nb::object capsule = functions["pyarrow_unwrap_table"];
  if (PyCapsule_IsValid(capsule.ptr(), kSignature) == 0) return nullptr;
  return reinterpret_cast<UnwrapTable>(PyCapsule_GetPointer(capsule.ptr(), kSignature));
#else
  return nullptr;
#endif
}

// An extension type may be known to Python alone, and goes through the exchange format then.
bool HasExtensions(const arrow::FieldVector& fields) {
  return std::ranges::any_of(fields, [](const auto& field) {
    return field->type()->id() == arrow::Type::EXTENSION || HasExtensions(field->type()->fields());
  });
}

bool IsOnCpu(const arrow::Table& table) {
  return std::ranges::all_of(table.columns(), [](const auto& column) {
    return std::ranges::all_of(column->chunks(), [](const auto& chunk) {
      return chunk->device_type() == arrow::DeviceAllocationType::kCPU;
    });
  });
}

// A pyarrow.Table as it is, or null: of other objects, and where the exchange format has to tell
// what its arrays are.
std::shared_ptr<arrow::Table> TableFromPython(nb::handle object) {
  // Not found by the variable's own initialisation, which would wait for its lock with the GIL
  // held.
  static std::optional<UnwrapTable> unwrap;
  if (!unwrap) unwrap = FindUnwrapTable();
  if (*unwrap == nullptr) return nullptr;
  auto table = (*unwrap)(object.ptr());
  if (table == nullptr || HasExtensions(table->schema()->fields()) || !IsOnCpu(*table)) {
    return nullptr;
  }
  return table;
}

}  // namespace

void BindArrow(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ExportedSchema>(m, "ExportedSchema")
      .def("__arrow_c_schema__", &ExportedSchema::Capsule);
  nb::class_<ExportedBatch>(m, "ExportedBatch")
      .def("__arrow_c_array__", &ExportedBatch::Capsules, "requested_schema"_a = nb::none());
  nb::class_<ExportedTable>(m, "ExportedTable")
      .def("__arrow_c_stream__", &ExportedTable::Capsule, "requested_schema"_a = nb::none());
}

nb::object ToPython(std::shared_ptr<arrow::Schema> schema) {
  return nb::cast(ExportedSchema(std::move(schema)));
}

nb::object ToPython(std::shared_ptr<arrow::RecordBatch> batch) {
  return nb::cast(ExportedBatch(std::move(batch)));
}

nb::object ToPython(std::shared_ptr<arrow::Table> table) {
  return nb::cast(ExportedTable(std::move(table)));
}

std::shared_ptr<arrow::Schema> SchemaFromPython(nb::handle object) {
  const nb::object capsule = object.attr("__arrow_c_schema__")();
  return ValueOrRaise(arrow::ImportSchema(FromCapsule<ArrowSchema>(capsule, kSchemaName)));
}

std::shared_ptr<arrow::RecordBatch> BatchFromPython(nb::handle object) {
  const nb::object pair = object.attr("__arrow_c_array__")();
  const nb::object schema = pair[0];
  const nb::object array = pair[1];
  return ValueOrRaise(arrow::ImportRecordBatch(FromCapsule<ArrowArray>(array, kArrayName),
                                               FromCapsule<ArrowSchema>(schema, kSchemaName)));
}

std::shared_ptr<arrow::RecordBatchReader> StreamFromPython(nb::handle object, const Call& call) {
  if (nb::hasattr(object, "read_next_batch")) {
    return std::make_shared<PythonReader>(nb::borrow(object),
                                          SchemaFromPython(object.attr("schema")), call.kept());
  }
  const nb::object capsule = object.attr("__arrow_c_stream__")();
  return ValueOrRaise(
      arrow::ImportRecordBatchReader(FromCapsule<ArrowArrayStream>(capsule, kStreamName)));
}

std::shared_ptr<arrow::RecordBatchReader> RowsFromPython(nb::handle object, const Call& call) {
  if (nb::isinstance<Dataset>(object)) {
    const auto& dataset = nb::cast<const Dataset&>(object);
    return call.Run([&] { return ReadDataset(dataset); });
  }
  if (auto table = TableFromPython(object)) return ReadTable(std::move(table));
  auto stream = StreamFromPython(object, call);
  const nb::object table = nb::module_::import_("pyarrow").attr("Table");
  if (!nb::isinstance(object, table)) return stream;
  return ReadTable(ValueOrRaise(stream->ToTable()));
}

BufferView::BufferView(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

BufferView::~BufferView() { PyBuffer_Release(&view_); }

std::string_view BufferView::bytes() const {
  return {static_cast<const char*>(view_.buf), static_cast<size_t>(view_.len)};
}

std::span<const uint64_t> BufferView::numbers() const {
  const size_t size = static_cast<size_t>(view_.len);
  if (size % sizeof(uint64_t) != 0 ||
      reinterpret_cast<uintptr_t>(view_.buf) % alignof(uint64_t) != 0) {
    throw nb::value_error("a buffer of whole 64-bit numbers is wanted");
  }
  return {static_cast<const uint64_t*>(view_.buf), size / sizeof(uint64_t)};
}

}  // namespace glaive::python
