#include <algorithm>
#include <utility>

#include "dataset/write/stream.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kMinPartBytes = uint64_t{32} << 20;
// Rows take less than so many times their bytes in a file whose pages are not smaller than this.
constexpr uint64_t kMaxGrowth = 4;
constexpr uint64_t kMinPageBytes = 4 << 10;

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

// Whether a file may end by its bytes rather than its rows. Of rows in files the bytes are those
// that they take there, and those of open pages may be many more.
bool MayEndByBytes(const SliceableReader& rows, const FileLimits& limits) {
  const uint64_t open_bytes =
      rows.is_in_memory() ? 0 : std::min(limits.data_cache_bytes, limits.max_bytes_per_file);
  const uint64_t max_bytes = (limits.max_bytes_per_file - open_bytes) / kMaxGrowth;
  const uint64_t num_rows = rows.num_rows();
  if (rows.BytesBefore(num_rows) < max_bytes) return false;
  // Wherever files begin, one lies within two of these steps.
  const uint64_t step = std::min(limits.max_rows_per_file, num_rows);
  for (uint64_t row = 0; row < num_rows; row += step) {
    const uint64_t end = row + std::min(2 * step, num_rows - row);
    if (rows.BytesBefore(end) - rows.BytesBefore(row) >= max_bytes) return true;
  }
  return false;
}

// Each cut costs one file at most where the rows alone tell where the files end that are begun at
// one: then a file that begins further on does not end earlier. What pages take when they are
// encoded must not matter for that.
uint64_t MaxParts(const SliceableReader& rows, const FileLimits& limits) {
  if (!MayEndByBytes(rows, limits)) {
    if (limits.max_page_bytes < kMinPageBytes) return 1;
    const auto num_fields = static_cast<uint64_t>(std::max(rows.schema()->num_fields(), 1));
    return limits.data_cache_bytes / (num_fields * kMinPageBytes);
  }
  // No page ends before its file does.
  if (RowsPerGroup(limits) || limits.max_page_bytes / 2 < limits.max_bytes_per_file) return 1;
  return limits.data_cache_bytes / 2 / limits.max_bytes_per_file;
}

}  // namespace

std::vector<uint64_t> CutRows(const SliceableReader& rows, size_t max_parts,
                              const FileLimits& limits) {
  const uint64_t num_rows = rows.num_rows();
  const uint64_t num_bytes = rows.BytesBefore(num_rows);
  const uint64_t large_parts = num_bytes / kMinPartBytes;
  const uint64_t full_files = num_rows / limits.max_rows_per_file;
  const uint64_t wanted =
      std::max({large_parts, full_files, num_bytes / limits.max_bytes_per_file});
  const uint64_t parts = std::max<uint64_t>(
      std::min({wanted, uint64_t{max_parts}, wanted > 1 ? MaxParts(rows, limits) : 1}), 1);
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
