#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "table/fragment_packing.h"
#include "wire/fragment.h"
#include "wire/fragment_scan.h"

namespace glaive::table {

// Fragments of a table, ascending by id, packed. Never changes; versions share it.
//
// Every 16th has a mark beside the packed bytes, so that a fragment is found by its place, its id
// or a row by a binary search and a walk over at most 16 of them.
class FragmentRun {
 public:
  class Builder;

  // Where a fragment is kept.
  struct Place {
    size_t index;
    uint32_t id;
    size_t at;  // in the packed bytes
  };

  size_t size() const { return size_; }
  uint64_t num_rows() const { return num_rows_; }  // live; fragments that do not say count as none
  uint64_t num_bytes() const { return num_bytes_; }  // of the records in a manifest
  uint64_t memory_bytes() const;
  uint64_t last_id() const { return last_id_; }

  // REQUIRES: index < size()
  Place At(size_t index) const;
  // REQUIRES: there is one
  Place Next(const Place& place) const;
  // The first fragment with this id or a higher one, as an index, and whether it has that id.
  std::pair<size_t, bool> LowerBound(uint64_t id) const;

  std::string MessageOf(const Place& place) const;
  Location WhereIs(const Place& place) const;  // its message was read from
  uint64_t RowsOf(const Place& place) const;
  uint64_t RowsBefore(size_t index) const;
  struct RowPlace {
    Place place;
    uint64_t row;  // among the live rows of that fragment
  };
  // REQUIRES: row < num_rows()
  RowPlace FindRow(uint64_t row) const;

  // The bytes that [first, last) are in a manifest: records of field 2 of its message.
  uint64_t NumBytes(size_t first, size_t last) const;
  // Writes them, and returns where they end. REQUIRES: room for as many
  char* Write(size_t first, size_t last, char* out) const;

 private:
  // What is known of every 16th fragment.
  struct Mark {
    uint32_t id;
    uint32_t bytes_before;  // of records in a manifest
    uint64_t at;
    uint64_t rows_before;
  };
  static constexpr size_t kBlock = 16;

  PackedFragment Unpack(const Place& place) const {
    return PackedFragment(packed_.shapes, packed_.bytes.data() + place.at);
  }
  uint64_t BytesBefore(size_t index) const;

  std::string path_;          // where errors say that the fragments lie
  uint64_t file_offset_ = 0;  // of the first record there
  PackedFragments packed_;
  std::vector<Mark> marks_;
  size_t size_ = 0;
  uint64_t last_id_ = 0;
  uint64_t num_rows_ = 0;
  uint64_t num_bytes_ = 0;
};

class FragmentRun::Builder {
 public:
  // Of fragments that were made or moved since a manifest was read.
  Builder();
  // Of those in a Manifest message of so many bytes that lies there.
  Builder(uint64_t message_size, Location where);

  // Fragments of the manifest, in any order, as old writers left them. REQUIRES: ids below 2^32
  void Add(const wire::FragmentBatch& batch);

  // REQUIRES: ascending ids, for the two below
  void Append(const FragmentRun& run, size_t first, size_t last);
  void Append(const wire::DataFragment& fragment);
  // Whether what was appended can be published.
  arrow::Status CheckSize() const;

  // Corrupt where an id occurs twice.
  arrow::Result<std::shared_ptr<const FragmentRun>> Finish() &&;

 private:
  // A fragment that came behind one with a higher id, or with the same.
  struct Straggler {
    uint32_t id;
    uint64_t rows;
    std::string message;
  };

  // Counts the next fragment, marks it where that is due, and returns its id step.
  uint32_t Admit(uint32_t id, uint64_t message_size, uint64_t rows);
  void Reserve();
  arrow::Result<std::shared_ptr<const FragmentRun>> Sorted() &&;

  FragmentRun run_;
  AlikePacker alike_;
  std::vector<Straggler> stragglers_;
  uint64_t message_size_ = 0;
  bool guessed_ = false;  // how many there will be
};

// A view of one fragment, still undecoded. Keeps the bytes it looks at alive.
class Fragment {
 public:
  Fragment(std::shared_ptr<const FragmentRun> run, FragmentRun::Place place)
      : run_(std::move(run)), place_(place) {}

  uint64_t id() const { return place_.id; }
  std::string message() const { return run_->MessageOf(place_); }
  arrow::Result<wire::FragmentFacts> Scan() const;
  arrow::Result<wire::DataFragment> Parse() const;

 private:
  std::shared_ptr<const FragmentRun> run_;
  FragmentRun::Place place_;
};

}  // namespace glaive::table
