#include "dataset/scan/plan.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/computed_output.h"

namespace glaive::dataset {
namespace {

bool Has(const read::Projection* projection, read::SystemColumn column) {
  return projection != nullptr && projection->Has(column);
}

// Small enough that several are in work within the caller's budget.
uint64_t UnitBytes(uint64_t read_ahead_bytes) {
  return std::clamp<uint64_t>(read_ahead_bytes / 8, uint64_t{64} << 10, uint64_t{4} << 20);
}

arrow::Result<std::shared_ptr<const query::Filter>> BindTo(const arrow::Schema& schema,
                                                           const Predicate& predicate) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  return predicate.is_substrait ? query::Filter::FromSubstrait(predicate.text, schema)
                                : query::Filter::FromSql(predicate.text, schema);
}

}  // namespace

arrow::Result<std::shared_ptr<const query::Filter>> BindFilter(const Dataset& dataset,
                                                               const Predicate& predicate) {
  return BindTo(*ExpressionSchema(dataset), predicate);
}

std::shared_ptr<arrow::Schema> ExpressionSchema(const Dataset& dataset) {
  arrow::FieldVector fields = dataset.schema()->fields();
  for (const auto column :
       {read::SystemColumn::kRowId, read::SystemColumn::kRowAddress,
        read::SystemColumn::kCreatedAtVersion, read::SystemColumn::kLastUpdatedAtVersion}) {
    fields.push_back(read::ArrowField(column));
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<ScanPlan> PlanScan(const Dataset& dataset, const ScanOptions& options) {
  if (options.batch_size && *options.batch_size == 0) {
    return InvalidInput("batch_size must be greater than 0");
  }
  if (options.include_deleted_rows && !options.with_row_id) {
    return InvalidInput("include_deleted_rows is set but with_row_id is false");
  }
  ScanPlan plan;
  plan.snapshot = SnapshotOf(dataset);
  const table::Manifest& manifest = *plan.snapshot.manifest;
  std::shared_ptr<const query::Filter> filter;
  if (options.filter) {
    // Positions are those of one version, which a scan reads; other verbs may run on a later one.
    arrow::FieldVector fields = ExpressionSchema(dataset)->fields();
    fields.push_back(read::ArrowField(read::SystemColumn::kRowOffset));
    ARROW_ASSIGN_OR_RAISE(filter, BindTo(arrow::Schema(std::move(fields)), *options.filter));
  }
  read::ProjectionRequest request{options.columns, options.with_row_id, options.with_row_address};
  std::shared_ptr<const ComputedOutput> computed;
  if (options.computed) {
    ARROW_ASSIGN_OR_RAISE(computed, ComputedOutput::Make(*ExpressionSchema(dataset), options));
    request.columns = computed->inputs();
  }
  ARROW_ASSIGN_OR_RAISE(plan.columns, read::ScanColumns::Make(manifest.schema, std::move(request),
                                                              std::move(filter)));
  plan.schema = computed != nullptr ? computed->schema() : plan.columns->output->schema;
  if (computed != nullptr) {
    plan.transform = [computed](const std::shared_ptr<arrow::RecordBatch>& batch) {
      return computed->Apply(*batch);
    };
  }
  plan.fragment_ids = options.fragment_ids;
  for (const uint64_t id : options.fragment_ids.value_or(std::vector<uint64_t>())) {
    if (!manifest.fragments.Find(id)) {
      return InvalidInput("version {} has no fragment {}", manifest.version, id);
    }
  }
  if (Has(plan.columns->output.get(), read::SystemColumn::kRowOffset) ||
      Has(plan.columns->filtered.get(), read::SystemColumn::kRowOffset)) {
    ARROW_ASSIGN_OR_RAISE(const RowIndex* index, RowIndexOf(dataset));
    plan.row_index = std::shared_ptr<const RowIndex>(StateOf(dataset), index);  // keeps the handle
  }
  plan.include_deleted_rows = options.include_deleted_rows;
  if (!options.filter) {
    plan.skip_rows = options.offset;
    plan.max_rows = options.limit.value_or(UINT64_MAX);
  }
  plan.unit_bytes = UnitBytes(options.read_ahead_bytes);
  if (options.batch_size) {
    plan.small_units = *options.batch_size < plan.batch_size;
    plan.batch_size = *options.batch_size;
  }
  return plan;
}

}  // namespace glaive::dataset
