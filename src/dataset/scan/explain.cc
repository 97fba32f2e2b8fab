#include <chrono>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/plan.h"
#include "glaive/scan.h"
#include "query/bind/filter.h"

namespace glaive {
namespace {

std::string Names(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string WindowText(const ScanOptions& options) {
  return fmt::format("skip={}, fetch={}", options.offset,
                     options.limit ? std::to_string(*options.limit) : "None");
}

// The steps, the last first.
arrow::Result<std::vector<std::string>> StepsOf(const Dataset& dataset,
                                                const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, ScanSchema(dataset, options));
  std::vector<std::string> steps;
  std::vector<std::string> output;
  if (options.computed) {
    for (const ComputedColumn& column : *options.computed) {
      output.push_back(column.sql + " as " + column.name);
    }
  } else {
    output = schema->field_names();
  }
  steps.push_back("Projection: " + Names(output));
  if (options.limit || options.offset > 0) steps.push_back("Window: " + WindowText(options));
  if (!options.order_by.empty()) {
    std::vector<std::string> keys;
    for (const SortKey& key : options.order_by) {
      keys.push_back(fmt::format("{} {} NULLS {}", key.column, key.ascending ? "ASC" : "DESC",
                                 key.nulls_first ? "FIRST" : "LAST"));
    }
    steps.push_back("Sort: " + Names(keys));
  }
  std::string filter = "None";
  std::vector<std::string> filtered;
  const bool behind_search = options.nearest && !options.nearest->prefilter;
  if (options.filter && !behind_search) {
    ARROW_ASSIGN_OR_RAISE(const auto bound, dataset::BindFilter(dataset, *options.filter));
    filter = bound->ToString();
    filtered = bound->columns();
  } else if (options.filter) {
    steps.push_back("Filter: behind the search");
  }
  if (options.nearest) {
    steps.push_back(fmt::format("Nearest: column={}, k={}, exact", options.nearest->column,
                                options.nearest->k));
  }
  steps.push_back(fmt::format(
      "LanceRead: uri={}, num_fragments={}, full_filter={}, filter_columns={}", dataset.uri(),
      options.fragment_ids ? options.fragment_ids->size() : dataset.num_fragments(), filter,
      Names(filtered)));
  return steps;
}

std::string Indented(const std::vector<std::string>& steps, size_t indent) {
  std::string text;
  for (const std::string& step : steps) {
    text += std::string(2 * indent++, ' ') + step + "\n";
  }
  return text;
}

}  // namespace

arrow::Result<std::string> ExplainScan(const Dataset& dataset, const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto steps, StepsOf(dataset, options));
  return Indented(steps, 0);
}

arrow::Result<std::string> AnalyzeScan(const Dataset& dataset, const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto steps, StepsOf(dataset, options));
  const auto begin = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(const auto stream, Scan(dataset, options));
  int64_t rows = 0;
  int64_t batches = 0;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    rows += batch->num_rows();
    ++batches;
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  return fmt::format("Analyze: elapsed={:.3f}ms, metrics=[output_rows={}, output_batches={}]\n{}",
                     elapsed.count(), rows, batches, Indented(steps, 1));
}

}  // namespace glaive
