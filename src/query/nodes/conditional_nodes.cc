#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/nodes/bound_nodes.h"
#include "query/values/row_pieces.h"
#include "query/values/select_rows.h"
#include "query/values/selection.h"

namespace glaive::query {
namespace {

// The rows of a batch that nothing has a value for yet.
class OpenRows {
 public:
  OpenRows(const arrow::RecordBatch& batch, BoundExpression::Rows rows)
      : selected_(batch.Slice(0)),
        how_(rows),
        rows_(static_cast<size_t>(batch.num_rows())),
        pieces_(batch.num_rows()) {
    std::iota(rows_.begin(), rows_.end(), 0);
  }

  bool empty() const { return rows_.empty(); }

  // Of the open rows, in their order.
  arrow::Result<arrow::Datum> Evaluate(const BoundExpression& expression) const {
    return expression.EvaluateOnce(*selected_, how_);
  }

  // Closes the open rows at these positions, with what `expression` is there.
  arrow::Status Close(const BoundExpression& expression, const std::vector<uint32_t>& positions) {
    if (positions.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto taken, SelectRows(selected_, positions));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, expression.EvaluateOnce(*taken, how_));
    ARROW_ASSIGN_OR_RAISE(auto values, ToArray(value, taken->num_rows()));
    return CloseWith(std::move(values), positions);
  }

  // With these values of theirs.
  arrow::Status CloseWith(std::shared_ptr<arrow::Array> values,
                          const std::vector<uint32_t>& positions) {
    std::vector<uint32_t> taken;
    taken.reserve(positions.size());
    for (const uint32_t position : positions) taken.push_back(rows_[position]);
    ARROW_RETURN_NOT_OK(pieces_.Add(std::move(values), taken));
    std::vector<uint32_t> rest;
    rest.reserve(rows_.size() - positions.size());
    size_t next = 0;
    for (uint32_t position = 0; position < rows_.size(); ++position) {
      if (next < positions.size() && positions[next] == position) {
        ++next;
      } else {
        rest.push_back(position);
      }
    }
    ARROW_ASSIGN_OR_RAISE(selected_, SelectRows(selected_, rest));
    for (uint32_t& position : rest) position = rows_[position];
    rows_ = std::move(rest);
    return arrow::Status::OK();
  }

  arrow::Status CloseAll(const BoundExpression& expression) {
    std::vector<uint32_t> all(rows_.size());
    std::iota(all.begin(), all.end(), 0);
    return Close(expression, all);
  }

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  arrow::Result<arrow::Datum> Finish(const std::shared_ptr<arrow::DataType>& type) const {
    return pieces_.Finish(type);
  }

 private:
  std::shared_ptr<arrow::RecordBatch> selected_;  // the open rows
  BoundExpression::Rows how_;
  std::vector<uint32_t> rows_;
  RowPieces pieces_;
};

}  // namespace

arrow::Result<BoundPtr> InSetNode::Make(BoundPtr operand, std::shared_ptr<arrow::Array> values) {
  namespace cp = arrow::compute;
  const arrow::Schema schema({arrow::field("value", operand->type())});
  auto options = std::make_shared<cp::SetLookupOptions>(arrow::Datum(std::move(values)),
                                                        cp::SetLookupOptions::INCONCLUSIVE);
  ARROW_ASSIGN_OR_RAISE(
      cp::Expression test,
      cp::call("is_in", {cp::field_ref("value")}, std::move(options)).Bind(schema));
  return BoundPtr(new InSetNode(std::move(operand), std::move(test)));
}

arrow::Result<arrow::Datum> InSetNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                    Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, operand_->EvaluateOnce(batch, rows));
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  return arrow::compute::ExecuteScalarExpression(
      test_, arrow::compute::ExecBatch({value}, batch.num_rows()), &context);
}

arrow::Result<arrow::Datum> CaseNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                   Rows rows) const {
  OpenRows open(batch, rows);
  for (const Branch& branch : branches_) {
    if (open.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum passes, open.Evaluate(*branch.when));
    ARROW_RETURN_NOT_OK(open.Close(*branch.then, SelectTrue(passes, open.size())));
  }
  ARROW_RETURN_NOT_OK(open.CloseAll(*otherwise_));
  return open.Finish(type());
}

arrow::Result<arrow::Datum> CoalesceNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                       Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum first, values_.front()->EvaluateOnce(batch, rows));
  if (first.is_scalar() && first.scalar()->is_valid) return first;
  if (!first.is_scalar() && first.null_count() == 0) return first;
  if (first.is_scalar() && values_.size() == 2) return values_[1]->EvaluateOnce(batch, rows);
  std::vector<arrow::Datum> simple = {first};
  for (size_t i = 1; i < values_.size(); ++i) {
    if (AsLiteral(values_[i]) == nullptr && AsColumn(values_[i]) == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(simple.emplace_back(), values_[i]->EvaluateOnce(batch, rows));
  }
  if (simple.size() == values_.size()) return CallArrow("coalesce", simple);
  OpenRows open(batch, rows);
  for (size_t i = 0; i < values_.size() && !open.empty(); ++i) {
    arrow::Datum of_open = first;
    if (i > 0) {
      ARROW_ASSIGN_OR_RAISE(of_open, open.Evaluate(*values_[i]));
    }
    ARROW_ASSIGN_OR_RAISE(auto array, ToArray(of_open, open.size()));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum is_valid,
                          arrow::compute::IsValid(arrow::Datum(array)));
    const std::vector<uint32_t> positions = SelectTrue(is_valid, open.size());
    if (positions.empty()) continue;
    ARROW_ASSIGN_OR_RAISE(array, SelectValues(array, positions));
    ARROW_RETURN_NOT_OK(open.CloseWith(std::move(array), positions));
  }
  return open.Finish(type());
}

}  // namespace glaive::query
