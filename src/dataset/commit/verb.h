#pragma once

#include <memory>
#include <variant>

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "table/commit/commit.h"

// How every verb ends: its version is published, and then nothing can fail any more.
namespace glaive::dataset {

// A table to be made as a copy of a version.
struct CloneOf {
  table::ManifestPtr source;
  table::Clone operation;
};

// What a verb publishes.
using Change = std::variant<table::Change, table::MakeChange, CloneOf>;

// What it is published onto.
struct CommitPlace {
  table::TableLocation table;
  table::ManifestPtr base;  // null: no table is there, and an Overwrite or a clone makes it
  std::shared_ptr<Session> session;
  bool cleans_up = true;  // after the commit, where the table's config asks for it
};

// The version that a handle is on.
CommitPlace PlaceOf(const Dataset& dataset);

// Publishes the change, and returns the version that has it. Durably: all data, deletion and index
// files that it brings are synced before, whoever wrote them. `files`, which the verb wrote, stay
// unless it is certain that no version refers to them, and else go with their object. Then
// the clean-up is done that the table's config asks for. Once a version is published, an error is
// CommitUnknown and names it: the caller must not take it for one that made nothing.
//
// `details` are what few verbs say besides: properties of their own, which those of `options`
// overrule, a new table's settings, and a `poll` that knows the counts for `options.progress`. Its
// durability does not count.
arrow::Result<Dataset> CommitVerb(const CommitPlace& place, Change change,
                                  const VersionOptions& options, NewFiles* files = nullptr,
                                  table::CommitOptions details = {});

// The last part of it: a handle on a version that was published, or CommitUnknown.
arrow::Result<Dataset> PublishedDataset(const table::TableLocation& table,
                                        const table::ManifestPtr& published,
                                        const std::shared_ptr<Session>& session);

}  // namespace glaive::dataset
