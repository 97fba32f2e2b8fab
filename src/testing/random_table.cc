#include "testing/random_table.h"

#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>

namespace glaive::testing {
namespace {

using arrow::ArrayData;
using Data = std::shared_ptr<ArrayData>;

class Generator {
 public:
  Generator(const RandomRows& rows, std::mt19937_64& random) : rows_(rows), random_(random) {}

  Data Make(const arrow::Field& field, int64_t length) {
    const arrow::DataType& type = *field.type();
    int64_t null_count = 0;
    std::shared_ptr<arrow::Buffer> validity;
    if (field.nullable() && rows_.nulls > 0) {
      arrow::TypedBufferBuilder<bool> bits;
      for (int64_t i = 0; i < length; ++i) {
        const bool valid = !Chance(rows_.nulls);
        null_count += valid ? 0 : 1;
        ARROW_CHECK_OK(bits.Append(valid));
      }
      validity = bits.Finish().ValueOrDie();
    }
    const auto is_valid = [&](int64_t i) {
      return validity == nullptr || rows_.hidden_values ||
             arrow::bit_util::GetBit(validity->data(), i);
    };
    auto data = std::make_shared<ArrayData>(field.type(), length, null_count);
    data->buffers = {validity};
    switch (type.id()) {
      case arrow::Type::STRUCT:
        for (const auto& child : type.fields()) data->child_data.push_back(Make(*child, length));
        break;
      case arrow::Type::FIXED_SIZE_LIST: {
        const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
        data->child_data = {
            Make(*list.value_field()->WithNullable(false), length * list.list_size())};
        break;
      }
      case arrow::Type::LIST: {
        const int64_t items = Offsets<int32_t>(*data, is_valid);
        data->child_data = {Make(*type.field(0), items)};
        break;
      }
      case arrow::Type::LARGE_LIST: {
        const int64_t items = Offsets<int64_t>(*data, is_valid);
        data->child_data = {Make(*type.field(0), items)};
        break;
      }
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        data->buffers.push_back(Bytes(Offsets<int32_t>(*data, is_valid)));
        break;
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY:
        data->buffers.push_back(Bytes(Offsets<int64_t>(*data, is_valid)));
        break;
      default: data->buffers.push_back(Bytes((length * type.bit_width() + 7) / 8)); break;
    }
    return data;
  }

 private:
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }

  std::shared_ptr<arrow::Buffer> Bytes(int64_t size) {
    auto buffer = std::shared_ptr<arrow::Buffer>(arrow::AllocateBuffer(size).ValueOrDie());
    std::uniform_int_distribution<int> letters('a', 'z');
    for (int64_t i = 0; i < size; ++i) {
      buffer->mutable_data()[i] = static_cast<uint8_t>(letters(random_));
    }
    return buffer;
  }

  template <typename Offset, typename IsValid>
  int64_t Offsets(ArrayData& data, const IsValid& is_valid) {
    std::uniform_int_distribution<int64_t> lengths(0, rows_.max_length);
    arrow::TypedBufferBuilder<Offset> offsets;
    Offset end = 0;
    ARROW_CHECK_OK(offsets.Append(end));
    for (int64_t i = 0; i < data.length; ++i) {
      if (is_valid(i)) end = static_cast<Offset>(end + lengths(random_));
      ARROW_CHECK_OK(offsets.Append(end));
    }
    data.buffers.push_back(offsets.Finish().ValueOrDie());
    return end;
  }

  const RandomRows& rows_;
  std::mt19937_64& random_;
};

}  // namespace

std::shared_ptr<arrow::Schema> RandomSchema() {
  using namespace arrow;
  const auto inner = struct_({field("x", int16()), field("t", utf8(), false)});
  return schema({
      field("id", int64(), false),
      field("small", uint8()),
      field("flag", boolean()),
      field("score", float64()),
      field("name", utf8()),
      field("blob", large_binary()),
      field("vec", fixed_size_list(float32(), 3)),
      field("numbers", list(int16())),
      field("words", large_list(field("item", utf8(), false))),
      field("pairs", list(inner)),
      field("deep", list(list(int32()))),
      field("point", struct_({field("a", int32()), field("b", list(utf8())), field("c", inner)})),
  });
}

std::shared_ptr<arrow::RecordBatch> RandomBatch(const RandomRows& rows, std::mt19937_64& random) {
  Generator generator(rows, random);
  const auto schema = RandomSchema();
  std::vector<Data> columns;
  for (const auto& field : schema->fields()) {
    columns.push_back(generator.Make(*field, rows.num_rows));
  }
  return arrow::RecordBatch::Make(schema, rows.num_rows, std::move(columns));
}

std::vector<std::shared_ptr<arrow::RecordBatch>> CutAtRandom(
    const std::shared_ptr<arrow::RecordBatch>& batch, std::mt19937_64& random) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> slices;
  const int64_t longest = std::uniform_int_distribution<int64_t>(1, batch->num_rows() + 1)(random);
  for (int64_t begin = 0; begin < batch->num_rows();) {
    const int64_t length = std::uniform_int_distribution<int64_t>(0, longest)(random);
    slices.push_back(batch->Slice(begin, length));
    begin += slices.back()->num_rows();
  }
  return slices;
}

}  // namespace glaive::testing
