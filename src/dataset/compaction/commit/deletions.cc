#include "dataset/compaction/commit/deletions.h"

#include <utility>

#include "core/error.h"

namespace glaive::dataset {
namespace {

// Takes rows by their places among all that were written, ascending, and gives them to the
// fragments that they lie in.
class Dealer {
 public:
  explicit Dealer(std::span<const uint64_t> new_rows) : new_rows_(new_rows) {}

  // REQUIRES: place < the sum of the rows
  void Add(uint64_t place) {
    while (place - first_ >= new_rows_[dealt_.size()]) EndFragment();
    offsets_.push_back(static_cast<uint32_t>(place - first_));
  }

  std::vector<table::DeletionVector> Finish() && {
    while (dealt_.size() < new_rows_.size()) EndFragment();
    return std::move(dealt_);
  }

 private:
  void EndFragment() {
    first_ += new_rows_[dealt_.size()];
    dealt_.emplace_back(std::exchange(offsets_, {}));
  }

  std::span<const uint64_t> new_rows_;
  uint64_t first_ = 0;  // place of the first row of the fragment that is being dealt to
  std::vector<uint32_t> offsets_;
  std::vector<table::DeletionVector> dealt_;
};

}  // namespace

arrow::Result<std::vector<table::DeletionVector>> MapDeletions(std::span<const OldRows> old,
                                                               std::span<const uint64_t> new_rows) {
  uint64_t rows_live = 0;
  uint64_t rows_written = 0;
  for (const OldRows& fragment : old) rows_live += fragment.physical_rows - fragment.then->size();
  for (const uint64_t rows : new_rows) rows_written += rows;
  if (rows_live != rows_written) {
    return InvalidInput("{} rows were written of {} that were live", rows_written, rows_live);
  }

  Dealer dealer(new_rows);
  uint64_t first = 0;  // place of the fragment's first live row
  for (const OldRows& fragment : old) {
    const uint64_t live = fragment.physical_rows - fragment.then->size();
    if (fragment.now == nullptr) {
      for (uint64_t i = 0; i < live; ++i) dealer.Add(first + i);
    } else {
      const auto then = fragment.then->offsets();
      size_t left_out = 0;  // of the rows before the one that is looked at
      for (const uint32_t offset : fragment.now->offsets()) {
        while (left_out < then.size() && then[left_out] < offset) ++left_out;
        if (left_out < then.size() && then[left_out] == offset) continue;
        dealer.Add(first + offset - left_out);
      }
    }
    first += live;
  }
  return std::move(dealer).Finish();
}

}  // namespace glaive::dataset
