#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/new_files.h"
#include "file/file_writer.h"
#include "file/input_rows.h"
#include "glaive/write.h"
#include "table/commit.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

// A folder for data files, in the store of the table.
struct DataFolder {
  std::string path;                 // without a trailing '/'
  std::optional<uint32_t> base_id;  // of the files in it; none in the table's own data/
};

struct FragmentWriterOptions {
  FileLimits limits;
  FileVersion version = FileVersion::k2_2;
  // Rows of each file, in order, where they are planned; max_rows_per_file for those behind.
  std::vector<uint64_t> planned_rows;
  std::vector<DataFolder> folders;  // take turns, file by file; empty: the table's own
  bool keep_slices = false;         // as in file::FileWriterOptions
  uint64_t total_rows = 0;          // for progress; 0: not known
  ProgressCallback progress;
  FragmentEvents events;
};

struct WrittenFragments {
  std::vector<wire::DataFragment> fragments;  // one per file, ids not given yet
  NewFiles files;
  WriteSummary summary;
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

  arrow::Result<WrittenFragments> Finish() &&;

 private:
  FragmentWriter(table::TableLocation table, wire::Schema schema, FragmentWriterOptions options,
                 file::InputMatcher matcher);

  // Where the next file goes.
  const DataFolder& NextFolder() const;
  arrow::Status OpenFile();
  arrow::Status CloseFile();

  table::TableLocation table_;
  wire::Schema schema_;
  FragmentWriterOptions options_;
  file::InputMatcher matcher_;
  std::unique_ptr<file::FileWriter> file_;
  std::string file_name_;
  std::string file_path_;
  WrittenFragments written_;
};

}  // namespace glaive::dataset
