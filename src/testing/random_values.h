#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include <arrow/array/data.h>
#include <arrow/buffer_builder.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/logging.h>

namespace glaive::testing {

struct RandomValueOptions {
  double nulls = 0.2;      // at every level, items of fixed-size lists included
  int64_t max_items = 4;   // of a list
  int64_t max_length = 8;  // of a string, in bytes
  uint64_t distinct = 0;   // so many different values at most; 0: any
  bool hidden = true;      // what is null may own items, bytes and values
};

// An array of any type made of numbers, booleans, strings, lists, fixed-size lists and structs. Its
// buffers start with slots that do not belong to it, so that every offset matters.
class RandomValues {
 public:
  RandomValues(RandomValueOptions options, uint64_t seed) : options_(options), random_(seed) {}

  std::shared_ptr<arrow::ArrayData> Make(const std::shared_ptr<arrow::DataType>& type,
                                         int64_t length) {
    constexpr int64_t kBefore = 3;
    auto data = MakeAll(type, length + kBefore);
    return data->Slice(kBefore, length);
  }

 private:
  std::shared_ptr<arrow::ArrayData> MakeAll(const std::shared_ptr<arrow::DataType>& type,
                                            int64_t length) {
    auto data = std::make_shared<arrow::ArrayData>(type, length, arrow::kUnknownNullCount);
    if (type->id() == arrow::Type::NA) {
      data->buffers = {nullptr};
      data->null_count = length;
      return data;
    }
    data->buffers = {Validity(length)};
    switch (type->id()) {
      case arrow::Type::STRUCT:
        for (const auto& field : type->fields()) {
          data->child_data.push_back(Make(field->type(), length));
        }
        return data;
      case arrow::Type::FIXED_SIZE_LIST: {
        const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
        data->child_data = {Make(list.value_type(), length * list.list_size())};
        return data;
      }
      case arrow::Type::LIST:
        data->child_data = {Make(type->field(0)->type(), Offsets<int32_t>(*data, Items()))};
        return data;
      case arrow::Type::LARGE_LIST:
        data->child_data = {Make(type->field(0)->type(), Offsets<int64_t>(*data, Items()))};
        return data;
      case arrow::Type::STRING:
      case arrow::Type::BINARY: FillBytes(*data, Offsets<int32_t>(*data, Length())); return data;
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY:
        FillBytes(*data, Offsets<int64_t>(*data, Length()));
        return data;
      case arrow::Type::BOOL: data->buffers.push_back(Bits(length, 0.5)); return data;
      default: break;
    }
    const int64_t width = type->byte_width();
    arrow::BufferBuilder values;
    for (int64_t i = 0; i < length; ++i) {
      const uint64_t value = Number();
      for (int64_t at = 0; at < width; at += 8) {
        ARROW_CHECK_OK(values.Append(&value, std::min<int64_t>(8, width - at)));
      }
    }
    data->buffers.push_back(values.Finish().ValueOrDie());
    return data;
  }

  std::uniform_int_distribution<int64_t> Items() const {
    return std::uniform_int_distribution<int64_t>(0, options_.max_items);
  }
  std::uniform_int_distribution<int64_t> Length() const {
    return std::uniform_int_distribution<int64_t>(0, options_.max_length);
  }

  // Small enough that a float of these bits is a number.
  uint64_t Number() {
    return (options_.distinct > 0 ? random_() % options_.distinct : random_()) & 0x3fff3fff3fff3fff;
  }

  std::shared_ptr<arrow::Buffer> Bits(int64_t length, double set) {
    arrow::TypedBufferBuilder<bool> bits;
    for (int64_t i = 0; i < length; ++i) {
      ARROW_CHECK_OK(bits.Append(std::bernoulli_distribution(set)(random_)));
    }
    return bits.Finish().ValueOrDie();
  }

  std::shared_ptr<arrow::Buffer> Validity(int64_t length) {
    return options_.nulls == 0 ? nullptr : Bits(length, 1 - options_.nulls);
  }

  template <typename Offset>
  int64_t Offsets(arrow::ArrayData& data, std::uniform_int_distribution<int64_t> lengths) {
    arrow::TypedBufferBuilder<Offset> offsets;
    Offset end = 0;
    ARROW_CHECK_OK(offsets.Append(end));
    for (int64_t i = 0; i < data.length; ++i) {
      const bool null =
          data.buffers[0] != nullptr && !arrow::bit_util::GetBit(data.buffers[0]->data(), i);
      if (!null || options_.hidden) end = static_cast<Offset>(end + lengths(random_));
      ARROW_CHECK_OK(offsets.Append(end));
    }
    data.buffers.push_back(offsets.Finish().ValueOrDie());
    return end;
  }

  void FillBytes(arrow::ArrayData& data, int64_t size) {
    arrow::BufferBuilder bytes;
    for (int64_t i = 0; i < size; ++i) {
      const char letter = static_cast<char>('a' + Number() % 26);
      ARROW_CHECK_OK(bytes.Append(&letter, 1));
    }
    data.buffers.push_back(bytes.Finish().ValueOrDie());
  }

  RandomValueOptions options_;
  std::mt19937_64 random_;
};

}  // namespace glaive::testing
