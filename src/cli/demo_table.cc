#include "cli/demo_table.h"

#include <cstring>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace glaive::cli {
namespace {

class DemoReader final : public arrow::RecordBatchReader {
 public:
  explicit DemoReader(const DemoTable& table)
      : table_(table),
        schema_(arrow::schema({arrow::field("id", arrow::int64(), false),
                               arrow::field("feat", arrow::list(arrow::int16()))})) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    batch->reset();
    if (fragments_made_ == table_.num_fragments) return arrow::Status::OK();
    const auto num_rows = static_cast<int64_t>(table_.rows_per_fragment);
    ARROW_ASSIGN_OR_RAISE(auto ids, Ids(num_rows));
    ARROW_ASSIGN_OR_RAISE(auto lists, Lists(num_rows));
    *batch = arrow::RecordBatch::Make(schema_, num_rows, {std::move(ids), std::move(lists)});
    ++fragments_made_;
    return arrow::Status::OK();
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> Ids(int64_t num_rows) const {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(num_rows * 8));
    auto* ids = reinterpret_cast<int64_t*>(buffer->mutable_data());
    const auto first = static_cast<int64_t>(fragments_made_ * table_.rows_per_fragment);
    for (int64_t i = 0; i < num_rows; ++i) ids[i] = first + i;
    return std::make_shared<arrow::Int64Array>(num_rows, std::move(buffer));
  }

  // All 16 bits of a value are noise, so that no encoding makes the pages small.
  arrow::Result<std::shared_ptr<arrow::Array>> Lists(int64_t num_rows) {
    const auto num_values = num_rows * static_cast<int64_t>(table_.values_per_row);
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::AllocateBuffer(num_values * 2));
    auto* out = values->mutable_data();
    for (int64_t i = 0; i < num_values; ++i) {
      noise_ ^= noise_ << 13;
      noise_ ^= noise_ >> 7;
      noise_ ^= noise_ << 17;
      std::memcpy(out + 2 * i, &noise_, 2);
    }
    ARROW_ASSIGN_OR_RAISE(auto offsets, arrow::AllocateBuffer((num_rows + 1) * 4));
    auto* ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
    for (int64_t i = 0; i <= num_rows; ++i) {
      ends[i] = static_cast<int32_t>(i * static_cast<int64_t>(table_.values_per_row));
    }
    return std::make_shared<arrow::ListArray>(
        arrow::list(arrow::int16()), num_rows, std::move(offsets),
        std::make_shared<arrow::Int16Array>(num_values, std::move(values)));
  }

  DemoTable table_;
  std::shared_ptr<arrow::Schema> schema_;
  uint64_t fragments_made_ = 0;
  uint64_t noise_ = 0x9E3779B97F4A7C15;
};

}  // namespace

std::shared_ptr<arrow::RecordBatchReader> DemoRows(const DemoTable& table) {
  return std::make_shared<DemoReader>(table);
}

}  // namespace glaive::cli
