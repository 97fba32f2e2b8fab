#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include <arrow/result.h>

#include "core/too_large.h"

namespace glaive {

// Some of a number of things that are done in order, a piece at a time: rows, mostly.
struct Piece {
  uint64_t begin = 0;
  uint64_t size = 0;

  // A thing by itself is done whatever it takes.
  bool is_single() const { return size == 1; }
};

// Cuts what is to be done into pieces as large as are expected to fit, and into smaller ones where
// more comes of a piece than was expected: where doing it fails with TooLarge. The one place that
// splits on overflow. Not thread safe.
class Pieces {
 public:
  // How many of the things from `begin` on are expected to fit, at least 1. Asked before each
  // piece, since those done before may have told more.
  using Fitting = std::function<uint64_t(uint64_t begin)>;

  Pieces(uint64_t count, Fitting fitting) : count_(count), fitting_(std::move(fitting)) {}

  bool at_end() const { return done_ == count_; }
  uint64_t done() const { return done_; }
  // The most that a piece may have, after one that was too large.
  uint64_t largest() const { return largest_; }

  // Does the next piece and returns what comes of it, a Status or a Result. TooLarge comes back
  // only of a single thing. REQUIRES: !at_end()
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
      // What failed may have told how much there is; if not, half of it is tried. Those behind are
      // likely to be as large.
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
