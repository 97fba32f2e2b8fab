#include "encoding/levels/dictionary_array.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include "core/error.h"

namespace glaive::encoding {
namespace {

// The bytes of each value, whatever it is.
class ValueBytes {
 public:
  explicit ValueBytes(const arrow::ArrayData& values)
      : validity_(values.GetValues<uint8_t>(0, 0)), offset_(values.offset) {
    const arrow::Type::type id = values.type->id();
    if (arrow::is_base_binary_like(id)) {
      if (arrow::is_large_binary_like(id)) {
        large_offsets_ = values.GetValues<int64_t>(1);
      } else {
        offsets_ = values.GetValues<int32_t>(1);
      }
      // A column without any value may lack the buffer.
      data_ = values.buffers[2] == nullptr
                  ? ""
                  : reinterpret_cast<const char*>(values.buffers[2]->data());
    } else {
      width_ = static_cast<size_t>(values.type->byte_width());
      data_ = reinterpret_cast<const char*>(values.buffers[1]->data()) +
              static_cast<size_t>(values.offset) * width_;
    }
  }

  bool IsNull(int64_t i) const {
    return validity_ != nullptr && !arrow::bit_util::GetBit(validity_, offset_ + i);
  }

  std::string_view operator[](int64_t i) const {
    if (offsets_ != nullptr) return Slice(offsets_[i], offsets_[i + 1]);
    if (large_offsets_ != nullptr) return Slice(large_offsets_[i], large_offsets_[i + 1]);
    return {data_ + static_cast<size_t>(i) * width_, width_};
  }

 private:
  std::string_view Slice(int64_t begin, int64_t end) const {
    return {data_ + begin, static_cast<size_t>(end - begin)};
  }

  const uint8_t* validity_;
  int64_t offset_;
  const char* data_ = nullptr;
  const int32_t* offsets_ = nullptr;
  const int64_t* large_offsets_ = nullptr;
  size_t width_ = 0;
};

template <typename Offset>
arrow::Result<std::shared_ptr<arrow::Buffer>> Ends(const std::vector<std::string_view>& values) {
  arrow::TypedBufferBuilder<Offset> offsets;
  ARROW_RETURN_NOT_OK(offsets.Reserve(static_cast<int64_t>(values.size()) + 1));
  Offset end = 0;
  offsets.UnsafeAppend(end);
  for (const std::string_view value : values) {
    end = static_cast<Offset>(end + static_cast<Offset>(value.size()));
    offsets.UnsafeAppend(end);
  }
  return offsets.Finish();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeValues(
    const std::vector<std::string_view>& values, const std::shared_ptr<arrow::DataType>& type) {
  arrow::BufferBuilder bytes;
  for (const std::string_view value : values) {
    ARROW_RETURN_NOT_OK(bytes.Append(value.data(), static_cast<int64_t>(value.size())));
  }
  arrow::BufferVector buffers = {nullptr};
  if (arrow::is_large_binary_like(type->id())) {
    ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), Ends<int64_t>(values));
  } else if (arrow::is_base_binary_like(type->id())) {
    ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), Ends<int32_t>(values));
  }
  ARROW_ASSIGN_OR_RAISE(buffers.emplace_back(), bytes.Finish());
  return arrow::ArrayData::Make(type, static_cast<int64_t>(values.size()), std::move(buffers), 0);
}

// Little-endian numbers of 1, 2, 4 or 8 bytes.
arrow::Result<std::shared_ptr<arrow::Buffer>> Narrow(const std::vector<uint64_t>& numbers,
                                                     size_t width) {
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(numbers.size() * width)));
  uint8_t* out = buffer->mutable_data();
  for (const uint64_t number : numbers) {
    std::memcpy(out, &number, width);
    out += width;
  }
  return buffer;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ArrayData>> ToDictionary(
    const arrow::ArrayData& values, const std::shared_ptr<arrow::DataType>& type,
    std::string_view column) {
  const auto& dictionary_type = static_cast<const arrow::DictionaryType&>(*type);
  const std::shared_ptr<arrow::DataType>& value_type = dictionary_type.value_type();
  if (value_type->id() == arrow::Type::BOOL || value_type->id() == arrow::Type::NA) {
    return Unsupported("column '{}' of type {}", column, type->ToString());
  }
  const auto index_width = static_cast<size_t>(dictionary_type.index_type()->byte_width());
  const bool is_signed = arrow::is_signed_integer(dictionary_type.index_type()->id());
  const uint64_t max_index =
      std::numeric_limits<uint64_t>::max() >> (64 - 8 * index_width + (is_signed ? 1 : 0));

  const ValueBytes bytes(values);
  std::unordered_map<std::string_view, uint64_t> known;
  std::vector<std::string_view> distinct;
  std::vector<uint64_t> indices(static_cast<size_t>(values.length), 0);
  for (int64_t i = 0; i < values.length; ++i) {
    if (bytes.IsNull(i)) continue;
    const auto [entry, is_new] = known.try_emplace(bytes[i], distinct.size());
    if (is_new) distinct.push_back(entry->first);
    indices[static_cast<size_t>(i)] = entry->second;
  }
  if (!distinct.empty() && distinct.size() - 1 > max_index) {
    return Corrupt({std::string(column)}, "{} distinct values in a column of {}", distinct.size(),
                   type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(auto dictionary, MakeValues(distinct, value_type));
  ARROW_ASSIGN_OR_RAISE(auto keys, Narrow(indices, index_width));
  std::shared_ptr<arrow::Buffer> validity = values.buffers[0];
  auto encoded = arrow::ArrayData::Make(type, values.length, {std::move(validity), std::move(keys)},
                                        values.GetNullCount());
  encoded->dictionary = std::move(dictionary);
  return encoded;
}

}  // namespace glaive::encoding
