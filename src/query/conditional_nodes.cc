#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/bound_nodes.h"
#include "query/row_pieces.h"
#include "query/select_rows.h"
#include "query/selection.h"

namespace glaive::query {
namespace {

// The rows of a batch that nothing has a value for yet.
class OpenRows {
 public:
  explicit OpenRows(const arrow::RecordBatch& batch)
      : batch_(batch), rows_(static_cast<size_t>(batch.num_rows())), pieces_(batch.num_rows()) {
    std::iota(rows_.begin(), rows_.end(), 0);
  }

  bool empty() const { return rows_.empty(); }

  // Of the open rows, in their order.
  arrow::Result<arrow::Datum> Evaluate(const BoundExpression& expression) {
    if (rows_.size() == static_cast<size_t>(batch_.num_rows())) return expression.Evaluate(batch_);
    if (selected_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(selected_, SelectRows(batch_, rows_));
    }
    return expression.Evaluate(*selected_);
  }

  // Closes the open rows at these positions, with what `expression` is there.
  arrow::Status Close(const BoundExpression& expression, const std::vector<uint32_t>& positions) {
    if (positions.empty()) return arrow::Status::OK();
    std::vector<uint32_t> taken;
    taken.reserve(positions.size());
    for (const uint32_t position : positions) taken.push_back(rows_[position]);
    std::vector<uint32_t> rest;
    rest.reserve(rows_.size() - positions.size());
    size_t next = 0;
    for (uint32_t position = 0; position < rows_.size(); ++position) {
      if (next < positions.size() && positions[next] == position) {
        ++next;
      } else {
        rest.push_back(rows_[position]);
      }
    }
    rows_ = std::move(taken);
    selected_ = nullptr;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, Evaluate(expression));
    ARROW_ASSIGN_OR_RAISE(auto values, ToArray(value, static_cast<int64_t>(rows_.size())));
    ARROW_RETURN_NOT_OK(pieces_.Add(std::move(values), rows_));
    rows_ = std::move(rest);
    selected_ = nullptr;
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
  const arrow::RecordBatch& batch_;
  std::vector<uint32_t> rows_;
  std::shared_ptr<arrow::RecordBatch> selected_;  // those rows, once they were needed
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

arrow::Result<arrow::Datum> InSetNode::Evaluate(const arrow::RecordBatch& batch) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, operand_->Evaluate(batch));
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  return arrow::compute::ExecuteScalarExpression(
      test_, arrow::compute::ExecBatch({value}, batch.num_rows()), &context);
}

arrow::Result<arrow::Datum> CaseNode::Evaluate(const arrow::RecordBatch& batch) const {
  OpenRows open(batch);
  for (const Branch& branch : branches_) {
    if (open.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum passes, open.Evaluate(*branch.when));
    ARROW_RETURN_NOT_OK(open.Close(*branch.then, SelectTrue(passes, open.size())));
  }
  ARROW_RETURN_NOT_OK(open.CloseAll(*otherwise_));
  return open.Finish(type());
}

arrow::Result<arrow::Datum> CoalesceNode::Evaluate(const arrow::RecordBatch& batch) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum first, values_.front()->Evaluate(batch));
  if (first.is_scalar() && first.scalar()->is_valid) return first;
  if (!first.is_scalar() && first.null_count() == 0) return first;
  std::vector<arrow::Datum> simple = {first};
  for (size_t i = 1; i < values_.size(); ++i) {
    if (AsLiteral(values_[i]) == nullptr && AsColumn(values_[i]) == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(simple.emplace_back(), values_[i]->Evaluate(batch));
  }
  if (simple.size() == values_.size()) return CallArrow("coalesce", simple);
  OpenRows open(batch);
  for (const BoundPtr& value : values_) {
    if (open.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum of_open, open.Evaluate(*value));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum is_valid, arrow::compute::IsValid(of_open));
    ARROW_RETURN_NOT_OK(open.Close(*value, SelectTrue(is_valid, open.size())));
  }
  return open.Finish(type());
}

}  // namespace glaive::query
