#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/ranges.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "wire/fragment.h"

namespace glaive::table {

// The physical rows of one fragment that are deleted: ascending, unique offsets. Immutable.
class DeletionVector {
 public:
  DeletionVector() = default;
  explicit DeletionVector(std::vector<uint32_t> sorted_offsets)
      : offsets_(std::move(sorted_offsets)) {}

  uint64_t size() const { return offsets_.size(); }
  bool empty() const { return offsets_.empty(); }
  bool Contains(uint32_t offset) const;
  std::span<const uint32_t> offsets() const { return offsets_; }

  DeletionVector Union(const DeletionVector& other) const;
  // The physical row of the n-th live one.
  uint64_t PhysicalOffset(uint64_t live_offset) const;
  // Live rows of a range of physical ones, as ranges.
  std::vector<RowRange> LiveRanges(RowRange physical) const;

 private:
  std::vector<uint32_t> offsets_;
};

using DeletionVectorPtr = std::shared_ptr<const DeletionVector>;

// `physical_rows` bounds the offsets; a file that does not hold what the manifest says is Corrupt.
arrow::Result<DeletionVectorPtr> ReadDeletionFile(const TableLocation& table,
                                                  const Manifest& manifest, uint64_t fragment_id,
                                                  const wire::DeletionFile& file,
                                                  uint64_t physical_rows);

// Relative to the table's root: _deletions/{fragment}-{read_version}-{id}.arrow or .bin
std::string DeletionFilePath(uint64_t fragment_id, const wire::DeletionFile& file);

// Writes the whole vector as a new file: .arrow below 5000 rows, .bin from there on.
arrow::Result<wire::DeletionFile> WriteDeletionFile(const TableLocation& table,
                                                    uint64_t fragment_id, uint64_t read_version,
                                                    const DeletionVector& vector);

}  // namespace glaive::table
