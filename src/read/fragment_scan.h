#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/ranges.h"
#include "query/bind/filter.h"
#include "read/fragment_reader.h"
#include "read/projection.h"

namespace glaive::read {

// What a scan reads of every fragment, and in which order: first what decides whether a row passes,
// then, of the rows that do, the rest. Immutable.
struct ScanColumns {
  struct Source {
    bool from_filter;  // the filter read it already
    int column;
  };

  std::shared_ptr<const Projection> output;
  std::shared_ptr<const query::Filter> filter;  // null: all rows pass
  std::shared_ptr<const Projection> filtered;   // what the filter looks at; null without one
  std::shared_ptr<const Projection> rest;       // of the output, what `filtered` does not have
  std::vector<Source> sources;                  // of the output's columns

  static arrow::Result<std::shared_ptr<const ScanColumns>> Make(
      const wire::Schema& schema, const ProjectionRequest& request,
      std::shared_ptr<const query::Filter> filter);
};

// One fragment of a scan. Immutable and thread safe.
class FragmentScan {
 public:
  static arrow::Result<std::shared_ptr<const FragmentScan>> Open(
      const Snapshot& snapshot, const wire::DataFragment& fragment,
      std::shared_ptr<const ScanColumns> columns, uint64_t first_live_row = 0);

  // Those of the physical rows that pass. What is read for the filter, or beside it, and takes more
  // than `most_bytes` is TooLarge. REQUIRES: ascending ranges of fewer than 2^32 rows.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(std::span<const RowRange> rows,
                                                          uint64_t most_bytes) const;

  const FragmentReader& reader() const { return *rest_; }
  // As FragmentReader's, of all that is read.
  file::FileReader::RowSize SizeFrom(uint64_t row) const;

 private:
  FragmentScan() = default;
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRest(std::span<const RowRange> rows,
                                                              std::span<const uint32_t> passed,
                                                              uint64_t num_rows,
                                                              uint64_t most_bytes) const;

  std::shared_ptr<const ScanColumns> columns_;
  std::shared_ptr<const FragmentReader> filtered_;  // null without a filter
  std::shared_ptr<const FragmentReader> rest_;
};

}  // namespace glaive::read
