#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <arrow/status.h>

#include "core/error.h"
#include "core/ranges.h"
#include "wire/fragment.h"

namespace glaive::wire {

// What a part of a DataFile message says.
struct FileFacts {
  int32_t max_field_id = -1;
  uint32_t major_version = 0;
  uint32_t minor_version = 0;
  uint64_t size_bytes = 0;
};

// Files of a table resemble each other: what a message holds between path and size mostly is what
// it held in the fragment before, byte by byte, and then need not be walked over again.
struct KnownMiddle {
  std::span<const std::byte> bytes;  // whole fields
  FileFacts facts;                   // that they state
};
using KnownMiddles = std::array<KnownMiddle, 4>;  // of a fragment's first files

// A fragment where it lies in a Manifest message.
struct FoundFragment {
  uint64_t id;
  uint64_t live_rows;  // that the manifest tells of; 0 where it does not
  ByteRange record;    // tag, length and message
};

// Fragments that follow each other and say the same but for ids and numbers.
struct FragmentBatch {
  std::span<const FoundFragment> fragments;
  FragmentFacts facts;  // of each of them; `physical_rows` and `data_file_bytes` of all together
};

// Walks over the fragments of a Manifest message in order, while its bytes arrive. Allocates
// nothing and decodes no fragment, since opening a table does it for each of them.
class FragmentScanner {
 public:
  // Only those bytes of `manifest` are looked at that have arrived by then.
  FragmentScanner(std::span<const std::byte> manifest, Location where)
      : manifest_(manifest), where_(where) {}

  // To the next fragments, one or some, that lie whole in the first `arrived` bytes. False where
  // there is none, and where bytes are wrong, as `status` says.
  bool Next(size_t arrived);
  const arrow::Status& status() const { return status_; }

  // REQUIRES: Next returned true
  FragmentBatch batch() const { return {{found_.data(), num_found_}, facts_}; }

 private:
  bool ScanAlike(size_t arrived);
  bool ScanOne(size_t arrived);
  arrow::Status NotAManifest() const;

  std::span<const std::byte> manifest_;
  Location where_;
  size_t next_ = 0;  // offset of the field that comes next
  KnownMiddles known_;
  FragmentFacts facts_;
  std::array<FoundFragment, 64> found_;
  size_t num_found_ = 0;
  arrow::Status status_;
};

}  // namespace glaive::wire
