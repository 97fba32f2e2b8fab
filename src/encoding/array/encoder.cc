#include "encoding/array/encoder.h"

#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "core/error.h"
#include "encoding/codec/lz4_encoder.h"
#include "encoding/codec/zstd_encoder.h"
#include "wire/encodings_v2_0.h"

namespace glaive::encoding {
namespace {

using wire::MakeArrayEncoding;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

constexpr uint64_t kEndBits = 64;
constexpr uint64_t kByteBits = 8;
// Strings of fewer kinds than these, in a page with at least so many, are numbered.
constexpr int64_t kMinDictionaryRows = 100;
constexpr size_t kMaxDictionaryItems = 100;

int64_t BytesForBits(int64_t bits) { return arrow::bit_util::BytesForBits(bits); }

template <typename T>
BufferPtr ToBuffer(std::vector<T> values) {
  return arrow::Buffer::FromVector(std::move(values));
}

// Buffers are numbered as they come: what is nearer to the root of the tree comes first.
class PageMaker {
 public:
  wire::BufferRef Add(BufferPtr buffer) {
    page_.buffers.push_back({std::move(buffer)});
    return {.index = static_cast<uint32_t>(page_.buffers.size() - 1)};
  }

  wire::ArrayPtr Flat(uint64_t bits, BufferPtr buffer) {
    return MakeArrayEncoding(
        wire::FlatArray{.bits_per_value = bits, .buffer = Add(std::move(buffer))});
  }

  EncodedPage Finish(const wire::ArrayPtr& encoding, int64_t num_slots) && {
    page_.layout = wire::Serialize(*encoding);
    page_.num_rows = static_cast<uint64_t>(num_slots);
    return std::move(page_);
  }

 private:
  EncodedPage page_;
};

wire::ArrayPtr NoNulls(wire::ArrayPtr values) {
  return MakeArrayEncoding(wire::NoNullsArray{std::move(values)});
}

// `make` encodes the values, which come behind the validity.
template <typename Make>
arrow::Result<wire::ArrayPtr> Nullable(const arrow::ArrayData& array, PageMaker& page,
                                       const Make& make) {
  const int64_t num_nulls = array.GetNullCount();
  if (num_nulls == 0) {
    ARROW_ASSIGN_OR_RAISE(auto values, make());
    return NoNulls(std::move(values));
  }
  if (num_nulls == array.length) return MakeArrayEncoding(wire::AllNullsArray{});
  wire::ArrayPtr validity =
      page.Flat(1, arrow::SliceBuffer(array.buffers[0], 0, BytesForBits(array.length)));
  ARROW_ASSIGN_OR_RAISE(auto values, make());
  return MakeArrayEncoding(wire::SomeNullsArray{std::move(validity), std::move(values)});
}

// Where slots end, with `adjustment` added for those that are null.
template <typename Offset>
std::vector<uint64_t> Ends(const arrow::ArrayData& array, uint64_t adjustment) {
  std::vector<uint64_t> ends(static_cast<size_t>(array.length));
  if (array.length == 0) return ends;
  const Offset* const offsets = array.GetValues<Offset>(1);
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<uint64_t>(offsets[i + 1]);
  if (array.GetNullCount() == 0) return ends;
  const uint8_t* const validity = array.buffers[0]->data();
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!arrow::bit_util::GetBit(validity, static_cast<int64_t>(i))) ends[i] += adjustment;
  }
  return ends;
}

bool HasLargeOffsets(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::LARGE_LIST: return true;
    default: return false;
  }
}

std::vector<uint64_t> EndsOf(const arrow::ArrayData& array, uint64_t adjustment) {
  return HasLargeOffsets(*array.type) ? Ends<int64_t>(array, adjustment)
                                      : Ends<int32_t>(array, adjustment);
}

uint64_t LastEnd(const arrow::ArrayData& array) {
  if (array.length == 0) return 0;
  return HasLargeOffsets(*array.type)
             ? static_cast<uint64_t>(array.GetValues<int64_t>(1)[array.length])
             : static_cast<uint64_t>(array.GetValues<int32_t>(1)[array.length]);
}

// The bytes of strings; compressed, if the metadata says so and they are not too many for that.
wire::ArrayPtr StringBytes(BufferPtr bytes, const StringCompression& compression, PageMaker& page) {
  const auto size = static_cast<size_t>(bytes->size());
  if (size == 0 || size > Lz4Encoder::kMaxInputBytes ||
      compression.scheme == wire::CompressionScheme::kUnspecified) {
    return page.Flat(kByteBits, std::move(bytes));
  }
  const std::span<const std::byte> plain(reinterpret_cast<const std::byte*>(bytes->data()), size);
  const bool is_zstd = compression.scheme == wire::CompressionScheme::kZstd;
  std::vector<std::byte> packed;
  if (is_zstd) {
    ZstdEncoder encoder;
    const auto out = encoder.Compress(plain);
    packed.assign(out.begin(), out.end());
  } else {
    Lz4Encoder encoder;
    const auto out = encoder.Compress(plain);
    packed.assign(out.begin(), out.end());
  }
  return MakeArrayEncoding(wire::FlatArray{.bits_per_value = kByteBits,
                                           .buffer = page.Add(ToBuffer(std::move(packed))),
                                           .scheme = is_zstd ? "zstd" : "lz4",
                                           .level = compression.level});
}

wire::ArrayPtr Strings(const arrow::ArrayData& array, const StringCompression& compression,
                       PageMaker& page) {
  const uint64_t size = LastEnd(array);
  wire::BinaryArray binary = {.null_adjustment = size + 1};
  binary.indices = NoNulls(page.Flat(kEndBits, ToBuffer(EndsOf(array, binary.null_adjustment))));
  BufferPtr bytes = size == 0 ? ToBuffer(std::vector<uint8_t>())
                              : arrow::SliceBuffer(array.buffers[2], 0, static_cast<int64_t>(size));
  binary.bytes = StringBytes(std::move(bytes), compression, page);
  return MakeArrayEncoding(std::move(binary));
}

// The distinct strings of a page in the order in which they first come, counted from 1.
struct NumberedStrings {
  std::vector<uint8_t> numbers;  // 0: null
  std::vector<std::string_view> items;
};

// Nothing if there are too many of them.
std::optional<NumberedStrings> Number(const arrow::ArrayData& array) {
  NumberedStrings result;
  result.numbers.reserve(static_cast<size_t>(array.length));
  const auto* const offsets = array.GetValues<int32_t>(1);
  const auto* const bytes =
      array.buffers[2] == nullptr ? "" : reinterpret_cast<const char*>(array.buffers[2]->data());
  const uint8_t* const validity = array.GetNullCount() == 0 ? nullptr : array.buffers[0]->data();
  std::unordered_map<std::string_view, uint8_t> numbers;
  for (int64_t i = 0; i < array.length; ++i) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) {
      result.numbers.push_back(0);
      continue;
    }
    const std::string_view item(bytes + offsets[i],
                                static_cast<size_t>(offsets[i + 1] - offsets[i]));
    const auto [found, is_new] =
        numbers.try_emplace(item, static_cast<uint8_t>(result.items.size() + 1));
    if (is_new) {
      result.items.push_back(item);
      if (result.items.size() >= kMaxDictionaryItems) return std::nullopt;
    }
    result.numbers.push_back(found->second);
  }
  return result;
}

wire::ArrayPtr Dictionary(NumberedStrings strings, PageMaker& page) {
  wire::DictionaryArray dictionary;
  dictionary.indices = NoNulls(page.Flat(kByteBits, ToBuffer(std::move(strings.numbers))));
  std::vector<uint64_t> ends;
  std::string bytes;
  for (const std::string_view item : strings.items) {
    bytes += item;
    ends.push_back(bytes.size());
  }
  wire::BinaryArray items = {.null_adjustment = bytes.size() + 1};
  if (ends.empty()) ends.push_back(items.null_adjustment);  // an item that is null
  dictionary.num_items = static_cast<uint32_t>(ends.size());
  items.indices = NoNulls(page.Flat(kEndBits, ToBuffer(std::move(ends))));
  items.bytes = page.Flat(kByteBits, arrow::Buffer::FromString(std::move(bytes)));
  dictionary.items = MakeArrayEncoding(std::move(items));
  return MakeArrayEncoding(std::move(dictionary));
}

arrow::Result<wire::ArrayPtr> Encode(const arrow::ArrayData& array,
                                     const ArrayEncodeOptions& options, PageMaker& page) {
  const arrow::DataType& type = *array.type;
  switch (type.id()) {
    case arrow::Type::NA: return MakeArrayEncoding(wire::AllNullsArray{});
    case arrow::Type::STRUCT: return MakeArrayEncoding(wire::StructArray{});
    case arrow::Type::STRING:
      if (array.length >= kMinDictionaryRows) {
        if (auto numbered = Number(array)) return Dictionary(std::move(*numbered), page);
      }
      [[fallthrough]];
    case arrow::Type::LARGE_STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY: return Strings(array, options.compression, page);
    case arrow::Type::FIXED_SIZE_LIST:
      return Nullable(array, page, [&]() -> arrow::Result<wire::ArrayPtr> {
        const auto dimension = static_cast<const arrow::FixedSizeListType&>(type).list_size();
        ARROW_ASSIGN_OR_RAISE(auto items, Encode(*array.child_data[0], options, page));
        return MakeArrayEncoding(wire::FixedSizeListArray{
            .dimension = static_cast<uint32_t>(dimension), .items = std::move(items)});
      });
    default: break;
  }
  const int64_t bits = type.bit_width();
  if (bits <= 0) return Unsupported("values of type {} are not written", type.ToString());
  return Nullable(array, page, [&]() -> arrow::Result<wire::ArrayPtr> {
    return page.Flat(static_cast<uint64_t>(bits),
                     arrow::SliceBuffer(array.buffers[1], 0, BytesForBits(array.length * bits)));
  });
}

}  // namespace

arrow::Result<EncodedPage> EncodeArrayLeaf(const arrow::ArrayData& values,
                                           const ArrayEncodeOptions& options) {
  PageMaker page;
  ARROW_ASSIGN_OR_RAISE(const auto encoding, Encode(values, options, page));
  return std::move(page).Finish(encoding, values.length);
}

arrow::Result<EncodedPage> EncodeArrayLists(const arrow::ArrayData& lists) {
  PageMaker page;
  wire::ListArray list = {.num_items = LastEnd(lists)};
  list.null_adjustment = list.num_items + 1;
  list.offsets = NoNulls(page.Flat(kEndBits, ToBuffer(EndsOf(lists, list.null_adjustment))));
  const auto encoding = MakeArrayEncoding(std::move(list));
  return std::move(page).Finish(encoding, lists.length);
}

EncodedPage ArrayStructHeader(uint64_t num_slots) {
  return PageMaker().Finish(MakeArrayEncoding(wire::StructArray{}),
                            static_cast<int64_t>(num_slots));
}

}  // namespace glaive::encoding
