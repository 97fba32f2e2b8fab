#include "dataset/write/input_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/write/stored_array.h"
#include "query/bind/filter.h"

namespace glaive::dataset {
namespace {

// Whether values of the two are stored alike, names of list items and nullability aside.
bool SameValues(const arrow::DataType& input, const arrow::DataType& kept) {
  if (input.id() != kept.id() || input.num_fields() != kept.num_fields()) return false;
  if (input.num_fields() == 0) return input.Equals(kept);
  for (int i = 0; i < input.num_fields(); ++i) {
    if (!SameValues(*input.field(i)->type(), *kept.field(i)->type())) return false;
  }
  return true;
}

std::string Described(const arrow::DataType& type) {
  const auto name = wire::LogicalTypeOf(type);
  return name.ok() ? *name : type.ToString();
}

arrow::Result<wire::Field> FieldToAppend(const wire::Field& table, const std::string& path,
                                         const arrow::DataType& input) {
  ARROW_ASSIGN_OR_RAISE(const auto kept, wire::ToArrow(table));
  const auto refuse = [&] {
    return InvalidInput("Append with different schema: `{}` should have type {} but type was {}",
                        path, Described(*kept->type()), Described(input));
  };
  if (input.id() != arrow::Type::STRUCT || kept->type()->id() != arrow::Type::STRUCT) {
    const bool is_list =
        input.id() == kept->type()->id() && input.num_fields() == 1 && table.children.size() == 1;
    if (is_list && input.id() != arrow::Type::MAP) {
      wire::Field field = table;
      ARROW_ASSIGN_OR_RAISE(field.children[0],
                            FieldToAppend(table.children[0], path + "." + table.children[0].name,
                                          *input.field(0)->type()));
      return field;
    }
    const auto stored = StoredType(input.GetSharedPtr(), *kept->type());
    if (!SameValues(*stored, *kept->type())) return refuse();
    return table;
  }
  wire::Field field = table;
  field.children.clear();
  for (const wire::Field& child : table.children) {
    const auto found = static_cast<const arrow::StructType&>(input).GetFieldByName(child.name);
    const std::string child_path = path + "." + child.name;
    if (found == nullptr && !child.nullable) {
      return InvalidInput("Append with different schema: fields did not match, missing=[{}]",
                          child_path);
    }
    if (found == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(field.children.emplace_back(),
                          FieldToAppend(child, child_path, *found->type()));
  }
  for (const auto& child : input.fields()) {
    const bool known = std::ranges::any_of(
        table.children, [&](const wire::Field& have) { return have.name == child->name(); });
    if (!known) {
      return InvalidInput("Append with different schema: fields did not match, unexpected=[{}.{}]",
                          path, child->name());
    }
  }
  return field;
}

}  // namespace

arrow::Result<wire::Schema> FieldsToAppend(const wire::Schema& table, const arrow::Schema& input) {
  // A schema is a struct that is never null.
  wire::Schema fields;
  for (const auto& field : input.fields()) {
    const bool known = std::ranges::any_of(
        table.fields, [&](const wire::Field& have) { return have.name == field->name(); });
    if (!known) {
      return InvalidInput("Append with different schema: fields did not match, unexpected=[{}]",
                          field->name());
    }
    if (input.GetAllFieldIndices(field->name()).size() > 1) {
      return InvalidInput("Append with different schema: column `{}` is there more than once",
                          field->name());
    }
  }
  for (const wire::Field& field : table.fields) {
    const auto found = input.GetFieldByName(field.name);
    if (found == nullptr && !field.nullable) {
      return InvalidInput("Append with different schema: fields did not match, missing=[{}]",
                          field.name);
    }
    if (found == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(fields.fields.emplace_back(),
                          FieldToAppend(field, field.name, *found->type()));
  }
  return fields;
}

arrow::Result<StoredForm> StoredForm::Make(const arrow::Schema& input, const wire::Schema& kept) {
  ARROW_ASSIGN_OR_RAISE(const auto target_schema, wire::ToArrow(kept));
  StoredForm form;
  arrow::FieldVector fields;
  for (const auto& field : input.fields()) {
    const auto target = target_schema->GetFieldByName(field->name());
    const auto stored =
        target == nullptr ? field->type() : StoredType(field->type(), *target->type());
    fields.push_back(field->WithType(stored));
    form.converts_ = form.converts_ || stored != field->type();
  }
  form.schema_ = arrow::schema(std::move(fields));
  if (form.converts_) ARROW_RETURN_NOT_OK(query::InitCompute());
  return form;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> StoredForm::Convert(
    std::shared_ptr<arrow::RecordBatch> batch) const {
  if (!converts_) return batch;
  std::vector<std::shared_ptr<arrow::Array>> columns = batch->columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& type = schema_->field(static_cast<int>(i))->type();
    if (columns[i]->type()->Equals(*type)) continue;
    ARROW_ASSIGN_OR_RAISE(const auto stored, ToStored(columns[i]->data(), type));
    columns[i] = arrow::MakeArray(stored);
  }
  return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
}

arrow::Result<InputStream> InputStream::Make(std::shared_ptr<arrow::RecordBatchReader> reader,
                                             const wire::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(StoredForm form, StoredForm::Make(*reader->schema(), schema));
  return InputStream(std::move(reader), std::move(form));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> InputStream::Next() {
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
  if (batch == nullptr) return batch;
  return form_.Convert(std::move(batch));
}

}  // namespace glaive::dataset
