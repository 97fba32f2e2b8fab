#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/handle/new_files.h"
#include "file/file_writer.h"
#include "file/input_rows.h"
#include "glaive/write.h"
#include "table/manifest/location.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

// A folder for data files, in the store of the table.
struct DataFolder {
  std::string path;                 // without a trailing '/'
  std::optional<uint32_t> base_id;  // of the files in it; none in the table's own data/
};

// pylance's default number of rows for max_rows_per_group, which it takes no notice of and which
// tools pass along, counts as none.
std::optional<uint64_t> RowsPerGroup(const FileLimits& limits);

// A file that has all its rows. `finish` may run on another thread, and beyond the writer's life.
struct FileToFinish {
  uint64_t num_rows = 0;
  std::function<arrow::Status()> finish;
};

struct FragmentWriterOptions {
  FileLimits limits;
  FileVersion version = FileVersion::k2_2;
  // Rows of each file, in order, where they are planned; max_rows_per_file for those behind.
  std::vector<uint64_t> planned_rows;
  std::vector<DataFolder> folders;  // take turns, file by file; empty: the table's own
  size_t files_before = 0;          // of the same call, for the turns
  bool keep_slices = false;         // as in file::FileWriterOptions
  bool rows_stay = false;           // likewise
  uint64_t total_rows = 0;          // for progress; 0: not known
  ProgressCallback progress;
  FragmentEvents events;
  file::OutputFilter output = nullptr;  // as in file::FileWriterOptions
  file::HeldBytes on_held = nullptr;    // likewise
  Executor* executor = nullptr;         // likewise
  // Sees to it that files are finished; null: each is before the next is begun.
  std::function<arrow::Status(FileToFinish)> finish = nullptr;
};

struct WrittenFragments {
  std::vector<wire::DataFragment> fragments;  // one per file, ids not given yet
  NewFiles files;
  WriteSummary summary;

  // A file that is finished, as the last fragment.
  void AddFile(const file::FileSummary& file, const std::string& name);

  // Takes over what was written of the rows behind.
  void Append(WrittenFragments behind);
};

// Writes rows into as many data files as the limits ask for, each a fragment of its own. No row, no
// file. Destroyed without Finish it removes what it wrote. Not thread safe.
class FragmentWriter {
 public:
  // `schema` has the fields that the files will hold, with their ids.
  static arrow::Result<FragmentWriter> Make(table::TableLocation table, wire::Schema schema,
                                            FragmentWriterOptions options);

  // Errors: as FileWriter's, and what the progress callback returns.
  arrow::Status Write(const arrow::RecordBatch& batch);

  // Begins no file before the next row.
  arrow::Status CloseFile();

  // Closes the last file. REQUIRES: all that was given to `finish` has run.
  arrow::Result<WrittenFragments> Finish() &&;

 private:
  FragmentWriter(table::TableLocation table, wire::Schema schema, FragmentWriterOptions options,
                 file::InputMatcher matcher);

  struct Output;

  const DataFolder& FolderOf(size_t index) const;
  arrow::Status OpenFile();
  uint64_t written_bytes() const;

  table::TableLocation table_;
  wire::Schema schema_;
  FragmentWriterOptions options_;
  file::InputMatcher matcher_;
  std::unique_ptr<file::FileWriter> file_;
  std::string file_name_;
  std::string file_path_;
  size_t num_files_ = 0;            // that were closed
  uint64_t rows_before_ = 0;        // in those
  std::shared_ptr<Output> output_;  // of all files, shared with those that are finished elsewhere
};

}  // namespace glaive::dataset
