#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer_builder.h>
#include <arrow/result.h>

#include "encoding/codec/variable.h"
#include "encoding/structural/leaf/shape.h"
#include "encoding/structural/leaf/validity_builder.h"

namespace glaive::encoding {

// Values [begin, end) of a chunk or an entry range.
struct ValueRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

// Grows the values of a leaf in Arrow's layout, whatever codec they come from: what is under the
// validity of the leaf itself. Appending is by runs of values; nothing here is called per value.
class LeafValues {
 public:
  // More than `most_bytes` of values are TooLarge, and so is what 32-bit offsets do not reach.
  explicit LeafValues(LeafShape shape, uint64_t most_bytes = UINT64_MAX);

  const LeafShape& shape() const { return shape_; }

  // Bytes of values, or of the strings, so far.
  uint64_t size_bytes() const { return static_cast<uint64_t>(data_.length()); }
  // What there is of a string at most, whatever a file says: what its offsets reach.
  uint64_t MostText() const {
    return static_cast<uint64_t>(shape_.large_offsets ? INT64_MAX : INT32_MAX);
  }
  // TooLarge if so many bytes more were too many. Appending asks by itself; who writes strings one
  // by one asks before they are there or soon after.
  arrow::Status CheckRoom(uint64_t num_bytes_more) const;

  uint64_t most_bytes() const { return static_cast<uint64_t>(most_bytes_); }

  // Slots appended so far; what is appended comes in whole slots.
  int64_t num_slots() const { return num_slots_; }

  // --- Fixed-width values, those of fixed-size lists included ---

  // Room for about so many more slots. What grows by and by ends up with half as much again to
  // spare, which callers who keep the rows would pay for.
  arrow::Status ReserveFixed(uint64_t num_slots);
  // Room for whole-byte values of `num_slots` slots, to be written by the caller at once.
  arrow::Result<uint8_t*> ExtendFixed(uint64_t num_slots);
  arrow::Status AppendFixed(const std::byte* slots, uint64_t num_slots);
  // Bits [offset, ...) of a bitmap, `num_slots` slots of them.
  arrow::Status AppendBits(const std::byte* bitmap, uint64_t offset, uint64_t num_slots);
  // A byte for each value of `num_slots` slots: false is 0.
  arrow::Status AppendBools(const std::byte* bytes, uint64_t num_slots);
  // The value of one slot, over and over.
  arrow::Status AppendRepeated(const std::byte* slot, uint64_t num_slots);
  // Placeholders behind nulls: zeros, empty strings.
  arrow::Status AppendPlaceholders(uint64_t num_slots);

  // Validity of the items of the fixed-size list at nesting `level` (0 is the outermost). Every
  // level must get its bits for all slots appended; AppendItemsValid where nothing is null.
  ValidityBuilder& items(size_t level) { return items_[level]; }
  arrow::Status AppendItemsValid(size_t level, uint64_t num_slots);

  // --- Variable-width values ---

  // Room for `num_values` more offsets and `num_bytes` more bytes, with a little to spare behind
  // them: what codecs that write strings one by one need.
  arrow::Status ReserveVariable(uint64_t num_values, uint64_t num_bytes);
  // Where the next string goes, and that it is there now.
  uint8_t* variable_end() { return data_.mutable_data() + data_.length(); }
  void UnsafeEndValue(uint64_t size) {
    data_.UnsafeAdvance(static_cast<int64_t>(size));
    ++num_slots_;
    // Beyond 32 bits the end is wrong, which CheckRoom says in time.
    const int64_t end = data_.length();
    offsets_.UnsafeAppend(&end, shape_.large_offsets ? sizeof(int64_t) : sizeof(int32_t));
  }
  arrow::Status AppendStrings(const VariablePayload& strings, ValueRange range);
  arrow::Status AppendRepeatedString(std::span<const std::byte> string, uint64_t num_slots);

  // The array under the leaf's own validity.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Finish(
      const std::shared_ptr<arrow::DataType>& type, ValidityBuilder& validity) &&;

 private:
  template <typename Out, typename Offset>
  void UnsafeAppendOffsets(const std::byte* offsets, uint64_t num_values);
  template <typename Offset>
  void UnsafeAppendOffsetsOf(const std::byte* offsets, uint64_t num_values);
  arrow::Status ReserveBits(uint64_t num_bits);

  LeafShape shape_;
  int64_t most_bytes_;
  int64_t num_slots_ = 0;
  int64_t num_bits_ = 0;          // of the bitmap in data_
  arrow::BufferBuilder data_;     // values, a bitmap of them, or the bytes of strings
  arrow::BufferBuilder offsets_;  // where strings end; the leading 0 comes with the first
  std::vector<ValidityBuilder> items_ = std::vector<ValidityBuilder>(shape_.dimensions.size());
};

}  // namespace glaive::encoding
