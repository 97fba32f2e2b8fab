#include "dataset/fragment_writer.h"

#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/data_file_name.h"
#include "dataset/fragment_state.h"

namespace glaive::dataset {
namespace {

// pylance's default, which it takes no notice of and which tools pass along.
constexpr uint64_t kInertRowsPerGroup = 1024;

std::optional<uint64_t> RowsPerGroup(const FileLimits& limits) {
  if (limits.max_rows_per_group == kInertRowsPerGroup) return std::nullopt;
  return limits.max_rows_per_group;
}

arrow::Status Validate(const FileLimits& limits) {
  const auto positive = [](uint64_t value, const char* name) {
    return value > 0 ? arrow::Status::OK() : InvalidInput("{} must be greater than 0", name);
  };
  ARROW_RETURN_NOT_OK(positive(limits.max_rows_per_file, "max_rows_per_file"));
  ARROW_RETURN_NOT_OK(positive(limits.max_bytes_per_file, "max_bytes_per_file"));
  ARROW_RETURN_NOT_OK(positive(limits.max_page_bytes, "max_page_bytes"));
  ARROW_RETURN_NOT_OK(positive(limits.data_cache_bytes, "data_cache_bytes"));
  return positive(limits.max_rows_per_group.value_or(1), "max_rows_per_group");
}

void Add(const file::FileSummary& file, WriteSummary* summary) {
  const auto ended_by = [&](file::PageEnd end) {
    return file.pages_ended_by[static_cast<size_t>(end)];
  };
  summary->rows += file.num_rows;
  summary->files += 1;
  summary->bytes += file.size_bytes;
  summary->pages.total += file.num_pages;
  summary->pages.by_page_bytes += ended_by(file::PageEnd::kPageBytes);
  summary->pages.by_cache_bytes += ended_by(file::PageEnd::kCacheBytes);
  summary->pages.by_row_limit += ended_by(file::PageEnd::kRowLimit);
  summary->pages.by_file_end += ended_by(file::PageEnd::kFileEnd);
  summary->pages.by_format_limit += ended_by(file::PageEnd::kFormatLimit);
}

}  // namespace

FragmentWriter::FragmentWriter(table::TableLocation table, wire::Schema schema,
                               FragmentWriterOptions options, file::InputMatcher matcher)
    : table_(std::move(table)),
      schema_(std::move(schema)),
      options_(std::move(options)),
      matcher_(std::move(matcher)),
      written_{.fragments = {}, .files = NewFiles(table_.store), .summary = {}} {
  if (options_.folders.empty()) options_.folders.push_back({table_.Path("data"), std::nullopt});
}

arrow::Result<FragmentWriter> FragmentWriter::Make(table::TableLocation table, wire::Schema schema,
                                                   FragmentWriterOptions options) {
  ARROW_RETURN_NOT_OK(Validate(options.limits));
  ARROW_ASSIGN_OR_RAISE(auto arrow_schema, wire::ToArrow(schema));
  ARROW_ASSIGN_OR_RAISE(auto matcher, file::InputMatcher::Make(std::move(arrow_schema)));
  return FragmentWriter(std::move(table), std::move(schema), std::move(options),
                        std::move(matcher));
}

const DataFolder& FragmentWriter::NextFolder() const {
  return options_.folders[written_.fragments.size() % options_.folders.size()];
}

arrow::Status FragmentWriter::OpenFile() {
  const size_t index = written_.fragments.size();
  const FileLimits& limits = options_.limits;
  file_name_ = NewDataFileName();
  file_path_ = NextFolder().path + "/" + file_name_;
  ARROW_ASSIGN_OR_RAISE(
      file_, file::FileWriter::Create(
                 table_.store, file_path_, schema_,
                 {.version = options_.version,
                  .data_cache_bytes = limits.data_cache_bytes,
                  .max_page_bytes = limits.max_page_bytes,
                  .max_rows_per_group = RowsPerGroup(limits),
                  .max_rows = index < options_.planned_rows.size() ? options_.planned_rows[index]
                                                                   : limits.max_rows_per_file,
                  .max_bytes = limits.max_bytes_per_file,
                  .keep_slices = options_.keep_slices}));
  if (!options_.events.begin) return arrow::Status::OK();
  return options_.events.begin(MakeFragmentMetadata({}));
}

arrow::Status FragmentWriter::CloseFile() {
  // From here on the file may be there, also when its writer fails.
  written_.files.Add(file_path_);
  const std::optional<uint32_t> base_id = NextFolder().base_id;
  ARROW_ASSIGN_OR_RAISE(const file::FileSummary file, file_->Finish());
  file_ = nullptr;
  wire::DataFragment& fragment = written_.fragments.emplace_back();
  fragment.physical_rows = file.num_rows;
  fragment.files.push_back({.path = file_name_,
                            .fields = file.fields,
                            .column_indices = file.column_indices,
                            .file_major_version = 2,
                            .file_minor_version = file.version == FileVersion::k2_1 ? 1u : 2u,
                            .file_size_bytes = file.size_bytes,
                            .base_id = base_id});
  Add(file, &written_.summary);
  if (!options_.events.complete) return arrow::Status::OK();
  return options_.events.complete(MakeFragmentMetadata(fragment));
}

arrow::Status FragmentWriter::Write(const arrow::RecordBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(const auto rows, matcher_.Match(batch));
  for (int64_t offset = 0; offset < rows->num_rows;) {
    if (file_ == nullptr) ARROW_RETURN_NOT_OK(OpenFile());
    ARROW_ASSIGN_OR_RAISE(const int64_t taken, file_->Write(rows, offset));
    offset += taken;
    if (file_->full()) ARROW_RETURN_NOT_OK(CloseFile());
  }
  if (!options_.progress) return arrow::Status::OK();
  return options_.progress({.rows = written_.summary.rows + (file_ ? file_->num_rows() : 0),
                            .total_rows = options_.total_rows,
                            .bytes = written_.summary.bytes});
}

arrow::Result<WrittenFragments> FragmentWriter::Finish() && {
  if (file_ != nullptr) ARROW_RETURN_NOT_OK(CloseFile());
  return std::move(written_);
}

}  // namespace glaive::dataset
