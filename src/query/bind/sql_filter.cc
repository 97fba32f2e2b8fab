#include <string>
#include <utility>

#include <arrow/record_batch.h>

#include "core/pieces.h"
#include "query/bind/bound_filter.h"
#include "query/sql/sql_parser.h"
#include "query/values/selection.h"

namespace glaive::query {

arrow::Result<std::vector<uint32_t>> BoundFilter::Select(const arrow::RecordBatch& batch) const {
  const int64_t num_rows = batch.num_rows();
  const auto select = [this](const arrow::RecordBatch& rows) {
    return bound_.expression->Evaluate(rows).Map(
        [&](const arrow::Datum& passes) { return SelectTrue(passes, rows.num_rows()); });
  };
  auto selected = select(batch);
  if (selected.ok() || !IsTooLarge(selected.status()) || num_rows < 2) return selected;
  // What is computed on the way to yes or no was too much of so many rows.
  const auto half = static_cast<uint64_t>(num_rows) / 2;
  Pieces pieces(static_cast<uint64_t>(num_rows), [half](uint64_t) { return half; });
  std::vector<uint32_t> all;
  while (!pieces.at_end()) {
    const auto first = static_cast<uint32_t>(pieces.done());
    ARROW_ASSIGN_OR_RAISE(const std::vector<uint32_t> passed, pieces.Next([&](Piece piece) {
      return select(
          *batch.Slice(static_cast<int64_t>(piece.begin), static_cast<int64_t>(piece.size)));
    }));
    for (const uint32_t row : passed) all.push_back(first + row);
  }
  return all;
}

arrow::Result<std::shared_ptr<const Filter>> Filter::FromSql(std::string_view text,
                                                             const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto expression, sql::Parse(text));
  ARROW_ASSIGN_OR_RAISE(BoundValue bound, BindFilter(*expression, schema, /*strict=*/true));
  return std::make_shared<BoundFilter>(std::string(text), std::move(bound));
}

}  // namespace glaive::query
