#include "table/operation/key_filter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;

constexpr Location kTransaction = {"(transaction)"};

// What pylance builds whatever comes; filters of other sizes it does not compare.
constexpr size_t kBloomBytes = 32 << 10;
constexpr uint64_t kBloomItems = 8192;
constexpr double kBloomProbability = 0.00057;

constexpr size_t kBlockBytes = 32;
constexpr std::array<uint32_t, 8> kSalts = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                            0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

// Visits the byte and the bit in it of each bit that stands for a hash, until `visit` says no.
template <typename Visit>
bool VisitBits(uint64_t hash, size_t num_bytes, Visit visit) {
  const uint64_t num_blocks = num_bytes / kBlockBytes;
  const size_t block = static_cast<size_t>((hash >> 32) * num_blocks >> 32) * kBlockBytes;
  for (size_t word = 0; word < kSalts.size(); ++word) {
    const uint32_t bit = static_cast<uint32_t>(hash) * kSalts[word] >> 27;
    const auto mask = static_cast<uint8_t>(1u << bit % 8);
    if (!visit(block + 4 * word + bit / 8, mask)) return false;
  }
  return true;
}

bool BloomHas(const std::string& bitmap, uint64_t hash) {
  return VisitBits(hash, bitmap.size(), [&](size_t byte, uint8_t mask) {
    return (static_cast<uint8_t>(bitmap[byte]) & mask) != 0;
  });
}

// Whether there is a byte with a bit that both have.
bool BloomsMeet(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return true;
  for (size_t i = 0; i < left.size(); ++i) {
    if ((left[i] & right[i]) != 0) return true;
  }
  return false;
}

bool ListsMeet(std::span<const uint64_t> left, std::span<const uint64_t> right) {
  if (left.size() > right.size()) std::swap(left, right);
  return std::ranges::any_of(
      left, [&](uint64_t hash) { return std::ranges::binary_search(right, hash); });
}

void AppendDouble(uint32_t field_number, double value, std::string* out) {
  out->push_back(static_cast<char>(field_number << 3 | 1));
  char bytes[sizeof(double)];
  std::memcpy(bytes, &value, sizeof(bytes));
  out->append(bytes, sizeof(bytes));
}

arrow::Status ReadExact(const FieldView& field, KeyFilter& filter) {
  return wire::VisitFields(
      field.payload, field.where, "ExactKeySetFilter", [&](const FieldView& inner) {
        if (inner.number != 1) return arrow::Status::OK();
        return wire::VisitVarints(inner, [&](uint64_t hash) { filter.hashes.push_back(hash); });
      });
}

arrow::Status ReadBloom(const FieldView& field, KeyFilter& filter) {
  filter.bloom.emplace();
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "BloomFilter", [&](const FieldView& inner) {
        if (inner.key() == Bytes(1)) filter.bloom = inner.text();
        return arrow::Status::OK();
      }));
  if (filter.bloom->empty() || filter.bloom->size() % kBlockBytes != 0) {
    return Corrupt(field.where, "a Bloom filter of {} bytes", filter.bloom->size());
  }
  return arrow::Status::OK();
}

}  // namespace

bool IsEmpty(const KeyFilter& filter) {
  if (!filter.bloom) return filter.hashes.empty();
  return std::ranges::all_of(*filter.bloom, [](char byte) { return byte == 0; });
}

KeyFilter ToBloom(KeyFilter filter) {
  std::string bitmap(kBloomBytes, '\0');
  for (const uint64_t hash : filter.hashes) {
    VisitBits(hash, bitmap.size(), [&](size_t byte, uint8_t mask) {
      bitmap[byte] = static_cast<char>(static_cast<uint8_t>(bitmap[byte]) | mask);
      return true;
    });
  }
  filter.hashes.clear();
  filter.bloom = std::move(bitmap);
  return filter;
}

std::string SerializeKeyFilter(const KeyFilter& filter) {
  std::string out;
  wire::AppendPacked(1, std::vector<uint64_t>(filter.field_ids.begin(), filter.field_ids.end()),
                     &out);
  std::string data;
  if (!filter.bloom) {
    wire::AppendPacked(1, filter.hashes, &data);
    wire::AppendBytes(2, data, &out);
    return out;
  }
  wire::AppendBytes(1, *filter.bloom, &data);
  wire::AppendVarint(2, filter.bloom->size() * 8, &data);
  wire::AppendVarint(3, kBloomItems, &data);
  AppendDouble(4, kBloomProbability, &data);
  wire::AppendBytes(3, data, &out);
  return out;
}

arrow::Result<KeyFilter> ParseKeyFilter(std::string_view message) {
  KeyFilter filter;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Varint(1):
      case Bytes(1):
        return wire::VisitVarints(
            field, [&](uint64_t id) { filter.field_ids.push_back(static_cast<int32_t>(id)); });
      case Bytes(2): return ReadExact(field, filter);
      case Bytes(3): return ReadBloom(field, filter);
      default: return arrow::Status::OK();
    }
  };
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(wire::AsBytes(message), kTransaction, "KeyExistenceFilter", read));
  std::ranges::sort(filter.hashes);
  return filter;
}

bool MayShareKeys(const KeyFilter& left, const KeyFilter& right) {
  if (left.field_ids != right.field_ids) return true;
  if (left.bloom && right.bloom) return BloomsMeet(*left.bloom, *right.bloom);
  if (!left.bloom && !right.bloom) return ListsMeet(left.hashes, right.hashes);
  const KeyFilter& exact = left.bloom ? right : left;
  const std::string& bloom = left.bloom ? *left.bloom : *right.bloom;
  return std::ranges::any_of(exact.hashes, [&](uint64_t hash) { return BloomHas(bloom, hash); });
}

}  // namespace glaive::table
