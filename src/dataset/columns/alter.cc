#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "dataset/columns/job.h"
#include "dataset/columns/new_columns.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/write/added_fields.h"
#include "glaive/columns.h"
#include "glaive/scan.h"
#include "glaive/schema.h"
#include "query/bind/filter.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;
using Fields = std::vector<wire::Field>;

// At a dotted path below structs and lists; names may have dots themselves.
const wire::Field* FindByPath(const Fields& fields, std::string_view path) {
  for (const wire::Field& field : fields) {
    if (path == field.name) return &field;
  }
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    for (const wire::Field& field : fields) {
      if (path.substr(0, dot) != field.name) continue;
      const wire::Field* found = FindByPath(field.children, path.substr(dot + 1));
      if (found != nullptr) return found;
    }
  }
  return nullptr;
}

wire::Field* FindById(Fields& fields, int32_t id) {
  for (wire::Field& field : fields) {
    if (field.id == id) return &field;
    if (wire::Field* below = FindById(field.children, id)) return below;
  }
  return nullptr;
}

void CollectIds(const Fields& fields, std::set<int32_t>* ids) {
  for (const wire::Field& field : fields) {
    ids->insert(field.id);
    CollectIds(field.children, ids);
  }
}

arrow::Status CheckNames(const Fields& fields) {
  std::set<std::string_view> names;
  for (const wire::Field& field : fields) {
    if (!names.insert(field.name).second) {
      return InvalidInput("Duplicate field name \"{}\" in schema", field.name);
    }
    ARROW_RETURN_NOT_OK(CheckNames(field.children));
  }
  return arrow::Status::OK();
}

bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}

// Casts stay among values of one sort: pylance's rule.
bool CanCast(const arrow::DataType& from, const arrow::DataType& to) {
  const auto both = [&](const auto& is_of_sort) {
    return is_of_sort(from.id()) && is_of_sort(to.id());
  };
  if (from.id() == arrow::Type::DICTIONARY) {
    return CanCast(*static_cast<const arrow::DictionaryType&>(from).value_type(), to);
  }
  if (IsList(from) && IsList(to)) return CanCast(*from.field(0)->type(), *to.field(0)->type());
  using Id = arrow::Type::type;
  return both([](Id id) { return arrow::is_integer(id); }) ||
         both([](Id id) { return arrow::is_floating(id); }) ||
         both([](Id id) { return arrow::is_temporal(id) || id == Id::DURATION; }) ||
         both([](Id id) { return arrow::is_decimal(id); }) ||
         both([](Id id) { return arrow::is_string(id); }) ||
         both([](Id id) { return id == Id::BINARY || id == Id::LARGE_BINARY; }) ||
         both([](Id id) { return id == Id::BOOL; });
}

// What one call does to the schema, and to which values.
class Alterations {
 public:
  explicit Alterations(const Dataset& dataset)
      : dataset_(dataset),
        before_(StateOf(dataset)->manifest->schema),
        after_(before_),
        max_field_id_(MaxFieldId(dataset)),
        next_id_(max_field_id_) {}

  arrow::Status Add(const ColumnAlteration& alteration);
  arrow::Status Check() const;

  bool casts() const { return !casts_.empty(); }
  bool tightens() const { return tightens_; }
  const wire::Schema& schema() const { return after_; }

  // The fields with new ids, and the way to them.
  wire::Schema Written() const {
    return {.fields = dataset::KeepFields(
                after_.fields, [&](const auto& field) { return field.id > max_field_id_; }),
            .metadata = {}};
  }
  // The same parts of the schema as it was.
  arrow::Result<std::shared_ptr<const read::Projection>> Read() const;
  // Values as read to values as they are written.
  arrow::Result<Batch> Cast(const wire::Schema& written, const Batch& live) const;

 private:
  arrow::Status CheckNoNulls(const std::string& path) const;
  arrow::Status SetType(const ColumnAlteration& alteration, const wire::Field& from,
                        wire::Field* to);
  arrow::Result<std::shared_ptr<arrow::Array>> CastField(const wire::Field& to,
                                                         std::shared_ptr<arrow::Array> from) const;

  const Dataset& dataset_;
  const wire::Schema& before_;
  wire::Schema after_;
  int32_t max_field_id_;
  int32_t next_id_;
  bool tightens_ = false;
  std::set<int32_t> altered_;             // ids as they were
  std::map<int32_t, std::string> casts_;  // of these, to paths
};

arrow::Status Alterations::Add(const ColumnAlteration& alteration) {
  const wire::Field* from = FindByPath(before_.fields, alteration.path);
  if (from == nullptr) {
    return InvalidInput("Column \"{}\" does not exist in the dataset", alteration.path);
  }
  if (!altered_.insert(from->id).second) {
    return InvalidInput("Column \"{}\" is altered twice", alteration.path);
  }
  wire::Field* to = FindById(after_.fields, from->id);
  if (to == nullptr) {
    return InvalidInput("Column \"{}\" lies in one that is cast", alteration.path);
  }
  if (alteration.name) {
    const bool is_top = std::ranges::any_of(
        before_.fields, [&](const wire::Field& field) { return field.id == from->id; });
    if (alteration.name->empty() || (is_top && (alteration.name->find('.') != std::string::npos ||
                                                dataset::IsReserved(*alteration.name)))) {
      return InvalidInput("Column \"{}\" cannot be called \"{}\"", alteration.path,
                          *alteration.name);
    }
    to->name = *alteration.name;
  }
  if (alteration.nullable) {
    if (from->nullable && !*alteration.nullable) {
      ARROW_RETURN_NOT_OK(CheckNoNulls(alteration.path));
      tightens_ = true;
    }
    to->nullable = *alteration.nullable;
  }
  return alteration.type == nullptr ? arrow::Status::OK() : SetType(alteration, *from, to);
}

arrow::Status Alterations::CheckNoNulls(const std::string& path) const {
  ARROW_ASSIGN_OR_RAISE(const auto rows, Scan(dataset_, {.columns = std::vector{path}}));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
    if (batch == nullptr) return arrow::Status::OK();
    if (batch->column(0)->null_count() == 0) continue;
    return InvalidInput("Column \"{}\" contains NULL values and cannot be made non-nullable", path);
  }
}

// The field gets a new id, and so has no values in the files of whoever does not know of it.
arrow::Status Alterations::SetType(const ColumnAlteration& alteration, const wire::Field& from,
                                   wire::Field* to) {
  ARROW_ASSIGN_OR_RAISE(const auto old_field, wire::ToArrow(from));
  if (old_field->type()->Equals(*alteration.type)) return arrow::Status::OK();
  if (!CanCast(*old_field->type(), *alteration.type)) {
    return InvalidInput("Cannot cast column \"{}\" from {} to {}", alteration.path,
                        query::TypeName(*old_field->type()), query::TypeName(*alteration.type));
  }
  const arrow::Schema one({arrow::field(to->name, alteration.type, to->nullable)});
  ARROW_ASSIGN_OR_RAISE(const wire::Schema cast, wire::FromArrow(one, next_id_ + 1));
  next_id_ = wire::MaxFieldId(cast);
  const wire::Field& field = cast.fields.front();
  to->id = field.id;
  to->logical_type = field.logical_type;
  to->children = field.children;
  casts_.emplace(from.id, alteration.path);
  return arrow::Status::OK();
}

// An index knows the values as they were, and whom it serves by the field's id.
arrow::Status Alterations::Check() const {
  ARROW_RETURN_NOT_OK(CheckNames(after_.fields));
  if (casts_.empty()) return arrow::Status::OK();
  if (tightens_) {
    return InvalidInput(
        "cannot make a column non-nullable and cast columns in the same call: apply the cast "
        "first, then the nullability change");
  }
  const table::Manifest& manifest = *StateOf(dataset_)->manifest;
  const auto check = [&](const wire::FieldView& field) -> arrow::Status {
    if (field.key() != wire::Bytes(1)) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto index, wire::ParseIndex(field.payload, field.where));
    if (index.name == wire::kMemWalIndexName) {
      return InvalidInput("cannot change a column's type on a table with a MemWAL attached");
    }
    for (const int32_t id : index.fields) {
      const auto cast = casts_.find(id);
      if (cast == casts_.end()) continue;
      return InvalidInput(
          "Cannot cast column(s) [{}] to a new type: the index [{}] is attached. Drop it before, "
          "then create it anew",
          cast->second, index.name);
    }
    return arrow::Status::OK();
  };
  return wire::VisitFields(wire::AsBytes(manifest.index_section), {manifest.path}, "IndexSection",
                           check);
}

arrow::Result<std::shared_ptr<const read::Projection>> Alterations::Read() const {
  // In the order of the schema, which is that of what is written.
  const wire::Schema parts{
      .fields = dataset::KeepFields(
          before_.fields, [&](const wire::Field& field) { return casts_.contains(field.id); }),
      .metadata = {}};
  return read::Projection::Make(parts, {.nested = read::NestedPaths::kPruned});
}

arrow::Result<std::shared_ptr<arrow::Array>> Alterations::CastField(
    const wire::Field& to, std::shared_ptr<arrow::Array> from) const {
  if (to.id <= max_field_id_) {  // a struct on the way
    if (from->type_id() != arrow::Type::STRUCT) {
      return Unsupported("casting below {}, which is no struct", to.name);
    }
    auto data = from->data()->Copy();
    arrow::FieldVector fields;
    for (size_t i = 0; i < to.children.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto child,
                            CastField(to.children[i], arrow::MakeArray(data->child_data[i])));
      data->child_data[i] = child->data();
      fields.push_back(arrow::field(to.children[i].name, child->type(), to.children[i].nullable));
    }
    data->type = arrow::struct_(std::move(fields));
    return arrow::MakeArray(std::move(data));
  }
  ARROW_ASSIGN_OR_RAISE(const auto field, wire::ToArrow(to));
  const auto cast = query::CastValue(arrow::Datum(from), field->type(), /*is_try=*/false);
  if (cast.ok()) return cast->make_array();
  if (!cast.status().IsInvalid()) return cast.status();
  return InvalidInput("Cannot cast column \"{}\": {}", to.name, cast.status().message());
}

arrow::Result<Batch> Alterations::Cast(const wire::Schema& written, const Batch& live) const {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (size_t i = 0; i < written.fields.size(); ++i) {
    const wire::Field& field = written.fields[i];
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                          CastField(field, live->column(static_cast<int>(i))));
    fields.push_back(arrow::field(field.name, columns.back()->type(), field.nullable));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), live->num_rows(),
                                  std::move(columns));
}

// Files that hold nothing but columns as they were; hidden row lineage counts as something.
void DropDeadFiles(const wire::Schema& schema, wire::DataFragment* fragment) {
  std::set<int32_t> ids = {-3, -4, -5};
  CollectIds(schema.fields, &ids);
  std::erase_if(fragment->files, [&](const wire::DataFile& file) {
    return std::ranges::none_of(file.fields, [&](int32_t id) { return ids.contains(id); });
  });
}

arrow::Result<Dataset> CommitCasts(const Dataset& dataset, const Alterations& alterations,
                                   const VersionOptions& options) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  dataset::ColumnJob job{.snapshot = dataset::SnapshotOf(dataset),
                         .fragments = {},
                         .inputs = nullptr,
                         .fields = alterations.Written(),
                         .progress = options.progress};
  ARROW_ASSIGN_OR_RAISE(job.fragments, dataset::AllFragments(dataset));
  ARROW_ASSIGN_OR_RAISE(job.inputs, alterations.Read());
  ARROW_ASSIGN_OR_RAISE(auto made, dataset::ComputeFiles(job, [&](const Batch& live) {
                          return alterations.Cast(job.fields, live);
                        }));
  dataset::NewFiles files(job.snapshot.location.store);
  for (size_t i = 0; i < made.size(); ++i) {
    for (const std::string& path : made[i].files.paths()) files.Add(path);
    made[i].files.Keep();
    if (made[i].file) dataset::AddFile(&job.fragments[i], *made[i].file);
    DropDeadFiles(alterations.schema(), &job.fragments[i]);
  }
  // Rows that were written for the schema as it was would lose the column's values, so those who
  // add some meanwhile have to see the new one.
  table::Merge merge{.fragments = table::FragmentsOf(std::move(job.fragments)),
                     .schema = table::WrapSchema(alterations.schema()),
                     .preserves_nullability = false};
  return dataset::CommitColumnChange(dataset, std::move(merge), options, std::move(files));
}

}  // namespace

arrow::Result<Dataset> AlterColumns(const Dataset& dataset,
                                    std::span<const ColumnAlteration> alterations,
                                    const VersionOptions& options) {
  Alterations all(dataset);
  for (const ColumnAlteration& alteration : alterations) ARROW_RETURN_NOT_OK(all.Add(alteration));
  ARROW_RETURN_NOT_OK(all.Check());
  if (all.casts()) return CommitCasts(dataset, all, options);
  table::Project project{.schema = table::WrapSchema(all.schema()),
                         .preserves_nullability = !all.tightens()};
  return dataset::CommitColumnChange(dataset, std::move(project), options,
                                     dataset::NewFiles(StateOf(dataset)->location.store));
}

}  // namespace glaive
