#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/fragment_writer.h"
#include "glaive/write.h"
#include "table/commit.h"
#include "wire/schema.h"

// What the verbs that write rows have in common.
namespace glaive::dataset {

// "2.2", "stable", ... Unsupported for versions that are not written, InvalidInput for names that
// are none; both name it.
arrow::Result<FileVersion> WritableVersion(std::string_view name);

// kDefault is what GLAIVE_DURABILITY says, or kCommit. InvalidInput for another word there.
arrow::Result<table::Durability> Resolve(Durability durability);

// Where rows go to and as what.
struct WriteTarget {
  table::TableLocation table;
  table::ManifestPtr base;              // null: there is no table yet
  WriteMode mode = WriteMode::kCreate;  // kCreate without `base`, else not
  std::shared_ptr<Session> session;
  std::vector<table::BasePath> new_bases = {};  // to be registered, with their ids
  std::vector<DataFolder> folders = {};         // where the files go
};

// The table at `uri` and what becomes of `options.mode` there. AlreadyExists for a table that was
// to be created; InvalidInput for appending to a folder of data files without a version.
arrow::Result<WriteTarget> OpenTarget(std::string_view uri, const WriteOptions& options);
arrow::Result<WriteTarget> OpenTarget(const Dataset& dataset, const WriteOptions& options);

struct WrittenRows {
  WrittenFragments written;
  wire::Schema schema;  // of the table: the new one, or the one appended to
  FileVersion version = FileVersion::k2_2;
};

// Writes the stream's rows into new files of the target.
arrow::Result<WrittenRows> WriteRows(std::shared_ptr<arrow::RecordBatchReader> stream,
                                     const WriteTarget& target, const WriteOptions& options);

}  // namespace glaive::dataset
