#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "wire/fragment.h"
#include "wire/fragment_scan.h"

namespace glaive::table {

// Fragments that lie back to back in one buffer, ascending by id: records of field 2 of a Manifest
// message (tag, length, DataFragment message). Never changes; versions share it.
//
// A fragment costs 8 bytes beside its record. Every 16th has a count of the live rows before it, so
// that a row is found by a binary search and a walk over at most 16 records.
class FragmentRun {
 public:
  class Builder;

  size_t size() const { return entries_.size(); }
  uint64_t num_rows() const { return num_rows_; }  // live; fragments that do not say count as none
  uint64_t id(size_t index) const { return entries_[index].id; }
  std::span<const std::byte> message(size_t index) const;
  Location where(size_t index) const;  // of the message

  // The first fragment with this id or a higher one.
  size_t LowerBound(uint64_t id) const;
  uint64_t RowsOf(size_t index) const;
  uint64_t RowsBefore(size_t index) const;
  struct RowPlace {
    size_t index;
    uint64_t row;  // among the live rows of that fragment
  };
  // REQUIRES: row < num_rows()
  RowPlace FindRow(uint64_t row) const;

  // The records [first, last).
  std::shared_ptr<arrow::Buffer> Slice(size_t first, size_t last) const;

 private:
  struct Entry {
    uint32_t id;
    uint32_t begin;  // of the record, in the buffer
  };
  static constexpr size_t kBlock = 16;

  uint32_t end_of(size_t index) const {
    return index + 1 < entries_.size() ? entries_[index + 1].begin : end_;
  }

  std::shared_ptr<arrow::Buffer> buffer_;
  std::string path_;          // where errors say that the fragments lie
  uint64_t file_offset_ = 0;  // of the buffer's first byte there
  std::vector<Entry> entries_;
  uint32_t end_ = 0;                   // of the last record
  std::vector<uint64_t> rows_before_;  // of each block of entries
  uint64_t num_rows_ = 0;
};

class FragmentRun::Builder {
 public:
  // Of fragments that were made or moved since a manifest was read: their records are copied.
  Builder();
  // Of fragments that stay where they lie, in a manifest.
  Builder(std::shared_ptr<arrow::Buffer> manifest, Location where);

  // Records of the manifest. They may come in any order and with gaps between them, as old writers
  // left them; Finish then makes a copy in which they do not. REQUIRES: ids below 2^32
  void Add(std::span<const wire::FoundFragment> fragments);

  // REQUIRES: ascending ids, for the three below
  void Append(const FragmentRun& run, size_t first, size_t last);
  void Append(const wire::DataFragment& fragment);
  void Reserve(size_t num_fragments, uint64_t num_bytes);
  // Whether what was appended can be pointed at and published.
  arrow::Status CheckSize() const;

  // Corrupt where an id occurs twice.
  arrow::Result<std::shared_ptr<const FragmentRun>> Finish() &&;

 private:
  void AddEntry(uint32_t id, uint64_t begin, uint64_t end, uint64_t rows);
  arrow::Result<std::shared_ptr<const FragmentRun>> Sorted() &&;

  FragmentRun run_;
  std::string bytes_;     // of a run without a manifest
  bool guessed_ = false;  // how many there will be
  bool in_place_ = true;  // ids ascend, and records lie back to back
};

// A view of one fragment, still undecoded. Keeps the bytes it looks at alive.
class Fragment {
 public:
  Fragment(std::shared_ptr<const FragmentRun> run, size_t index)
      : run_(std::move(run)), index_(index) {}

  uint64_t id() const { return run_->id(index_); }
  std::span<const std::byte> message() const { return run_->message(index_); }
  arrow::Result<wire::FragmentFacts> Scan() const;
  arrow::Result<wire::DataFragment> Parse() const;

 private:
  std::shared_ptr<const FragmentRun> run_;
  size_t index_;
};

}  // namespace glaive::table
