#include "dataset/scan/sorted.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/api.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "dataset/scan/batch_cutter.h"
#include "dataset/scan/computed_output.h"
#include "dataset/scan/gather.h"
#include "dataset/scan/plan.h"
#include "dataset/scan/sort_key.h"
#include "dataset/scan/table_stream.h"
#include "dataset/scan/take_by_address.h"

namespace glaive::dataset {
namespace {

namespace cp = arrow::compute;

using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kDefaultBatchRows = 8192;
// Rows that are wanted are picked one by one while they are at most that part of all.
constexpr uint64_t kFew = 16;
// So are rows that are as wide as this, since all of them in memory would be much; others are read
// in their order and put into the one asked for there.
constexpr double kWideRow = 4 << 10;
// About as many bytes of rows as are picked at once.
constexpr uint64_t kTakenBytes = uint64_t{32} << 20;

// The scan without what comes behind it.
ScanOptions Unsorted(const ScanOptions& options) {
  ScanOptions unsorted = options;
  unsorted.order_by.clear();
  unsorted.limit.reset();
  unsorted.offset = 0;
  unsorted.batch_size.reset();
  unsorted.ordered = true;
  return unsorted;
}

ScanOptions OnlyKeys(const ScanOptions& options) {
  ScanOptions keys = Unsorted(options);
  keys.computed.reset();
  keys.columns.emplace();
  for (const SortKey& key : options.order_by) {
    if (std::ranges::count(*keys.columns, key.column) == 0) keys.columns->push_back(key.column);
  }
  keys.with_row_id = false;
  keys.with_row_address = true;
  return keys;
}

// Which rows come first, second, ...
arrow::Result<std::shared_ptr<arrow::Array>> SortedPositions(const arrow::Table& keys,
                                                             const std::vector<SortKey>& order_by) {
  arrow::FieldVector fields;
  arrow::ChunkedArrayVector columns;
  std::vector<cp::SortKey> sort_keys;
  for (const SortKey& key : order_by) {
    // Below all values nulls are first, unless the order goes down.
    const bool nulls_low = key.nulls_first == key.ascending;
    ARROW_ASSIGN_OR_RAISE(auto column,
                          SortKeys(*keys.GetColumnByName(key.column), key.column, nulls_low));
    const std::string name = std::to_string(fields.size());
    fields.push_back(arrow::field(name, column->type()));
    columns.push_back(std::move(column));
    sort_keys.emplace_back(name,
                           key.ascending ? cp::SortOrder::Ascending : cp::SortOrder::Descending,
                           key.nulls_first ? cp::NullPlacement::AtStart : cp::NullPlacement::AtEnd);
  }
  const auto table =
      arrow::Table::Make(arrow::schema(std::move(fields)), std::move(columns), keys.num_rows());
  return cp::SortIndices(arrow::Datum(table), cp::SortOptions(std::move(sort_keys)));
}

uint64_t BatchRows(const ScanOptions& options) {
  return std::min<uint64_t>(options.batch_size.value_or(kDefaultBatchRows), INT64_MAX);
}

// Rows that are in memory, in another order.
class GatheredStream final : public ScanStream {
 public:
  GatheredStream(std::shared_ptr<arrow::Schema> schema, arrow::RecordBatchVector batches,
                 std::shared_ptr<arrow::Array> positions, uint64_t batch_rows)
      : schema_(std::move(schema)),
        batches_(std::move(batches)),
        positions_(std::move(positions)),
        batch_rows_(batch_rows) {
    for (const RecordBatchPtr& batch : batches_) {
      starts_.push_back(starts_.back() + static_cast<uint64_t>(batch->num_rows()));
    }
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Result<RecordBatchPtr> Next() override {
    const auto& positions = static_cast<const arrow::UInt64Array&>(*positions_);
    const auto end = static_cast<uint64_t>(positions.length());
    if (next_ == end) return nullptr;
    places_.clear();
    for (uint64_t i = next_; i < end && i - next_ < batch_rows_; ++i) {
      const uint64_t row = positions.Value(static_cast<int64_t>(i));
      const auto after = std::ranges::upper_bound(starts_, row);
      const auto batch = static_cast<uint32_t>(after - starts_.begin() - 1);
      places_.push_back({batch, static_cast<uint32_t>(row - starts_[batch])});
    }
    const size_t count = CountGatherable(batches_, places_, {});
    next_ += count;
    return GatherRows(schema_, batches_, std::span(places_).first(count));
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector batches_;
  std::vector<uint64_t> starts_ = {0};  // rows before each batch, and of all
  std::shared_ptr<arrow::Array> positions_;
  uint64_t batch_rows_;
  uint64_t next_ = 0;
  std::vector<RowPlace> places_;
};

// The scan's columns of rows at some addresses, in that order, which are read as they are asked
// for.
class TakenStream final : public ScanStream {
 public:
  static arrow::Result<std::unique_ptr<ScanStream>> Make(const Dataset& dataset,
                                                         const ScanOptions& options,
                                                         std::vector<uint64_t> addresses,
                                                         uint64_t rows_at_once) {
    std::unique_ptr<TakenStream> stream(new TakenStream(dataset, options));
    if (options.computed) {
      ARROW_ASSIGN_OR_RAISE(stream->output_,
                            ComputedOutput::Make(*ExpressionSchema(dataset), options));
      stream->request_.columns = stream->output_->inputs();
    }
    ARROW_ASSIGN_OR_RAISE(stream->schema_, ScanSchema(dataset, Unsorted(options)));
    stream->addresses_ = std::move(addresses);
    stream->rows_at_once_ = rows_at_once;
    return stream;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Result<RecordBatchPtr> Next() override {
    while (true) {
      const bool is_last = next_ == addresses_.size();
      ARROW_ASSIGN_OR_RAISE(auto batch, cutter_.Next(is_last));
      if (batch != nullptr || is_last) return batch;
      ARROW_RETURN_NOT_OK(TakeSome());
    }
  }

 private:
  TakenStream(const Dataset& dataset, const ScanOptions& options)
      : dataset_(dataset),
        request_{options.columns, options.with_row_id, options.with_row_address},
        cutter_(static_cast<int64_t>(BatchRows(options)), options.batch_size.has_value()) {}

  arrow::Status TakeSome() {
    const size_t count = std::min<uint64_t>(rows_at_once_, addresses_.size() - next_);
    ARROW_ASSIGN_OR_RAISE(
        const auto table,
        TakeByAddress(dataset_, std::span(addresses_).subspan(next_, count), request_));
    next_ += count;
    arrow::TableBatchReader reader(table);
    while (true) {
      RecordBatchPtr taken;
      ARROW_RETURN_NOT_OK(reader.ReadNext(&taken));
      if (taken == nullptr) return arrow::Status::OK();
      arrow::RecordBatchVector made = {taken};
      if (output_ != nullptr) {
        ARROW_ASSIGN_OR_RAISE(made, output_->ApplyInPieces(*taken));
      }
      for (RecordBatchPtr& batch : made) cutter_.Add(std::move(batch));
    }
  }

  Dataset dataset_;
  read::ProjectionRequest request_;
  std::shared_ptr<const ComputedOutput> output_;  // null: columns as they are
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<uint64_t> addresses_;
  uint64_t rows_at_once_ = 0;
  size_t next_ = 0;
  BatchCutter cutter_;
};

// The addresses of the rows at some positions of the keys.
std::vector<uint64_t> AddressesAt(const arrow::Table& keys, const arrow::Array& positions) {
  const auto& column = *keys.column(keys.num_columns() - 1);
  std::vector<uint64_t> all;
  all.reserve(static_cast<size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& values = static_cast<const arrow::UInt64Array&>(*chunk);
    all.insert(all.end(), values.raw_values(), values.raw_values() + values.length());
  }
  const auto& wanted = static_cast<const arrow::UInt64Array&>(positions);
  std::vector<uint64_t> addresses;
  addresses.reserve(static_cast<size_t>(wanted.length()));
  for (int64_t i = 0; i < wanted.length(); ++i) addresses.push_back(all[wanted.Value(i)]);
  return addresses;
}

// About what a row of the scan takes in memory, by those at the front of some fragments.
arrow::Result<double> BytesPerRow(const Dataset& dataset, const ScanOptions& options) {
  constexpr size_t kFragments = 8;
  ARROW_ASSIGN_OR_RAISE(const ScanPlan plan, PlanScan(dataset, Unsorted(options)));
  const table::FragmentTable& fragments = plan.snapshot.manifest->fragments;
  const std::vector<uint64_t> ids = plan.fragment_ids ? *plan.fragment_ids : fragments.Ids();
  double bytes = 0;
  const size_t step = std::max<size_t>(1, ids.size() / kFragments);
  for (size_t i = 0; i < ids.size(); i += step) {
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment fragment, fragments.Find(ids[i])->Parse());
    ARROW_ASSIGN_OR_RAISE(
        const auto reader,
        read::FragmentReader::Open(plan.snapshot, std::move(fragment), plan.columns->output));
    bytes = std::max(bytes, reader->SizeFrom(0).bytes);
  }
  return bytes;
}

}  // namespace

arrow::Result<std::unique_ptr<ScanStream>> SortedScan(const Dataset& dataset,
                                                      const ScanOptions& options) {
  if (options.include_deleted_rows) {
    return InvalidInput("deleted rows cannot be sorted: order_by beside include_deleted_rows");
  }
  if (options.batch_size && *options.batch_size == 0) {
    return InvalidInput("batch_size must be greater than 0");
  }
  ARROW_RETURN_NOT_OK(ScanSchema(dataset, options).status());
  ARROW_ASSIGN_OR_RAISE(const auto key_scan, Scan(dataset, OnlyKeys(options)));
  ARROW_ASSIGN_OR_RAISE(const auto keys, ReadAll(*key_scan));
  ARROW_ASSIGN_OR_RAISE(auto positions, SortedPositions(*keys, options.order_by));
  const auto all = static_cast<uint64_t>(keys->num_rows());
  const uint64_t begin = std::min(options.offset, all);
  const uint64_t wanted = std::min(options.limit.value_or(UINT64_MAX), all - begin);
  positions = positions->Slice(static_cast<int64_t>(begin), static_cast<int64_t>(wanted));
  ARROW_ASSIGN_OR_RAISE(const double row_bytes, BytesPerRow(dataset, options));
  if (wanted * kFew <= all || row_bytes >= kWideRow) {
    const double at_once = static_cast<double>(kTakenBytes) / std::max(row_bytes, 1.0);
    return TakenStream::Make(dataset, options, AddressesAt(*keys, *positions),
                             std::max<uint64_t>(static_cast<uint64_t>(at_once), 1));
  }
  ARROW_ASSIGN_OR_RAISE(const auto scan, Scan(dataset, Unsorted(options)));
  ARROW_ASSIGN_OR_RAISE(auto batches, ReadBatches(*scan));
  return std::make_unique<GatheredStream>(scan->schema(), std::move(batches), std::move(positions),
                                          BatchRows(options));
}

}  // namespace glaive::dataset
