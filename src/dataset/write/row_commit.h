#pragma once

#include <arrow/result.h>

#include "dataset/write/destination.h"
#include "glaive/dataset.h"
#include "glaive/write.h"
#include "table/commit/commit.h"

// How rows that were written into files get into their table.
namespace glaive::dataset {

// What a write does where the version that it was to follow is no longer the newest one, and the
// commit itself cannot tell what lies between.
enum class Follow : bool {
  kAppends,  // rows that fit the newest version of the same table are put behind its own
  kAlways,   // an overwrite takes the place of the newest version as well
};

// Publishes the rows as one version, with the `details` of CommitVerb. Where others got in the way
// it is tried again, for as often and as long as with the verbs that change rows: onto the newest
// version of the same table, if the columns are still those that the files were written for, or
// onto the table that another writer made in the meantime where none was there. Destroyed files are
// the rows' own.
arrow::Result<Dataset> CommitRows(const Destination& destination, WrittenRows& rows,
                                  const table::CommitOptions& details, const WriteOptions& options,
                                  Follow follow);

}  // namespace glaive::dataset
