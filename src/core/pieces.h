#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include <arrow/result.h>

#include "core/too_large.h"

namespace glaive {

// A range of the items of a task, which mostly are rows. The task does its items in order.
struct Piece {
  uint64_t begin = 0;
  uint64_t size = 0;

  // A piece of one item cannot be cut further.
  bool is_single() const { return size == 1; }
};

// Cuts the items of a task into pieces that are expected to fit into memory. A piece whose work
// fails with TooLarge is cut into smaller ones. No other code splits work after an overflow. Not
// thread safe.
class Pieces {
 public:
  // The number of items from `begin` on that are expected to fit, at least 1. Called before each
  // piece, because earlier pieces may have corrected the estimate.
  using Fitting = std::function<uint64_t(uint64_t begin)>;

  Pieces(uint64_t count, Fitting fitting) : count_(count), fitting_(std::move(fitting)) {}

  bool at_end() const { return done_ == count_; }
  uint64_t done() const { return done_; }
  // The largest number of items of a piece, once a piece was too large.
  uint64_t largest() const { return largest_; }

  // Calls `work` with the next piece and returns its Status or Result. Returns TooLarge only for a
  // piece of one item. REQUIRES: !at_end()
  template <typename Work>
  auto Next(const Work& work) {
    uint64_t size = FitOf(done_);
    while (true) {
      auto result = work(Piece{done_, size});
      const arrow::Status status = StatusOf(result);
      if (status.ok()) {
        done_ += size;
        return result;
      }
      if (size == 1 || !IsTooLarge(status)) return result;
      // The failed work may have corrected the estimate; otherwise half the items are tried. The
      // items behind are likely to be as large.
      size = std::min(size / 2, FitOf(done_));
      largest_ = size;
    }
  }

 private:
  static arrow::Status StatusOf(const arrow::Status& status) { return status; }
  template <typename T>
  static arrow::Status StatusOf(const arrow::Result<T>& result) {
    return result.status();
  }

  uint64_t FitOf(uint64_t begin) const {
    const uint64_t fit = std::min(fitting_(begin), largest_);
    return std::clamp<uint64_t>(fit, 1, count_ - begin);
  }

  uint64_t count_;
  Fitting fitting_;
  uint64_t done_ = 0;
  uint64_t largest_ = UINT64_MAX;
};

}  // namespace glaive
