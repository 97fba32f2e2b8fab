#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "glaive/columns.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

/// Values to give to columns: expressions, or a function of batches. Unlike that of AddColumns it
/// is called on several threads at once, for one fragment on one; it has no checkpoint of its own.
using BackfillColumns = std::variant<std::vector<ComputedColumn>, ColumnFunction>;

struct BackfillOptions {
  /// A local folder that keeps what was computed until it is committed: the same call goes on from
  /// there after a failure or the end of the process. Made where it is missing; emptied, and
  /// removed if nothing else is in it, once all is committed. Nothing is kept without it.
  std::optional<std::string> checkpoint;
  /// Fragments in one version, as soon as so many are computed; 0: all in one, at the end.
  uint64_t commit_every = 0;
  /// Columns that the table has are computed anew, in every row; else an error.
  bool overwrite = false;
  /// Fragments that are computed at a time; one for each core when absent.
  std::optional<uint64_t> num_threads;
  /// Of all versions that it makes. Progress is told rows of this call, and fragments as tasks.
  VersionOptions version;
};

struct BackfillResult {
  Dataset dataset;
  uint64_t fragments_committed = 0;  ///< that got values by this call's versions
  uint64_t fragments_computed = 0;   ///< by this call; one may count several times
  uint64_t fragments_resumed = 0;    ///< that an earlier call had computed
  uint64_t fragments_recomputed =
      0;                  ///< since their inputs or rows had changed; among the computed
  uint64_t versions = 0;  ///< that this call made
};

/// Gives columns values in every fragment: computes them fragment by fragment, stages them, and
/// commits what was staged. Other writers may go on meanwhile. Fragments that they add are computed
/// as well, until there is none left; deletes are kept; a fragment of which a column that the
/// values are computed from was changed, or out of which rows were moved, is computed again, and no
/// other. Until the call ends the columns are its own: what others write into them is computed
/// anew.
///
/// Errors: InvalidInput for columns that are there without `overwrite`, a function that gives other
/// columns or another number of rows than it should, `commit_every` for new columns that cannot be
/// null, and a checkpoint of another backfill; ColumnWriteConflict where the schema was changed so
/// that the columns do not fit; an error of the function as it is. What was committed stays; what
/// was computed stays in the checkpoint, and without one is removed.
arrow::Result<BackfillResult> Backfill(const Dataset& dataset, const BackfillColumns& columns,
                                       const BackfillOptions& options = {});

}  // namespace glaive
