#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/storage_version.h"
#include "dataset/write/input_stream.h"
#include "file/file_writer.h"
#include "glaive/files.h"
#include "io/object_store.h"
#include "wire/schema.h"

namespace glaive {
namespace {

class Writer final : public DataFileWriter {
 public:
  Writer(std::unique_ptr<file::FileWriter> file, wire::Schema schema)
      : file_(std::move(file)), schema_(std::move(schema)) {}

  arrow::Status Write(const std::shared_ptr<arrow::RecordBatch>& batch) override {
    ARROW_ASSIGN_OR_RAISE(const auto form, dataset::StoredForm::Make(*batch->schema(), schema_));
    ARROW_ASSIGN_OR_RAISE(const auto rows, form.Convert(batch));
    return file_->Write(rows).status();
  }

  void AddSchemaMetadata(std::string key, std::string value) override {
    file_->AddSchemaMetadata(std::move(key), std::move(value));
  }

  arrow::Result<uint32_t> AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer) override {
    return file_->AddGlobalBuffer(std::move(buffer));
  }

  arrow::Result<DataFileSummary> Finish() override {
    ARROW_ASSIGN_OR_RAISE(const auto summary, file_->Finish());
    return DataFileSummary{.num_rows = summary.num_rows, .size_bytes = summary.size_bytes};
  }

 private:
  std::unique_ptr<file::FileWriter> file_;
  wire::Schema schema_;
};

}  // namespace

arrow::Result<std::unique_ptr<DataFileWriter>> DataFileWriter::Create(
    std::string_view uri, std::shared_ptr<arrow::Schema> schema,
    const DataFileWriterOptions& options) {
  file::FileWriterOptions of_file;
  if (options.version) {
    ARROW_ASSIGN_OR_RAISE(of_file.version, dataset::WritableVersion(*options.version));
  }
  of_file.data_cache_bytes = options.data_cache_bytes.value_or(of_file.data_cache_bytes);
  of_file.max_page_bytes = options.max_page_bytes.value_or(of_file.max_page_bytes);
  ARROW_ASSIGN_OR_RAISE(auto fields, wire::FromArrow(*schema));
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  ARROW_ASSIGN_OR_RAISE(
      auto file,
      file::FileWriter::Create(std::move(place.store), std::move(place.path), fields, of_file));
  return std::make_unique<Writer>(std::move(file), std::move(fields));
}

}  // namespace glaive
