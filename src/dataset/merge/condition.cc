#include "dataset/merge/condition.h"

#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"

namespace glaive::dataset {
namespace {

constexpr std::string_view kSource = "source.";
constexpr std::string_view kTarget = "target.";

std::shared_ptr<arrow::Field> Side(std::string_view prefix, const arrow::Schema& schema) {
  return arrow::field(std::string(prefix.substr(0, prefix.size() - 1)),
                      arrow::struct_(schema.fields()));
}

// The table's path of a column that a condition looks at; nothing for the source's.
std::optional<std::string> TargetPath(const std::string& column) {
  if (column.starts_with(kSource)) return std::nullopt;
  return column.starts_with(kTarget) ? column.substr(kTarget.size()) : column;
}

arrow::Result<std::shared_ptr<arrow::Array>> Find(const arrow::RecordBatch& batch,
                                                  std::string_view path) {
  size_t dot = path.find('.');
  auto values = batch.GetColumnByName(std::string(path.substr(0, dot)));
  while (values != nullptr && dot != std::string_view::npos) {
    path.remove_prefix(dot + 1);
    dot = path.find('.');
    const auto& record = static_cast<const arrow::StructArray&>(*values);
    const int child = record.struct_type()->GetFieldIndex(std::string(path.substr(0, dot)));
    ARROW_ASSIGN_OR_RAISE(values, record.GetFlattenedField(child));
  }
  if (values == nullptr) return Internal("a condition's column '{}' is not there", path);
  return values;
}

}  // namespace

arrow::Result<MergeCondition> MergeCondition::Bind(std::string_view sql,
                                                   const arrow::Schema& source,
                                                   const arrow::Schema& target) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  arrow::FieldVector fields = {Side(kSource, source), Side(kTarget, target)};
  for (const auto& field : target.fields()) {
    const bool is_side = field->name() == "source" || field->name() == "target";
    if (!is_side && source.GetFieldByName(field->name()) == nullptr) fields.push_back(field);
  }
  MergeCondition condition;
  auto filter = query::Filter::FromSql(sql, arrow::Schema(fields));
  if (!filter.ok()) {
    return WithContext(filter.status(),
                       "in the condition of a merge, where columns are source.x and target.x");
  }
  condition.filter_ = *std::move(filter);
  for (const std::string& column : condition.filter_->columns()) {
    if (auto path = TargetPath(column)) condition.target_columns_.push_back(*std::move(path));
  }
  return condition;
}

arrow::Result<std::vector<uint32_t>> MergeCondition::Select(
    const arrow::RecordBatch& source, const arrow::RecordBatch& target) const {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (const std::string& column : filter_->columns()) {
    const auto path = TargetPath(column);
    if (path) {
      columns.push_back(target.GetColumnByName(*path));
    } else {
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                            Find(source, std::string_view(column).substr(kSource.size())));
    }
    fields.push_back(arrow::field(column, columns.back()->type()));
  }
  return filter_->Select(
      *arrow::RecordBatch::Make(arrow::schema(fields), source.num_rows(), std::move(columns)));
}

}  // namespace glaive::dataset
