#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/ranges.h"
#include "file/file_reader.h"
#include "read/projection.h"
#include "read/snapshot.h"
#include "wire/fragment.h"

namespace glaive::read {

// The rows that an overlay covers, and so which of its values each of them has: the n-th row
// covered has the n-th value.
class Coverage {
 public:
  explicit Coverage(std::vector<RowRange> rows);

  uint64_t size() const { return size_; }
  std::span<const RowRange> ranges() const { return ranges_; }
  // How many rows of the ranges before `range` are covered.
  uint64_t RankOf(size_t range) const { return ranks_[range]; }

 private:
  std::vector<RowRange> ranges_;
  std::vector<uint64_t> ranks_;
  uint64_t size_ = 0;
};

// Lays the values of a fragment's overlays over those of its files: of the overlays that cover a
// row the newest counts, and a null of it is null. Immutable and thread safe.
class OverlayReader {
 public:
  // Opens the overlays that supply fields of the projection, and no others.
  static arrow::Result<OverlayReader> Open(const Snapshot& snapshot,
                                           const wire::DataFragment& fragment,
                                           const Projection& projection);

  // `arrays` are the base values of the projection's fields in these rows. Values of overlays that
  // take more than `most_bytes`: TooLarge. REQUIRES: ascending ranges of fewer than 2^32 rows.
  arrow::Status Apply(std::span<const RowRange> rows, uint64_t most_bytes,
                      arrow::ArrayVector* arrays) const;

 private:
  // One overlay of one column.
  struct Layer {
    std::shared_ptr<file::FileReader> file;
    std::shared_ptr<const Coverage> coverage;
    std::vector<uint32_t> columns;  // of `file`, one for each leaf
  };
  // What overlays can replace: a field with no struct above it but those on the way to it.
  struct Column {
    size_t read_field = 0;
    std::vector<int> path;  // children of structs to go down, from the field
    // The top-level field with nothing below its structs but this: a column's levels tell of all
    // that is above it.
    std::shared_ptr<arrow::Field> field;
    std::vector<encoding::LeafPath> leaves;
    std::vector<Layer> layers;  // newest first
  };

  class Opener;
  static arrow::Result<std::shared_ptr<arrow::Array>> Merge(
      const Column& column, std::span<const RowRange> rows, uint64_t most_bytes,
      const std::shared_ptr<arrow::Array>& base);

  std::vector<Column> columns_;
};

}  // namespace glaive::read
