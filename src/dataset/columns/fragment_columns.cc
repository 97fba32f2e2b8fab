#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/columns/job.h"
#include "dataset/columns/join_table.h"
#include "dataset/columns/new_columns.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/handle/edited_fragment.h"
#include "dataset/write/input_stream.h"
#include "glaive/columns.h"
#include "table/manifest/table_schema.h"
#include "table/sets/roaring.h"

namespace glaive {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;

arrow::Result<WidenedFragment> Widened(const Dataset& dataset, dataset::AddedColumns added,
                                       const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto schema, table::MakeTableSchema(std::move(added.fields.table)));
  ARROW_RETURN_NOT_OK(
      dataset::HandOver(*StateOf(dataset)->location.store, added.files, options.durability));
  return WidenedFragment{table::MakeFragmentMetadata(std::move(added.fragments.front())),
                         std::move(schema)};
}

void CollectIds(const std::vector<wire::Field>& fields, std::vector<int32_t>* ids) {
  for (const wire::Field& field : fields) {
    ids->push_back(field.id);
    CollectIds(field.children, ids);
  }
}

// The same values as an array of this type: fields of structs by their names, without those that
// the type lacks.
std::shared_ptr<arrow::ArrayData> Conform(const std::shared_ptr<arrow::ArrayData>& data,
                                          const std::shared_ptr<arrow::DataType>& type) {
  if (type->num_fields() == 0 || data->type->Equals(*type)) return data;
  auto conforming = data->Copy();
  conforming->type = type;
  conforming->child_data.clear();
  for (int i = 0; i < type->num_fields(); ++i) {
    int source = i;
    if (type->id() == arrow::Type::STRUCT) {
      source =
          static_cast<const arrow::StructType&>(*data->type).GetFieldIndex(type->field(i)->name());
    }
    conforming->child_data.push_back(
        Conform(data->child_data[static_cast<size_t>(source)], type->field(i)->type()));
  }
  return conforming;
}

std::shared_ptr<arrow::Array> Conform(const arrow::Array& array,
                                      const std::shared_ptr<arrow::DataType>& type) {
  return arrow::MakeArray(Conform(array.data(), type));
}

// One call that rewrites columns of a fragment.
class Rewriting {
 public:
  Rewriting(const Dataset& dataset, wire::DataFragment fragment, const VersionOptions& options)
      : job_{.snapshot = dataset::SnapshotOf(dataset),
             .fragments = {std::move(fragment)},
             .inputs = nullptr,
             .fields = {},
             .progress = options.progress} {}

  arrow::Status Prepare(arrow::RecordBatchReader& stream, std::string_view left_on,
                        std::string_view right_on) {
    ARROW_RETURN_NOT_OK(FindFields(*stream.schema(), right_on));
    ARROW_RETURN_NOT_OK(FindInputs(left_on));
    const int key = static_cast<int>(job_.fields.fields.size());
    ARROW_ASSIGN_OR_RAISE(
        right_, dataset::JoinTable::Read(stream, right_on, *job_.inputs->schema->field(key)->type(),
                                         job_.fields));
    const auto& stored = right_->values();
    ARROW_ASSIGN_OR_RAISE(schema_, wire::ToArrow(job_.fields));
    arrow::ArrayVector columns;
    for (const auto& field : schema_->fields()) {
      columns.push_back(Conform(*stored->GetColumnByName(field->name()), field->type()));
    }
    values_ = arrow::RecordBatch::Make(schema_, stored->num_rows(), std::move(columns));
    return arrow::Status::OK();
  }

  arrow::Result<RewrittenFragment> Run(const Dataset& dataset, const VersionOptions& options) {
    wire::DataFragment fragment = job_.fragments.front();
    ARROW_ASSIGN_OR_RAISE(dataset::ColumnFile file,
                          dataset::ComputeInTurn(job_, fragment, [&](uint64_t, const Batch& live) {
                            return Join(live);
                          }));
    if (file.file) dataset::AddFile(&fragment, *file.file);
    ARROW_RETURN_NOT_OK(
        dataset::HandOver(*StateOf(dataset)->location.store, file.files, options.durability));
    RewrittenFragment result{.fragment = table::MakeFragmentMetadata(std::move(fragment)),
                             .fields_modified = {},
                             .matched_offsets = table::SerializeRoaring(table::RangesOf(matched_))};
    CollectIds(job_.fields.fields, &result.fields_modified);
    return result;
  }

 private:
  arrow::Status FindFields(const arrow::Schema& input, std::string_view key) {
    arrow::FieldVector fields;
    for (const auto& field : input.fields()) {
      if (field->name() == key) continue;
      if (field->name() == "_rowid" || field->name() == "_rowaddr") {
        return InvalidInput("Column {} is a reserved metadata column and cannot be updated",
                            field->name());
      }
      fields.push_back(field);
    }
    if (fields.empty()) return InvalidInput("there is no column to update beside the key {}", key);
    // What is not given keeps its values.
    const wire::Schema schema = dataset::AllNullable(job_.snapshot.manifest->schema);
    ARROW_ASSIGN_OR_RAISE(const wire::Schema given,
                          dataset::FieldsToAppend(schema, arrow::Schema(std::move(fields))));
    std::vector<int32_t> leaves;
    for (const wire::LeafField& leaf : wire::LeafFields(given)) leaves.push_back(leaf.field_id);
    job_.fields.fields = dataset::KeepFields(
        job_.snapshot.manifest->schema.fields,
        [&](const wire::Field& field) { return std::ranges::count(leaves, field.id) > 0; });
    return arrow::Status::OK();
  }

  // The columns to update, whole where they are structs, then the key and the address.
  arrow::Status FindInputs(std::string_view left_on) {
    std::vector<std::string> inputs;
    for (const wire::Field& field : job_.fields.fields) inputs.push_back(field.name);
    if (std::ranges::count(inputs, left_on) > 0) {
      return InvalidInput("Column {} is joined on and cannot be updated", left_on);
    }
    inputs.emplace_back(left_on);
    if (left_on != "_rowaddr") inputs.emplace_back("_rowaddr");
    ARROW_ASSIGN_OR_RAISE(job_.inputs, read::Projection::Make(job_.snapshot.manifest->schema,
                                                              {.columns = std::move(inputs)}));
    return arrow::Status::OK();
  }

  arrow::Result<Batch> Join(const Batch& live) {
    const int num_values = schema_->num_fields();
    ARROW_ASSIGN_OR_RAISE(const auto rows, right_->Find(*live->column(num_values)));
    const auto& addresses =
        static_cast<const arrow::UInt64Array&>(*live->column(live->num_columns() - 1));
    for (int64_t row = 0; row < rows->length(); ++row) {
      if (rows->IsValid(row)) matched_.push_back(static_cast<uint32_t>(addresses.Value(row)));
    }
    ARROW_ASSIGN_OR_RAISE(const auto joined, dataset::TakeJoined(*values_, rows));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum is_matched, arrow::compute::IsValid(rows));
    arrow::ArrayVector columns;
    for (int i = 0; i < num_values; ++i) {
      const auto own = Conform(*live->column(i), schema_->field(i)->type());
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum chosen,
                            arrow::compute::IfElse(is_matched, joined->column(i), own));
      columns.push_back(chosen.make_array());
    }
    return arrow::RecordBatch::Make(schema_, live->num_rows(), std::move(columns));
  }

  dataset::ColumnJob job_;
  std::shared_ptr<const dataset::JoinTable> right_;
  std::shared_ptr<arrow::Schema> schema_;  // of what is written
  Batch values_;                           // of `right_`, in that schema
  std::vector<uint32_t> matched_;          // physical rows
};

}  // namespace

arrow::Result<WidenedFragment> AddFragmentColumns(const Dataset& dataset, uint64_t fragment_id,
                                                  const NewColumns& columns,
                                                  const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset, fragment_id));
  ARROW_ASSIGN_OR_RAISE(auto added,
                        dataset::AddToFragments(dataset, {std::move(fragment)}, columns, options));
  return Widened(dataset, std::move(added), options);
}

arrow::Result<WidenedFragment> MergeFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset, fragment_id));
  ARROW_ASSIGN_OR_RAISE(auto added, dataset::JoinToFragments(dataset, {std::move(fragment)},
                                                             *stream, left_on, right_on, options));
  return Widened(dataset, std::move(added), options);
}

arrow::Result<RewrittenFragment> UpdateFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset, fragment_id));
  Rewriting rewriting(dataset, std::move(fragment), options);
  ARROW_RETURN_NOT_OK(rewriting.Prepare(*stream, left_on, right_on));
  return rewriting.Run(dataset, options);
}

}  // namespace glaive
