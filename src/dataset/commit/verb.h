#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "glaive/dataset.h"
#include "glaive/write.h"
#include "table/commit/commit.h"

// How every verb ends: its version is published, and then nothing can fail any more.
namespace glaive::dataset {

// A table to be made as a copy of a version.
struct CloneOf {
  table::ManifestPtr source;
  table::Clone operation;
};

// What a verb publishes.
using Change = std::variant<table::Operation, table::MakeOperation, CloneOf>;

// What it is published onto.
struct CommitPlace {
  table::TableLocation table;
  table::ManifestPtr base;  // null: no table is there, and an Overwrite or a clone makes it
  std::shared_ptr<Session> session;
};

// The version that a handle is on.
CommitPlace PlaceOf(const Dataset& dataset);

// What callers of any verb may say about its version.
struct ChangeOptions {
  Durability durability = Durability::kDefault;
  std::map<std::string, std::string> transaction_properties;
  ProgressCallback progress;  // must outlive the commit, as this must
};
arrow::Result<table::CommitOptions> CommitOptionsOf(const ChangeOptions& options);

// Publishes the change, and returns the version that has it. Durably: all data, deletion and index
// files that it brings are synced before, whoever wrote them. `files`, which the verb wrote, stay
// unless it is certain that no version refers to them, and else go with their object. Then
// the clean-up is done that the table's config asks for. Once a version is published, an error is
// CommitUnknown and names it: the caller must not take it for one that made nothing.
arrow::Result<Dataset> CommitVerb(const CommitPlace& place, Change change,
                                  table::CommitOptions options, NewFiles* files = nullptr);

// The last part of it: a handle on a version that was published, or CommitUnknown.
arrow::Result<Dataset> PublishedDataset(const table::TableLocation& table,
                                        const table::ManifestPtr& published,
                                        const std::shared_ptr<Session>& session);

}  // namespace glaive::dataset
