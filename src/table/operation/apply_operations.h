#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

// What each operation does to the manifest that is to follow. `next` comes as a copy of the
// previous version with its own number already; what an error leaves of it is thrown away.
namespace glaive::table {

arrow::Status ApplyTo(Manifest& next, const Append& append);
arrow::Status ApplyTo(Manifest& next, const Delete& deletion);
arrow::Status ApplyTo(Manifest& next, const Overwrite& overwrite, const CommitHints& hints);
arrow::Status ApplyTo(Manifest& next, const CreateIndex& change);
arrow::Status ApplyTo(Manifest& next, const Rewrite& rewrite);
arrow::Status ApplyTo(Manifest& next, const Merge& merge, const CommitHints& hints);
arrow::Status ApplyTo(Manifest& next, const Restore& restore, const CommitHints& hints);
arrow::Status ApplyTo(Manifest& next, const ReserveFragments& reservation);
arrow::Status ApplyTo(Manifest& next, const Update& update);
arrow::Status ApplyTo(Manifest& next, const Project& project);
arrow::Status ApplyTo(Manifest& next, const UpdateConfig& update);
arrow::Status ApplyTo(Manifest& next, const DataReplacement& operation);
arrow::Status ApplyTo(Manifest& next, const DataOverlay& operation);
arrow::Status ApplyTo(Manifest& next, const UpdateMemWalState& operation);
arrow::Status ApplyTo(Manifest& next, const Clone& clone);
arrow::Status ApplyTo(Manifest& next, const UpdateBases& update);

// A path below the table's folder, and a column for each field; before 2.0 the columns of a file
// were those of its fields, one by one.
arrow::Status CheckFile(const wire::DataFile& file);

// Ids come from the manifest's counter, in list order; a fragment whose id is not 0 brings one that
// was reserved for it.
arrow::Result<std::vector<wire::DataFragment>> WithIds(std::vector<wire::DataFragment> fragments,
                                                       std::optional<uint32_t>& max_fragment_id);

// InvalidInput unless the fragment is there.
arrow::Result<wire::DataFragment> ParseExisting(const Manifest& manifest, uint64_t id);

// One version for all rows of a fragment.
wire::RowSequence AllOfVersion(const wire::DataFragment& fragment, uint64_t version);

// Fields that a file of the schema may hold columns of: its own, and the hidden row lineage.
std::set<int32_t> LiveFields(const wire::Schema& schema);

// Drops files that hold nothing live; whether there were any. One stays in any case: it says how
// many rows there are, and other readers refuse a fragment without a file.
bool DropDeadFiles(const std::set<int32_t>& live, wire::DataFragment& fragment);

// Puts back what the messages of `before` held beyond what this build knows, as far as `after` has
// these messages and does not say something of its own.
void KeepUnknownFields(const wire::DataFragment& before, wire::DataFragment& after);

// With stable row ids every new row gets the next one; it was made, and last changed, here.
arrow::Status GiveRowIds(std::vector<wire::DataFragment>& fragments, Manifest& next);

// The lowest id from `first` on that no base has.
uint32_t UnusedBaseId(const std::vector<BasePath>& bases, uint32_t first);

}  // namespace glaive::table
