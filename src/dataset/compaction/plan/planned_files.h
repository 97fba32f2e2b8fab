#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "glaive/compaction.h"

namespace glaive::dataset {

// What the planning of a compaction knows of a fragment.
struct SourceFragment {
  uint64_t physical_rows = 0;
  uint64_t live_rows = 0;
  uint64_t bytes = 0;  // of its data files with a field of the schema; 0 where no one recorded it
  uint64_t overlay_bytes = 0;  // likewise
  size_t num_overlays = 0;
  std::vector<bool> coverage;  // for each index, whether it covers the fragment,
  std::vector<bool> followed;  // and would cover the fragment's rows in another one
  bool excluded = false;
  bool has_small_pages = false;
};

// Live rows, and the bytes that fall to them.
struct Amount {
  uint64_t rows = 0;
  double bytes = 0;

  Amount& operator+=(const Amount& other) {
    rows += other.rows;
    bytes += other.bytes;
    return *this;
  }
  Amount operator-(const Amount& other) const { return {rows - other.rows, bytes - other.bytes}; }
};

Amount AmountOf(const SourceFragment& fragment);
Amount AmountOf(std::span<const SourceFragment> fragments);

// When a fragment is large enough. All that takes options here takes resolved ones, and is pure.
class FragmentTargets {
 public:
  explicit FragmentTargets(const CompactionOptions& options);

  // New files have at least the target of one or the other, and those that max_bytes_per_file cuts
  // more than a third of that. What is above both halves stays so when it is encoded a little
  // better the second time.
  bool IsFull(const Amount& amount) const;

  // In fragments of the target's size.
  double SizeOf(const Amount& amount) const;

  uint64_t FilesByRows(const Amount& amount) const;
  uint64_t FilesByBytes(const Amount& amount) const;
  double max_bytes() const { return max_bytes_; }

 private:
  uint64_t rows_;
  double bytes_;
  double max_bytes_;
};

// The files that a task of these fragments makes, in order. They are even by rows or, where that
// asks for more files, by the bytes that the sources have for each of their rows.
std::vector<Amount> PlanFiles(std::span<const SourceFragment> sources,
                              const CompactionOptions& options);

// The same, for a task that has written its files and knows now what the rows take: fewer files
// where some came out too small, as many where none did or there is one alone.
std::vector<Amount> ReplanFiles(std::span<const SourceFragment> written,
                                const CompactionOptions& options);

}  // namespace glaive::dataset
