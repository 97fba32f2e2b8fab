#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>

#include "core/error.h"
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
  std::string bytes;  // whole fields
  FileFacts facts;    // that they state
};
using KnownMiddles = std::array<KnownMiddle, 4>;  // of a fragment's first files

// A fragment where it lies in a Manifest message.
struct FoundFragment {
  uint64_t id;
  uint64_t live_rows;  // that the manifest tells of; 0 where it does not
  std::span<const std::byte> message;
  // Of fragments that are alike, beside id and rows all in which they differ.
  std::string_view path;
  uint64_t file_size_bytes;
};

// Fragments that follow each other and say the same but for ids and numbers.
struct FragmentBatch {
  std::span<const FoundFragment> fragments;
  FragmentFacts facts;  // of each of them; `physical_rows` and `data_file_bytes` of all together
  // Given where each message is an id, one file of path, this middle and size, and rows, its
  // numbers as short as they can be.
  std::optional<std::string_view> middle;
  uint64_t offset;  // of the first one's record in the message
};

// Walks over the fragments of a Manifest message in order, while its bytes arrive. Decodes no
// fragment and allocates nothing for one, since opening a table does it for each of them.
class FragmentScanner {
 public:
  // The path of `where` must outlive this.
  explicit FragmentScanner(Location where) : where_(where) {}

  // Goes on with these bytes of the message: what follows those consumed so far.
  void Enter(std::span<const std::byte> bytes);
  // Of what was entered last: whole fields.
  size_t consumed() const { return next_; }

  // To the next fragments, one or some, that lie whole in what was entered. False where there is
  // none, and where bytes are wrong, as `status` says.
  bool Next();
  const arrow::Status& status() const { return status_; }
  // Where the message ends in the middle of a field, with these bytes.
  arrow::Status EndsWithin(std::span<const std::byte> bytes) const;

  // REQUIRES: Next returned true; views of the bytes that were entered last
  FragmentBatch batch() const { return {{found_.data(), num_found_}, facts_, middle_, found_at_}; }

  // The fields that are no fragments and lie side by side.
  struct OtherFields {
    uint64_t offset;  // in the message
    std::string bytes;
  };
  const std::vector<OtherFields>& others() const { return others_; }

 private:
  bool ScanAlike();
  bool ScanOne();
  void KeepOther(std::span<const std::byte> field);

  Location where_;
  std::span<const std::byte> bytes_;
  uint64_t offset_ = 0;  // of `bytes_` in the message
  size_t next_ = 0;      // in `bytes_`, of the field that comes next
  KnownMiddles known_;
  FragmentFacts facts_;
  std::array<FoundFragment, 64> found_;
  size_t num_found_ = 0;
  uint64_t found_at_ = 0;  // offset of the first one's record in the message
  std::optional<std::string_view> middle_;
  std::vector<OtherFields> others_;
  arrow::Status status_;
};

}  // namespace glaive::wire
