#pragma once

#include <cstdint>
#include <vector>

#include <arrow/status.h>

#include "table/rows/row_ids.h"
#include "wire/fragment.h"

namespace glaive::table {

// The versions that made rows, by their ids, of the fragments that an update takes rows from. A row
// that moved before stands in several: where it lies now, and in the places that it left, whose
// deleted rows keep their ids.
class RowOrigins {
 public:
  // In any order, each fragment once. Where two tell of one row, the one with the higher id holds
  // it, since rows only move into new fragments.
  arrow::Status Add(const wire::DataFragment& fragment);

  // After the last Add, before the first Find.
  void Finish();

  // The versions of rows [first, first + length), `inserted` for those of no origin.
  void Find(uint64_t first, uint64_t length, uint64_t inserted,
            std::vector<VersionRun>* versions) const;

 private:
  struct Origin {
    uint64_t begin;
    uint64_t end;
    uint64_t version;
    uint64_t fragment_id;
  };

  // Appends rows that lie behind all that are there.
  static void Append(const Origin& rows, std::vector<Origin>* origins);

  std::vector<Origin> origins_;  // after Finish: ascending, of no row twice
};

}  // namespace glaive::table
