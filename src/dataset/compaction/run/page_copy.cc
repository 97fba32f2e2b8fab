#include "dataset/compaction/run/page_copy.h"

#include <algorithm>
#include <span>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include "core/error.h"
#include "core/random.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/new_files.h"
#include "dataset/write/data_file_name.h"
#include "file/file_writer.h"
#include "file/page_join.h"
#include "read/field_source.h"
#include "read/projection.h"
#include "read/snapshot.h"
#include "wire/file_columns.h"
#include "wire/file_version.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kGoodPageBytes = uint64_t{8} << 20;

// The pages of one leaf column for each file to be written.
struct CopiedColumn {
  size_t column = 0;  // of the new files
  std::vector<std::vector<file::CopiedPage>> pages;
};

struct CopiedField {
  int field = 0;  // in the schema
  std::vector<CopiedColumn> columns;
};

struct CopiedFields {
  std::vector<CopiedField> fields;
  std::vector<std::string> others;  // by name, to be read as rows
};

// Of versions whose pages are copied; those of 2.0 are always decoded.
std::optional<uint32_t> MinorVersionOf(FileVersion version) {
  switch (version) {
    case FileVersion::k2_1: return 1;
    case FileVersion::k2_2: return 2;
    default: return std::nullopt;
  }
}

bool IsOfVersion(const wire::DataFile& file, FileVersion version) {
  return wire::VersionNumbers{file.file_major_version, file.file_minor_version} ==
         wire::NumbersOf(version);
}

// Whether there are pages that can neither stay alone nor be joined, whatever is in them.
bool HaveSmallPages(std::span<const file::PageRef> pages, uint64_t max_page_bytes) {
  if (pages.size() < 2 || max_page_bytes < 2 * file::kMinJoinedBytes) return false;
  return std::ranges::any_of(pages, [](const file::PageRef& page) {
    uint64_t bytes = 0;
    for (const ByteRange& buffer : page.metadata().buffers) bytes += buffer.size;
    return bytes < file::kMinJoinedBytes && page.metadata().num_rows > 0;
  });
}

// Many files, each too small to have a page that is worth a copy.
bool AreSmall(const std::vector<wire::DataFragment>& fragments) {
  const auto is_small = [](const wire::DataFile& file) {
    return file.file_size_bytes != 0 && file.file_size_bytes < file::kMinJoinedBytes;
  };
  return fragments.size() > 1 && std::ranges::any_of(fragments, [&](const auto& fragment) {
           return std::ranges::all_of(fragment.files, is_small);
         });
}

// Whether the rows are in the files as they are.
bool IsPlain(const wire::DataFragment& fragment) {
  return !fragment.deletion_file && fragment.overlays.empty() && fragment.physical_rows > 0 &&
         !fragment.files.empty();
}

// What a task is called in errors.
std::string NewTaskName() {
  const uint64_t high = Random64();
  const uint64_t low = Random64();
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     0x4000 | (high & 0xfff), 0x8000 | (low >> 48 & 0x3fff), low & 0xffffffffffff);
}

class PageCopying {
 public:
  explicit PageCopying(const PageCopyTask& task)
      : task_(task),
        schema_(StateOf(task.source)->manifest->schema),
        snapshot_(SnapshotOf(task.source)) {}

  arrow::Result<std::optional<WrittenFragments>> Run();

 private:
  arrow::Status CheckForced() const;
  bool AreCopyable() const;
  arrow::Status OpenFiles();
  arrow::Result<CopiedFields> ChooseFields() const;
  arrow::Result<std::optional<CopiedField>> PlanField(
      const std::vector<std::vector<read::FieldSource>>& sources, size_t field,
      const arrow::Field& arrow, size_t first_column) const;
  arrow::Result<std::optional<CopiedColumn>> PlanColumn(
      const file::LeafColumn& leaf, const std::vector<read::StoredColumn>& places,
      size_t column) const;
  bool AreGood(std::span<const file::CopiedPage> pages, uint64_t max_bytes) const;
  bool FitsFiles(const CopiedFields& fields) const;
  arrow::Result<bool> WriteFile(const CopiedFields& fields, size_t index, ScanStream* rows,
                                WrittenFragments& written);
  arrow::Status WriteRows(ScanStream& rows, file::FileWriter& writer);
  arrow::Status Progress(uint64_t bytes);

  const PageCopyTask& task_;
  const wire::Schema& schema_;
  read::Snapshot snapshot_;
  std::vector<std::vector<std::shared_ptr<file::FileReader>>> files_;  // of each fragment
  std::shared_ptr<arrow::RecordBatch> batch_;                          // of which rows are left
  int64_t batch_offset_ = 0;
  uint64_t rows_done_ = 0;
  uint64_t total_rows_ = 0;
  uint64_t bytes_done_ = 0;
};

// The conditions of pylance, and its words.
arrow::Status PageCopying::CheckForced() const {
  const std::string name = NewTaskName();
  const auto refuse = [&] {
    return Unsupported("compaction task {}: binary copy is not supported", name);
  };
  for (const wire::DataFragment& fragment : task_.fragments) {
    for (const wire::DataFile& file : fragment.files) {
      if (IsOfVersion(file, task_.version)) continue;
      return Unsupported(
          "compaction task {}: binary copy target is 2.{}, but data file '{}' uses {}.{}", name,
          MinorVersionOf(task_.version).value_or(0), file.path, file.file_major_version,
          file.file_minor_version);
    }
  }
  if (task_.fragments.empty() || !std::ranges::all_of(task_.fragments, IsPlain)) return refuse();
  const std::vector<int32_t> expected = wire::FileFieldIds(schema_, task_.version);
  for (size_t i = 0; i < task_.fragments.size(); ++i) {
    for (const wire::DataFile& file : task_.fragments[i].files) {
      std::vector<int32_t> fields;
      bool in_order = true;
      for (size_t at = 0; at < file.fields.size(); ++at) {
        if (at >= file.column_indices.size())
          in_order = false;
        else if (file.column_indices[at] >= 0) {
          in_order = in_order && file.column_indices[at] == static_cast<int32_t>(fields.size());
          fields.push_back(file.fields[at]);
        }
      }
      if (!in_order || fields != expected) return refuse();
    }
    for (const auto& file : files_[i]) {
      if (file->metadata().global_buffers.size() > 1) return refuse();
    }
  }
  return arrow::Status::OK();
}

bool PageCopying::AreCopyable() const {
  return MinorVersionOf(task_.version) && !task_.fragments.empty() && !RowsPerGroup(task_.limits) &&
         std::ranges::all_of(task_.fragments, [&](const wire::DataFragment& fragment) {
           return IsPlain(fragment) &&
                  std::ranges::all_of(fragment.files, [&](const wire::DataFile& file) {
                    return IsOfVersion(file, task_.version);
                  });
         });
}

arrow::Status PageCopying::OpenFiles() {
  for (const wire::DataFragment& fragment : task_.fragments) {
    auto& files = files_.emplace_back();
    for (const wire::DataFile& file : fragment.files) {
      ARROW_ASSIGN_OR_RAISE(files.emplace_back(), read::OpenDataFile(snapshot_, file));
    }
  }
  return arrow::Status::OK();
}

// In other modes than kReencode large pages are good, also where they could have been larger.
bool PageCopying::AreGood(std::span<const file::CopiedPage> pages, uint64_t max_bytes) const {
  if (file::AreAsGoodAsNew(pages, max_bytes)) return true;
  return task_.mode != CompactionMode::kReencode &&
         std::ranges::all_of(pages, [&](const file::CopiedPage& page) {
           return page.num_bytes >= kGoodPageBytes && page.num_bits / 8 <= max_bytes;
         });
}

// Nothing where a page lies in two files, or the copy would not be good.
arrow::Result<std::optional<CopiedColumn>> PageCopying::PlanColumn(
    const file::LeafColumn& leaf, const std::vector<read::StoredColumn>& places,
    size_t column) const {
  std::vector<std::vector<file::PageRef>> pages(task_.planned_rows.size());
  size_t file = 0;
  uint64_t rows_in_file = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& reader = files_[i][places[i].file];
    const file::FileMetadata& metadata = reader->metadata();
    // What contradicts the table is left to who reads rows, and says so.
    if (places[i].column >= metadata.columns.size() || metadata.version != task_.version ||
        metadata.num_rows != task_.fragments[i].physical_rows) {
      return std::nullopt;
    }
    const wire::ColumnMetadata& source = metadata.columns[places[i].column];
    uint64_t rows = 0;
    for (size_t page = 0; page < source.pages.size(); ++page) {
      rows += source.pages[page].num_rows;
      rows_in_file += source.pages[page].num_rows;
      if (file == pages.size() || rows_in_file > task_.planned_rows[file]) return std::nullopt;
      pages[file].push_back({reader, places[i].column, page});
      if (rows_in_file == task_.planned_rows[file]) {
        ++file;
        rows_in_file = 0;
      }
    }
    if (rows != task_.fragments[i].physical_rows || !source.buffers.empty()) return std::nullopt;
  }
  if (file != pages.size()) return std::nullopt;
  const uint64_t max_bytes = std::min(task_.limits.max_page_bytes, task_.limits.data_cache_bytes);
  CopiedColumn copied = {.column = column, .pages = {}};
  for (const auto& of_file : pages) {
    if (HaveSmallPages(of_file, max_bytes)) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const bool agree, file::AgreeOnNulls(leaf, of_file));
    if (!agree) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(auto plan, file::PlanPageCopy(leaf, of_file, max_bytes));
    if (!AreGood(plan, max_bytes)) return std::nullopt;
    copied.pages.push_back(std::move(plan));
  }
  return copied;
}

arrow::Result<std::optional<CopiedField>> PageCopying::PlanField(
    const std::vector<std::vector<read::FieldSource>>& sources, size_t field,
    const arrow::Field& arrow, size_t first_column) const {
  ARROW_ASSIGN_OR_RAISE(const auto leaves, file::LeafColumn::Of(arrow));
  CopiedField copied = {.field = static_cast<int>(field), .columns = {}};
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    std::vector<read::StoredColumn> places;
    for (const auto& of_fragment : sources) {
      const read::FieldSource& source = of_fragment[field];
      if (source.stored == nullptr || !source.stored->type()->Equals(*arrow.type()) ||
          source.columns.size() != leaves.size()) {
        return std::nullopt;
      }
      places.push_back(source.columns[leaf]);
    }
    ARROW_ASSIGN_OR_RAISE(auto column, PlanColumn(leaves[leaf], places, first_column + leaf));
    if (!column) return std::nullopt;
    copied.columns.push_back(std::move(*column));
  }
  return copied;
}

arrow::Result<CopiedFields> PageCopying::ChooseFields() const {
  ARROW_ASSIGN_OR_RAISE(const auto projection, read::Projection::Make(schema_, {}));
  std::vector<std::vector<read::FieldSource>> sources;
  for (const wire::DataFragment& fragment : task_.fragments) {
    ARROW_ASSIGN_OR_RAISE(sources.emplace_back(), read::FindSources(*projection, fragment));
  }
  CopiedFields chosen;
  size_t column = 0;
  for (size_t i = 0; i < projection->fields.size(); ++i) {
    const read::ReadField& field = projection->fields[i];
    ARROW_ASSIGN_OR_RAISE(auto copied, PlanField(sources, i, *field.arrow, column));
    column += field.leaves.size();
    if (copied) {
      chosen.fields.push_back(std::move(*copied));
    } else {
      chosen.others.push_back(field.field.name);
    }
  }
  return chosen;
}

// The limit on bytes is for who sees the rows; where it may matter they have to be seen.
bool PageCopying::FitsFiles(const CopiedFields& fields) const {
  uint64_t bytes = 0;
  for (const auto& of_fragment : files_) {
    for (const auto& file : of_fragment) bytes += file->metadata().file_size;
  }
  const auto is_path = [](const std::string& name) {
    return name.find_first_of(".`") != std::string::npos;
  };
  return bytes < task_.limits.max_bytes_per_file / 2 &&
         std::ranges::none_of(fields.others, is_path);
}

arrow::Status PageCopying::Progress(uint64_t bytes) {
  bytes_done_ += bytes;
  if (!task_.progress) return arrow::Status::OK();
  return task_.progress({.rows = rows_done_, .total_rows = total_rows_, .bytes = bytes_done_});
}

arrow::Status PageCopying::WriteRows(ScanStream& rows, file::FileWriter& writer) {
  while (!writer.full()) {
    if (batch_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(batch_, rows.Next());
      batch_offset_ = 0;
      if (batch_ == nullptr) return Internal("rows of the task are missing");
      ARROW_RETURN_NOT_OK(Progress(0));
    }
    ARROW_ASSIGN_OR_RAISE(const int64_t taken, writer.Write(batch_, batch_offset_));
    batch_offset_ += taken;
    if (batch_offset_ == batch_->num_rows()) batch_ = nullptr;
  }
  return arrow::Status::OK();
}

arrow::Result<bool> PageCopying::WriteFile(const CopiedFields& fields, size_t index,
                                           ScanStream* rows, WrittenFragments& written) {
  const table::TableLocation& table = StateOf(task_.source)->location;
  const std::string name = NewDataFileName();
  const std::string path = table.Path("data/" + name);
  file::FileWriterOptions options = {.version = task_.version,
                                     .data_cache_bytes = task_.limits.data_cache_bytes,
                                     .max_page_bytes = task_.limits.max_page_bytes,
                                     .max_rows = task_.planned_rows[index],
                                     .keep_slices = true,
                                     .is_new = true};
  for (const CopiedField& field : fields.fields) options.copied_fields.push_back(field.field);
  ARROW_ASSIGN_OR_RAISE(auto writer, file::FileWriter::Create(table.store, path, schema_, options));
  const auto progress = [this](uint64_t bytes) { return Progress(bytes); };
  for (const CopiedField& field : fields.fields) {
    for (const CopiedColumn& column : field.columns) {
      const auto& pages = column.pages[index];
      for (size_t i = 0; i < pages.size(); ++i) {
        const auto end =
            i + 1 == pages.size() ? file::PageEnd::kFileEnd : file::PageEnd::kPageBytes;
        ARROW_ASSIGN_OR_RAISE(
            const bool done,
            file::WriteCopiedPage(pages[i], column.column, end, task_.limits.data_cache_bytes / 8,
                                  progress, *writer));
        if (!done) return false;
      }
    }
  }
  if (rows != nullptr) ARROW_RETURN_NOT_OK(WriteRows(*rows, *writer));
  written.files.Add(path);
  ARROW_ASSIGN_OR_RAISE(const file::FileSummary summary, writer->Finish());
  written.AddFile(summary, name);
  rows_done_ += summary.num_rows;
  ARROW_RETURN_NOT_OK(Progress(0));
  return true;
}

arrow::Result<std::optional<WrittenFragments>> PageCopying::Run() {
  const bool forced = task_.mode == CompactionMode::kForceBinaryCopy;
  const bool copyable = AreCopyable();
  if (copyable && (forced || !AreSmall(task_.fragments))) ARROW_RETURN_NOT_OK(OpenFiles());
  if (forced) {
    files_.resize(task_.fragments.size());
    ARROW_RETURN_NOT_OK(CheckForced());
  }
  if (!copyable || AreSmall(task_.fragments)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const CopiedFields fields, ChooseFields());
  if (fields.fields.empty() || !FitsFiles(fields)) return std::nullopt;
  for (const uint64_t rows : task_.planned_rows) total_rows_ += rows;

  WrittenFragments written = {
      .fragments = {}, .files = NewFiles(StateOf(task_.source)->location.store), .summary = {}};
  std::unique_ptr<ScanStream> rows;
  if (!fields.others.empty()) {
    ScanOptions scan = task_.scan;
    scan.columns = fields.others;
    ARROW_ASSIGN_OR_RAISE(rows, Scan(task_.source, scan));
  }
  for (size_t i = 0; i < task_.planned_rows.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const bool done, WriteFile(fields, i, rows.get(), written));
    if (!done) return std::nullopt;
  }
  return written;
}

}  // namespace

arrow::Result<std::optional<WrittenFragments>> CopyPages(const PageCopyTask& task) {
  return PageCopying(task).Run();
}

}  // namespace glaive::dataset
