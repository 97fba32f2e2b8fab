#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/buffer_builder.h>
#include <arrow/result.h>

namespace glaive::encoding {

// A validity bitmap that exists only once something is null.
class ValidityBuilder {
 public:
  int64_t length() const { return length_; }
  int64_t null_count() const { return null_count_; }

  arrow::Status AppendValid(int64_t num_slots);
  arrow::Status AppendNull(int64_t num_slots);

  // The low `num_slots` bits. REQUIRES: num_slots <= 64
  arrow::Status AppendWord(uint64_t bits, int num_slots);

  // Bits [offset, offset + num_slots) of a bitmap.
  arrow::Status AppendBits(const uint8_t* bitmap, int64_t offset, int64_t num_slots);

  // Bytes that are 0 or 1, one for each slot.
  arrow::Status AppendBytes(std::span<const uint8_t> bytes);

  // A slot for each level, valid if the level is at most `valid_max`.
  arrow::Status AppendLevels(std::span<const uint16_t> levels, uint16_t valid_max);

  // The same for those levels only that are at most `slot_max`; others have no slot.
  arrow::Status AppendVisibleLevels(std::span<const uint16_t> levels, uint16_t valid_max,
                                    uint16_t slot_max);

  // Null if all are valid. The builder is empty afterwards.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish();

 private:
  // Room for `num_slots` more, and a bitmap of what is there already.
  arrow::Status Materialise(int64_t num_slots);
  void WriteWord(uint64_t bits, int num_slots);

  bool materialised_ = false;
  int64_t length_ = 0;
  int64_t null_count_ = 0;
  arrow::BufferBuilder bits_;  // its length is that of length_ bits, and the rest of them is 0
};

}  // namespace glaive::encoding
