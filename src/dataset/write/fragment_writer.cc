#include "dataset/write/fragment_writer.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/write/data_file_name.h"
#include "dataset/write/summary.h"
#include "file/array_writer.h"
#include "table/manifest/fragment_metadata.h"
#include "wire/file_version.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kInertRowsPerGroup = 1024;

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

wire::DataFragment FragmentOf(const file::FileSummary& file, const std::string& name,
                              std::optional<uint32_t> base_id) {
  wire::DataFragment fragment;
  const auto [major, minor] = wire::NumbersOf(file.version);
  fragment.physical_rows = file.num_rows;
  fragment.files.push_back({.path = name,
                            .fields = file.fields,
                            .column_indices = file.column_indices,
                            .file_major_version = major,
                            .file_minor_version = minor,
                            .file_size_bytes = file.size_bytes,
                            .base_id = base_id});
  return fragment;
}

}  // namespace

std::optional<uint64_t> RowsPerGroup(const FileLimits& limits) {
  if (limits.max_rows_per_group == kInertRowsPerGroup) return std::nullopt;
  return limits.max_rows_per_group;
}

void WrittenFragments::AddFile(const file::FileSummary& file, const std::string& name) {
  fragments.push_back(FragmentOf(file, name, std::nullopt));
  Add(file, &summary);
}

void WrittenFragments::Append(WrittenFragments behind) {
  std::ranges::move(behind.fragments, std::back_inserter(fragments));
  files.Take(behind.files);
  summary += behind.summary;
}

struct FragmentWriter::Output {
  explicit Output(std::shared_ptr<io::ObjectStore> store)
      : written{.fragments = {}, .files = NewFiles(std::move(store)), .summary = {}} {}

  std::mutex mutex;
  WrittenFragments written;  // guarded by the mutex
};

FragmentWriter::FragmentWriter(table::TableLocation table, wire::Schema schema,
                               FragmentWriterOptions options, file::InputMatcher matcher)
    : table_(std::move(table)),
      schema_(std::move(schema)),
      options_(std::move(options)),
      matcher_(std::move(matcher)),
      output_(std::make_shared<Output>(table_.store)) {
  if (options_.folders.empty()) options_.folders.push_back({table_.Path("data"), std::nullopt});
}

arrow::Result<FragmentWriter> FragmentWriter::Make(table::TableLocation table, wire::Schema schema,
                                                   FragmentWriterOptions options) {
  ARROW_RETURN_NOT_OK(Validate(options.limits));
  if (options.version == FileVersion::k2_0) {
    ARROW_RETURN_NOT_OK(file::ArrayWriter::CheckTypes(schema.fields));
  }
  ARROW_ASSIGN_OR_RAISE(auto arrow_schema, wire::ToArrow(schema));
  ARROW_ASSIGN_OR_RAISE(auto matcher, file::InputMatcher::Make(std::move(arrow_schema)));
  return FragmentWriter(std::move(table), std::move(schema), std::move(options),
                        std::move(matcher));
}

const DataFolder& FragmentWriter::FolderOf(size_t index) const {
  return options_.folders[(options_.files_before + index) % options_.folders.size()];
}

arrow::Status FragmentWriter::OpenFile() {
  const size_t index = num_files_;
  const FileLimits& limits = options_.limits;
  file_name_ = NewDataFileName();
  file_path_ = FolderOf(index).path + "/" + file_name_;
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
                  .keep_slices = options_.keep_slices,
                  .rows_stay = options_.rows_stay,
                  .is_new = true,
                  .output = options_.output,
                  .on_held = options_.on_held,
                  .executor = options_.executor}));
  if (!options_.events.begin) return arrow::Status::OK();
  return options_.events.begin(table::MakeFragmentMetadata({}));
}

arrow::Status FragmentWriter::CloseFile() {
  if (file_ == nullptr) return arrow::Status::OK();
  const uint64_t num_rows = file_->num_rows();
  rows_before_ += num_rows;
  const size_t index = num_files_++;
  const std::optional<uint32_t> base_id = FolderOf(index).base_id;
  {
    const std::lock_guard lock(output_->mutex);
    // From here on the file may be there, also when its writer fails.
    output_->written.files.Add(file_path_);
    output_->written.fragments.emplace_back();
  }
  auto finish = [output = output_, index, base_id, name = file_name_, events = options_.events,
                 file = std::shared_ptr(std::move(file_))]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const file::FileSummary summary, file->Finish());
    wire::DataFragment fragment = FragmentOf(summary, name, base_id);
    const FragmentMetadata told = table::MakeFragmentMetadata(fragment);
    {
      const std::lock_guard lock(output->mutex);
      output->written.fragments[index] = std::move(fragment);
      Add(summary, &output->written.summary);
    }
    return events.complete ? events.complete(told) : arrow::Status::OK();
  };
  if (!options_.finish) return finish();
  return options_.finish({.num_rows = num_rows, .finish = std::move(finish)});
}

arrow::Status FragmentWriter::Write(const arrow::RecordBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(const auto rows, matcher_.Match(batch));
  for (int64_t offset = 0; offset < rows->num_rows;) {
    if (file_ == nullptr) ARROW_RETURN_NOT_OK(OpenFile());
    ARROW_ASSIGN_OR_RAISE(const int64_t taken, file_->Write(rows, offset));
    offset += taken;
    if (!file_->full()) continue;
    // A file that is finished while the next batches come must not hold this one.
    if (options_.finish && !options_.rows_stay) ARROW_RETURN_NOT_OK(file_->LetGoOfInput());
    ARROW_RETURN_NOT_OK(CloseFile());
  }
  if (!options_.progress) return arrow::Status::OK();
  return options_.progress({.rows = rows_before_ + (file_ ? file_->num_rows() : 0),
                            .total_rows = options_.total_rows,
                            .bytes = written_bytes()});
}

uint64_t FragmentWriter::written_bytes() const {
  const std::lock_guard lock(output_->mutex);
  return output_->written.summary.bytes;
}

arrow::Result<WrittenFragments> FragmentWriter::Finish() && {
  ARROW_RETURN_NOT_OK(CloseFile());
  const std::lock_guard lock(output_->mutex);
  return std::move(output_->written);
}

}  // namespace glaive::dataset
