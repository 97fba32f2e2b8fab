#include <algorithm>
#include <utility>

#include "dataset/write_stream.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kMinPartBytes = uint64_t{32} << 20;

// The first row with `bytes` or more before it.
uint64_t RowAt(const SliceableReader& rows, uint64_t bytes) {
  uint64_t begin = 0;
  for (uint64_t end = rows.num_rows(); begin < end;) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (rows.BytesBefore(middle) >= bytes) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace

std::vector<uint64_t> CutRows(const SliceableReader& rows, size_t max_parts,
                              const FileLimits& limits) {
  const uint64_t num_rows = rows.num_rows();
  const uint64_t num_bytes = rows.BytesBefore(num_rows);
  const uint64_t large_parts = num_bytes / kMinPartBytes;
  const uint64_t full_files = num_rows / limits.max_rows_per_file;
  const uint64_t parts = std::clamp<uint64_t>(
      std::max({large_parts, full_files, num_bytes / limits.max_bytes_per_file}), 1, max_parts);
  const bool only_full_files = parts > large_parts && parts <= full_files;
  const uint64_t slack = only_full_files ? UINT64_MAX : num_rows / parts / 10;

  std::vector<uint64_t> first_rows = {0};
  for (uint64_t i = 1; i < parts; ++i) {
    uint64_t row =
        RowAt(rows, static_cast<uint64_t>(static_cast<double>(num_bytes) * static_cast<double>(i) /
                                          static_cast<double>(parts)));
    const uint64_t file_end =
        (row + limits.max_rows_per_file / 2) / limits.max_rows_per_file * limits.max_rows_per_file;
    if (std::max(row, file_end) - std::min(row, file_end) <= slack) row = file_end;
    if (row > first_rows.back() && row < num_rows) first_rows.push_back(row);
  }
  return first_rows;
}

}  // namespace glaive::dataset
