#include "dataset/scan/nearest.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/computed_output.h"
#include "dataset/scan/plan.h"
#include "dataset/scan/table_stream.h"
#include "dataset/scan/take_by_address.h"
#include "query/bind/distance.h"
#include "query/bind/filter.h"
#include "query/values/select_rows.h"
#include "table/manifest/index_list.h"

namespace glaive::dataset {
namespace {

constexpr int64_t kDefaultBatchRows = 8192;
const char* const kDistance = "_distance";
const char* const kQueryIndex = "query_index";

struct Candidate {
  float distance;
  uint64_t address;

  bool operator<(const Candidate& other) const {
    return std::tie(distance, address) < std::tie(other.distance, other.address);
  }
};

// What is looked for, fitted to the column.
struct Search {
  query::Distance distance;
  std::vector<std::shared_ptr<arrow::Array>> vectors;
  uint64_t k;
  std::optional<float> min_distance;
  std::optional<float> max_distance;

  void KeepNearest(std::vector<Candidate>& candidates) const {
    if (candidates.size() > k) {
      std::nth_element(candidates.begin(), candidates.begin() + static_cast<int64_t>(k),
                       candidates.end());
      candidates.resize(k);
    }
  }
};

std::string MetricName(query::Distance distance) {
  switch (distance) {
    case query::Distance::kL2: return "l2";
    case query::Distance::kCosine: return "cosine";
    case query::Distance::kDot: return "dot";
    default: return "hamming";
  }
}

arrow::Status RefuseIndex(const Dataset& dataset, const NearestQuery& nearest) {
  const table::Manifest& manifest = *StateOf(dataset)->manifest;
  const auto field = std::ranges::find(manifest.schema.fields, nearest.column, &wire::Field::name);
  if (!nearest.use_index || manifest.index_section.empty() ||
      field == manifest.schema.fields.end()) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto list, table::IndexList::Parse(manifest.index_section, {}));
  std::set<int32_t> ids = {field->id};
  for (const wire::Field& child : field->children) ids.insert(child.id);
  for (const table::Index& index : list.indices()) {
    const bool is_vector = wire::TypeOf(index.entry).find("Vector") != std::string_view::npos ||
                           wire::TypeOf(index.entry).empty();
    if (is_vector && index.HasField(ids)) {
      return Unsupported(
          "approximate nearest by the index '{}' is not built; nearest with use_index=False is "
          "exact",
          index.entry.name);
    }
  }
  return arrow::Status::OK();
}

arrow::Result<query::Distance> DistanceOf(DistanceMetric metric, const arrow::DataType& values) {
  const bool is_bytes = values.id() == arrow::Type::UINT8;
  auto distance = query::Distance::kHamming;
  switch (metric) {
    case DistanceMetric::kDefault: return is_bytes ? distance : query::Distance::kL2;
    case DistanceMetric::kL2: distance = query::Distance::kL2; break;
    case DistanceMetric::kCosine: distance = query::Distance::kCosine; break;
    case DistanceMetric::kDot: distance = query::Distance::kDot; break;
    case DistanceMetric::kHamming: break;
  }
  if ((distance == query::Distance::kHamming) == is_bytes) return distance;
  return InvalidInput("Distance type {} does not support {} vectors", MetricName(distance),
                      values.ToString());
}

arrow::Result<Search> Prepare(const Dataset& dataset, const NearestQuery& nearest) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  const auto field = dataset.schema()->GetFieldByName(nearest.column);
  if (field == nullptr) {
    return InvalidInput("Embedding column {} is not in the dataset", nearest.column);
  }
  if (field->type()->id() != arrow::Type::FIXED_SIZE_LIST) {
    return InvalidInput("Query column {} must be a vector. Got {}.", nearest.column,
                        field->type()->ToString());
  }
  const auto& list = static_cast<const arrow::FixedSizeListType&>(*field->type());
  const auto type = query::ComputedType(*list.value_type());
  if (type == nullptr) {
    return Unsupported("nearest of vectors of {} is not built", list.value_type()->ToString());
  }
  if (nearest.k == 0) return InvalidInput("Nearest-K must be > 0 but got 0");
  if (nearest.vector == nullptr) return InvalidInput("nearest takes a vector");
  const int64_t size = list.list_size();
  const int64_t length = nearest.vector->length();
  if (size == 0 || length == 0 || length % size != 0) {
    return InvalidInput("Query vector size {} does not match index column size {}", length, size);
  }
  ARROW_RETURN_NOT_OK(RefuseIndex(dataset, nearest));
  Search search{.distance = {},
                .vectors = {},
                .k = nearest.k,
                .min_distance = nearest.min_distance,
                .max_distance = nearest.max_distance};
  ARROW_ASSIGN_OR_RAISE(search.distance, DistanceOf(nearest.metric, *list.value_type()));
  // As the column would hold it.
  using arrow::compute::CastOptions;
  ARROW_ASSIGN_OR_RAISE(
      arrow::Datum fitted,
      arrow::compute::Cast(arrow::Datum(nearest.vector), CastOptions::Unsafe(list.value_type())));
  ARROW_ASSIGN_OR_RAISE(fitted, arrow::compute::Cast(fitted, CastOptions::Unsafe(type)));
  if (fitted.null_count() > 0) return InvalidInput("the query vector has nulls");
  for (int64_t begin = 0; begin < length; begin += size) {
    search.vectors.push_back(fitted.make_array()->Slice(begin, size));
  }
  return search;
}

std::shared_ptr<arrow::Schema> CandidateSchema() {
  return arrow::schema({arrow::field(kQueryIndex, arrow::int32(), false),
                        arrow::field(kDistance, arrow::float32()),
                        arrow::field("_rowaddr", arrow::uint64())});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatch(
    const std::vector<std::vector<Candidate>>& of_queries) {
  arrow::Int32Builder queries;
  arrow::FloatBuilder distances;
  arrow::UInt64Builder addresses;
  for (size_t query = 0; query < of_queries.size(); ++query) {
    for (const Candidate& candidate : of_queries[query]) {
      ARROW_RETURN_NOT_OK(queries.Append(static_cast<int32_t>(query)));
      ARROW_RETURN_NOT_OK(distances.Append(candidate.distance));
      ARROW_RETURN_NOT_OK(addresses.Append(candidate.address));
    }
  }
  arrow::ArrayVector arrays(3);
  ARROW_RETURN_NOT_OK(queries.Finish(&arrays[0]));
  ARROW_RETURN_NOT_OK(distances.Finish(&arrays[1]));
  ARROW_RETURN_NOT_OK(addresses.Finish(&arrays[2]));
  const int64_t num_rows = arrays[0]->length();
  return arrow::RecordBatch::Make(CandidateSchema(), num_rows, std::move(arrays));
}

// The nearest of one batch of {vector, address}.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> NearestOf(const Search& search,
                                                             const arrow::RecordBatch& batch) {
  const auto& vectors = static_cast<const arrow::FixedSizeListArray&>(*batch.column(0));
  const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch.column(1));
  std::vector<std::vector<Candidate>> nearest;
  for (const auto& vector : search.vectors) {
    std::vector<Candidate>& candidates = nearest.emplace_back();
    const auto distances = query::Distances(search.distance, vectors, *vector);
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      const float distance = distances[static_cast<size_t>(row)];
      // NaN, of vectors with a NaN or without a direction, is no distance.
      if (vectors.IsNull(row) || std::isnan(distance) ||
          (search.min_distance && !(distance >= *search.min_distance)) ||
          (search.max_distance && !(distance < *search.max_distance))) {
        continue;
      }
      candidates.push_back({distance, addresses.Value(row)});
    }
    search.KeepNearest(candidates);
  }
  return ToBatch(nearest);
}

// {query_index, _distance, _rowaddr}, in order.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> FindNearest(const Dataset& dataset,
                                                               const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Search search, Prepare(dataset, *options.nearest));
  ScanOptions vectors;
  vectors.columns = std::vector<std::string>{options.nearest->column};
  vectors.with_row_address = true;
  vectors.fragment_ids = options.fragment_ids;
  vectors.read_ahead_bytes = options.read_ahead_bytes;
  if (options.nearest->prefilter) vectors.filter = options.filter;
  ARROW_ASSIGN_OR_RAISE(ScanPlan plan, PlanScan(dataset, vectors));
  plan.transform = [&search](const std::shared_ptr<arrow::RecordBatch>& batch) {
    return NearestOf(search, *batch);
  };
  std::vector<std::vector<Candidate>> nearest(search.vectors.size());
  MemoryBudget budget(options.read_ahead_bytes);
  ScanUnits units(std::move(plan), [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
    const auto& queries = static_cast<const arrow::Int32Array&>(*batch->column(0));
    const auto& distances = static_cast<const arrow::FloatArray&>(*batch->column(1));
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch->column(2));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      nearest[static_cast<size_t>(queries.Value(i))].push_back(
          {distances.Value(i), addresses.Value(i)});
    }
    for (auto& candidates : nearest) search.KeepNearest(candidates);
    return arrow::Status::OK();
  });
  ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }));
  for (auto& candidates : nearest) std::sort(candidates.begin(), candidates.end());
  return ToBatch(nearest);
}

// What expressions beside a search may name.
std::shared_ptr<arrow::Schema> SearchSchema(const Dataset& dataset) {
  arrow::FieldVector fields = ExpressionSchema(dataset)->fields();
  fields.push_back(arrow::field(kDistance, arrow::float32()));
  fields.push_back(arrow::field(kQueryIndex, arrow::int32(), false));
  return arrow::schema(std::move(fields));
}

bool IsFound(const std::string& column) { return column == kDistance || column == kQueryIndex; }

// Columns of the table, and of what was found, for the rows that were found.
arrow::Result<arrow::RecordBatchVector> Complete(const Dataset& dataset,
                                                 const arrow::RecordBatch& found,
                                                 std::vector<std::string> columns,
                                                 const ScanOptions& options) {
  std::erase_if(columns, IsFound);
  const auto& addresses = static_cast<const arrow::UInt64Array&>(*found.column(2));
  ARROW_ASSIGN_OR_RAISE(
      const auto table,
      TakeByAddress(dataset, {addresses.raw_values(), static_cast<size_t>(addresses.length())},
                    {std::move(columns), options.with_row_id, options.with_row_address}));
  arrow::RecordBatchVector batches;
  arrow::TableBatchReader reader(table);
  int64_t begin = 0;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader.ReadNext(&batch));
    if (batch == nullptr) return batches;
    const int64_t num_rows = batch->num_rows();
    for (const int column : {0, 1}) {
      ARROW_ASSIGN_OR_RAISE(batch,
                            batch->AddColumn(batch->num_columns(), found.schema()->field(column),
                                             found.column(column)->Slice(begin, num_rows)));
    }
    begin += num_rows;
    batches.push_back(std::move(batch));
  }
}

// The filter behind the search.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> FilterFound(
    const Dataset& dataset, std::shared_ptr<arrow::RecordBatch> found, const ScanOptions& options) {
  if (!options.filter || options.nearest->prefilter) return found;
  const auto schema = SearchSchema(dataset);
  const Predicate& predicate = *options.filter;
  ARROW_ASSIGN_OR_RAISE(const auto filter,
                        predicate.is_substrait
                            ? query::Filter::FromSubstrait(predicate.text, *schema)
                            : query::Filter::FromSql(predicate.text, *schema));
  ARROW_ASSIGN_OR_RAISE(const auto batches, Complete(dataset, *found, filter->columns(), {}));
  std::vector<uint32_t> passed;
  uint32_t first = 0;
  for (const auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(const std::vector<uint32_t> of_batch, filter->Select(*batch));
    for (const uint32_t row : of_batch) passed.push_back(first + row);
    first += static_cast<uint32_t>(batch->num_rows());
  }
  return query::SelectRows(found, passed);
}

// All columns of the result as expressions, in order.
std::vector<ComputedColumn> OutputColumns(const Dataset& dataset, const ScanOptions& options,
                                          size_t num_vectors) {
  std::vector<ComputedColumn> columns;
  if (options.computed) {
    columns = *options.computed;
  } else {
    for (const std::string& name :
         options.columns ? *options.columns : dataset.schema()->field_names()) {
      columns.push_back({name, name});
    }
  }
  const auto names = [&](const char* name) {
    return std::ranges::find(columns, name, &ComputedColumn::name) != columns.end();
  };
  if (num_vectors > 1 && !names(kQueryIndex)) {
    columns.insert(columns.begin(), {kQueryIndex, kQueryIndex});
  }
  if (options.nearest->add_distance && !names(kDistance)) columns.push_back({kDistance, kDistance});
  return columns;
}

arrow::Result<std::shared_ptr<const ComputedOutput>> OutputOf(const Dataset& dataset,
                                                              const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Search search, Prepare(dataset, *options.nearest));
  ScanOptions all = options;
  all.computed = OutputColumns(dataset, options, search.vectors.size());
  return ComputedOutput::Make(*SearchSchema(dataset), all);
}

}  // namespace

arrow::Result<std::unique_ptr<ScanStream>> NearestScan(const Dataset& dataset,
                                                       const ScanOptions& options) {
  if (!options.order_by.empty()) return Unsupported("nearest beside order_by is not built");
  if (options.include_deleted_rows) {
    return InvalidInput("deleted rows are not near anything: nearest beside include_deleted_rows");
  }
  if (options.batch_size && *options.batch_size == 0) {
    return InvalidInput("batch_size must be greater than 0");
  }
  ARROW_ASSIGN_OR_RAISE(const auto output, OutputOf(dataset, options));
  ARROW_ASSIGN_OR_RAISE(auto found, FindNearest(dataset, options));
  ARROW_ASSIGN_OR_RAISE(found, FilterFound(dataset, std::move(found), options));
  const auto rows = static_cast<uint64_t>(found->num_rows());
  const uint64_t begin = std::min(options.offset, rows);
  const uint64_t size = std::min(options.limit.value_or(UINT64_MAX), rows - begin);
  found = found->Slice(static_cast<int64_t>(begin), static_cast<int64_t>(size));
  ARROW_ASSIGN_OR_RAISE(const auto batches, Complete(dataset, *found, output->inputs(), options));
  arrow::RecordBatchVector results;
  for (const auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(const auto made, output->ApplyInPieces(*batch));
    results.insert(results.end(), made.begin(), made.end());
  }
  ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(output->schema(), results));
  const auto batch_rows = static_cast<int64_t>(
      std::min<uint64_t>(options.batch_size.value_or(kDefaultBatchRows), INT64_MAX));
  return std::make_unique<TableStream>(std::move(table), batch_rows);
}

arrow::Result<std::shared_ptr<arrow::Schema>> NearestSchema(const Dataset& dataset,
                                                            const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto output, OutputOf(dataset, options));
  return output->schema();
}

}  // namespace glaive::dataset
