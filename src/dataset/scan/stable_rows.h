#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "dataset/handle/dataset_state.h"
#include "read/snapshot.h"
#include "table/sets/fragment_set.h"

namespace glaive::dataset {

// Where stable row ids may lie, over all versions that were asked about. A fragment never changes
// its rows' ids, so this only ever grows, and serves every version: which of the places counts, the
// version's own fragments and deletions say. Immutable; what is added makes a new one that shares
// the old one's layers.
class RowIdPlaces {
 public:
  struct Place {
    uint64_t fragment_id;
    uint64_t row;  // physical
  };

  // With the fragments of the version that are not known yet. `known` may be null. A table that was
  // removed and made anew under the same name does not match what is known of it, and starts
  // afresh.
  static arrow::Result<std::shared_ptr<const RowIdPlaces>> Advance(
      std::shared_ptr<const RowIdPlaces> known, const read::Snapshot& snapshot);

  void Find(uint64_t row_id, std::vector<Place>* places) const;
  uint64_t memory_bytes() const;

 private:
  // Rows [row, row + length) of a fragment have the ids from `first` on.
  struct Run {
    uint64_t first;
    uint64_t length;
    uint64_t fragment_id;
    uint64_t row;
  };
  // Sorted by first id. Where runs overlap, as after rows have moved, `ends` bounds the search: the
  // highest end among a run and those before it.
  struct Layer {
    std::vector<Run> runs;
    std::vector<uint64_t> ends;
  };
  using LayerPtr = std::shared_ptr<const Layer>;

  static LayerPtr MakeLayer(std::vector<Run> runs);
  static arrow::Status AddRuns(const read::Snapshot& snapshot, const table::Fragment& view,
                               std::vector<Run>* runs);
  void Push(LayerPtr layer);
  arrow::Result<bool> IsOfSameTable(const table::Manifest& manifest) const;

  std::vector<LayerPtr> layers_;  // each at least twice the next
  table::FragmentSet known_;
  std::weak_ptr<const table::Manifest> last_;  // that was asked about
  uint64_t witness_id_ = 0;  // a fragment, and a file of it whose name no other table has
  std::string witness_file_;
};

// Where the rows with these stable ids lie: fragment id << 32 | physical row. Nothing for ids that
// no live row has. The session keeps what it learns of a table's row ids.
arrow::Result<std::vector<std::optional<uint64_t>>> FindStableRows(
    const Dataset& dataset, std::span<const uint64_t> row_ids);

}  // namespace glaive::dataset
