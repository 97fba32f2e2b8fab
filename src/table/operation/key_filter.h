#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

// Which keys a transaction inserted: its KeyExistenceFilter message.
//
//   1 field_ids i32*   of the key's columns
//   2 exact {1 key_hashes u64*}
//   3 bloom {1 bitmap, 2 num_bits, 3 number_of_items, 4 probability f64}
//
// A key's hash is XxHash64 of its bytes, as dataset/merge/key_bytes.h gives them. A Bloom filter is
// split into blocks of 32 bytes: the high half of a hash picks the block, the low half one bit of
// each of its eight words. It is the only form that pylance writes; of an exact set it knows no
// hash, and takes every meeting with one as a conflict.
namespace glaive::table {

struct KeyFilter {
  std::vector<int32_t> field_ids;
  std::vector<uint64_t> hashes;      // ascending; without a bitmap they are all there is
  std::optional<std::string> bloom;  // the bitmap
};

// Whether it holds no key at all.
bool IsEmpty(const KeyFilter& filter);

// A filter with all bits of `hashes` set in a bitmap of pylance's size.
KeyFilter ToBloom(KeyFilter filter);

std::string SerializeKeyFilter(const KeyFilter& filter);
arrow::Result<KeyFilter> ParseKeyFilter(std::string_view message);

// False only where no key can be in both.
bool MayShareKeys(const KeyFilter& left, const KeyFilter& right);

}  // namespace glaive::table
