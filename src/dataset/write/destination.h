#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/handle/table_identity.h"
#include "dataset/write/fragment_writer.h"
#include "glaive/write.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "wire/schema.h"

// What the verbs that write rows have in common.
namespace glaive::dataset {

// Where rows go to and as what.
struct Destination {
  table::TableLocation table;
  WriteMode mode = WriteMode::kCreate;  // kCreate where there is no table yet, else not
  std::shared_ptr<Session> session;
  // Of the version that is written onto; null, 0 and the default where there is no table yet.
  std::shared_ptr<const wire::Schema> schema = nullptr;
  uint64_t version = 0;
  FileVersion data_file_version = FileVersion::k2_2;
  table::ManifestPtr base = nullptr;  // only for those who commit
  // What the fragments remember of a target that travelled.
  std::optional<TableIdentity> written_for = std::nullopt;
  std::vector<table::BasePath> new_bases = {};  // to be registered, with their ids
  std::vector<DataFolder> folders = {};         // where the files go
};

// The table at `uri`, or a handle's, and what becomes of `options.mode` there, with the manifest
// that a commit needs. AlreadyExists for a table that was to be created; InvalidInput for appending
// to a folder of data files without a version.
arrow::Result<Destination> OpenDestination(std::string_view uri, const WriteOptions& options);
arrow::Result<Destination> OpenDestination(const Dataset& dataset, const WriteOptions& options);

// The same for those who write files and commit nothing: a handle or a target costs no request, and
// a URI whose target the session has the look-up of the newest version. InvalidInput for appending
// where a table lost its versions, and for another session than the handle's.
arrow::Result<Destination> FileDestination(std::string_view uri, const WriteOptions& options);
arrow::Result<Destination> FileDestination(const Dataset& dataset, const WriteOptions& options);
arrow::Result<Destination> FileDestination(const WriteTarget& target, const WriteOptions& options);

struct WrittenRows {
  WrittenFragments written;
  wire::Schema fields;  // of the files
  FileVersion version = FileVersion::k2_2;
};

// Writes the stream's rows into new files of the destination.
arrow::Result<WrittenRows> WriteRows(std::shared_ptr<arrow::RecordBatchReader> stream,
                                     const Destination& destination, const WriteOptions& options);

}  // namespace glaive::dataset
