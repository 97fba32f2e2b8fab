#include "glaive/files.h"

#include <memory>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "arrow_exchange.h"
#include "bindings.h"
#include "call.h"
#include "process_mutex.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// Batches of a file, with typed errors.
class FileBatches {
 public:
  explicit FileBatches(std::shared_ptr<arrow::RecordBatchReader> reader)
      : reader_(std::move(reader)) {}

  nb::object Schema() const { return ToPython(reader_->schema()); }

  nb::object Next() {
    auto batch = Call().Run([&] { return mutex_.Run([&] { return reader_->Next(); }); });
    return batch == nullptr ? nb::none() : ToPython(std::move(batch));
  }

  nb::object ReadAll() {
    return ToPython(Call().Run([&] { return mutex_.Run([&] { return reader_->ToTable(); }); }));
  }

 private:
  ProcessMutex mutex_;
  std::shared_ptr<arrow::RecordBatchReader> reader_;
};

void BindInfo(nb::module_& m) {
  nb::class_<BufferInfo>(m, "BufferInfo")
      .def_ro("position", &BufferInfo::position)
      .def_ro("size", &BufferInfo::size);
  nb::class_<PageInfo>(m, "PageInfo")
      .def_ro("buffers", &PageInfo::buffers)
      .def_ro("num_rows", &PageInfo::num_rows)
      .def_ro("first_row", &PageInfo::first_row)
      .def_ro("encoding", &PageInfo::encoding);
  nb::class_<ColumnInfo>(m, "ColumnInfo")
      .def_ro("column_buffers", &ColumnInfo::column_buffers)
      .def_ro("pages", &ColumnInfo::pages);
  nb::class_<FileInfo>(m, "FileInfo")
      .def_prop_ro("schema", [](const FileInfo& info) { return ToPython(info.schema); })
      .def_ro("num_rows", &FileInfo::num_rows)
      .def_ro("major_version", &FileInfo::major_version)
      .def_ro("minor_version", &FileInfo::minor_version)
      .def_ro("num_data_bytes", &FileInfo::num_data_bytes)
      .def_ro("num_column_metadata_bytes", &FileInfo::num_column_metadata_bytes)
      .def_ro("num_global_buffer_bytes", &FileInfo::num_global_buffer_bytes)
      .def_ro("global_buffers", &FileInfo::global_buffers)
      .def_ro("columns", &FileInfo::columns);
}

void BindReader(nb::module_& m) {
  nb::class_<FileBatches>(m, "FileBatches")
      .def_prop_ro("schema", &FileBatches::Schema)
      .def("next", &FileBatches::Next)
      .def("read_all", &FileBatches::ReadAll);
  nb::class_<DataFileReader>(m, "DataFileReader")
      .def_static(
          "open",
          [](const std::string& uri, std::optional<std::vector<std::string>> columns) {
            return Call().Run([&] { return DataFileReader::Open(uri, std::move(columns)); });
          },
          "uri"_a, "columns"_a = nb::none())
      .def_prop_ro("info", &DataFileReader::info)
      .def_prop_ro("schema", [](const DataFileReader& file) { return ToPython(file.schema()); })
      .def(
          "read",
          [](DataFileReader& file, uint64_t first_row, uint64_t num_rows, uint64_t batch_size) {
            return std::make_unique<FileBatches>(
                Call().Run([&] { return file.Read(first_row, num_rows, batch_size); }));
          },
          "first_row"_a, "num_rows"_a, "batch_size"_a)
      .def(
          "take",
          [](DataFileReader& file, nb::handle rows, uint64_t batch_size) {
            const BufferView view(rows);
            return std::make_unique<FileBatches>(
                Call().Run([&] { return file.Take(view.numbers(), batch_size); }));
          },
          "rows"_a, "batch_size"_a)
      .def(
          "read_global_buffer",
          [](DataFileReader& file, uint32_t index) {
            const auto buffer = Call().Run([&] { return file.ReadGlobalBuffer(index); });
            return nb::bytes(buffer->data(), static_cast<size_t>(buffer->size()));
          },
          "index"_a);
}

void BindWriter(nb::module_& m) {
  nb::class_<DataFileWriterOptions>(m, "DataFileWriterOptions")
      .def(nb::init<>())
      .def_rw("version", &DataFileWriterOptions::version, nb::arg().none())
      .def_rw("data_cache_bytes", &DataFileWriterOptions::data_cache_bytes, nb::arg().none())
      .def_rw("max_page_bytes", &DataFileWriterOptions::max_page_bytes, nb::arg().none());
  nb::class_<DataFileSummary>(m, "DataFileSummary")
      .def_ro("num_rows", &DataFileSummary::num_rows)
      .def_ro("size_bytes", &DataFileSummary::size_bytes);
  nb::class_<DataFileWriter>(m, "DataFileWriter")
      .def_static(
          "create",
          [](const std::string& uri, nb::handle schema, const DataFileWriterOptions& options) {
            auto fields = SchemaFromPython(schema);
            return Call().Run([&] { return DataFileWriter::Create(uri, fields, options); });
          },
          "uri"_a, "schema"_a, "options"_a)
      .def(
          "write",
          [](DataFileWriter& file, nb::handle batch) {
            const auto rows = BatchFromPython(batch);
            Call().Run([&]() -> arrow::Result<bool> {
              ARROW_RETURN_NOT_OK(file.Write(rows));
              return true;
            });
          },
          "batch"_a)
      .def("add_schema_metadata", &DataFileWriter::AddSchemaMetadata, "key"_a, "value"_a)
      .def(
          "add_global_buffer",
          [](DataFileWriter& file, nb::handle data) {
            const BufferView view(data);
            auto buffer = arrow::Buffer::FromString(std::string(view.bytes()));
            return Call().Run([&] { return file.AddGlobalBuffer(std::move(buffer)); });
          },
          "data"_a)
      .def("finish",
           [](DataFileWriter& file) { return Call().Run([&] { return file.Finish(); }); });
}

}  // namespace

void BindFile(nb::module_& m) {
  BindInfo(m);
  BindReader(m);
  BindWriter(m);
}

}  // namespace glaive::python
