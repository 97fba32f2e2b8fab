#include "read/field_source.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/type.h>

#include "core/error.h"

namespace glaive::read {
namespace {

using ColumnsById = std::unordered_map<int32_t, StoredColumn>;

// Ids below 0 are no user's: tombstones (-2), whose values lie elsewhere, and row lineage. A column
// below 0 is a parent that old writers listed.
arrow::Result<ColumnsById> IndexColumns(const wire::DataFragment& fragment) {
  ColumnsById columns;
  for (size_t i = 0; i < fragment.files.size(); ++i) {
    const wire::DataFile& file = fragment.files[i];
    if (file.fields.size() != file.column_indices.size()) {
      if (file.file_major_version == 0 && file.column_indices.empty()) {
        return Unsupported(Location{file.path}, "data files of version 0.1 are not read");
      }
      return Corrupt({file.path}, "fragment {} lists {} fields and {} columns of this file",
                     fragment.id, file.fields.size(), file.column_indices.size());
    }
    for (size_t j = 0; j < file.fields.size(); ++j) {
      if (file.fields[j] < 0 || file.column_indices[j] < 0) continue;
      columns.emplace(file.fields[j],
                      StoredColumn{i, static_cast<uint32_t>(file.column_indices[j])});
    }
  }
  return columns;
}

// Takes out what has no column. False when nothing is left of the field.
bool KeepStored(wire::Field& field, const ColumnsById& columns) {
  if (wire::IsSingleColumn(field)) return columns.contains(field.id);
  std::erase_if(field.children, [&](wire::Field& child) { return !KeepStored(child, columns); });
  return !field.children.empty();
}

// A list is nothing without its items; in a struct, each child that is missing must be nullable.
arrow::Status CheckMissing(const wire::Field& whole, const wire::Field* stored,
                           const wire::DataFragment& fragment) {
  if (stored == nullptr) {
    if (whole.nullable) return arrow::Status::OK();
    return Corrupt({fragment.files.empty() ? std::string_view("data") : fragment.files[0].path},
                   "fragment {} has no values for field {} ('{}'), which cannot be null",
                   fragment.id, whole.id, whole.name);
  }
  for (const wire::Field& child : whole.children) {
    const auto found = std::ranges::find(stored->children, child.id, &wire::Field::id);
    ARROW_RETURN_NOT_OK(
        CheckMissing(child, found != stored->children.end() ? &*found : nullptr, fragment));
  }
  return arrow::Status::OK();
}

arrow::Result<FieldSource> FindPart(const ReadField& read, const ColumnsById& columns,
                                    const wire::DataFragment& fragment) {
  FieldSource source;
  wire::Field stored = read.field;
  const bool any = KeepStored(stored, columns);
  ARROW_RETURN_NOT_OK(CheckMissing(read.field, any ? &stored : nullptr, fragment));
  if (!any) return source;
  ARROW_ASSIGN_OR_RAISE(source.stored, wire::ToArrow(stored));
  ARROW_ASSIGN_OR_RAISE(source.leaves, encoding::LeavesOf(*source.stored));
  for (const wire::LeafField& leaf : wire::LeafFields({.fields = {stored}, .metadata = {}})) {
    const auto found = columns.find(leaf.field_id);
    if (found == columns.end()) {
      return Corrupt({fragment.files[0].path}, "fragment {} has a column for a part of field {}",
                     fragment.id, read.field.id);
    }
    source.columns.push_back(found->second);
  }
  if (source.columns.size() != source.leaves.size()) {
    return Unsupported("column '{}' of type {} cannot be read", read.field.name,
                       read.field.logical_type);
  }
  return source;
}

arrow::Result<FieldSource> FindSource(const ReadField& read, const ColumnsById& columns,
                                      const wire::DataFragment& fragment) {
  FieldSource source;
  for (const int32_t id : read.leaf_ids) {
    const auto found = columns.find(id);
    if (found == columns.end()) return FindPart(read, columns, fragment);
    source.columns.push_back(found->second);
  }
  source.stored = read.arrow;
  source.leaves = read.leaves;
  return source;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> WithMissing(const arrow::ArrayData& data,
                                                             const arrow::DataType& type) {
  auto whole = data.Copy();
  whole->child_data.clear();
  for (const auto& child : type.fields()) {
    // A struct's children are found by name; of other types there is one, whatever its name.
    const bool is_struct = type.id() == arrow::Type::STRUCT;
    const auto& stored = static_cast<const arrow::StructType&>(*data.type);
    const int index = is_struct ? stored.GetFieldIndex(child->name()) : 0;
    if (index < 0) {
      ARROW_ASSIGN_OR_RAISE(const auto nulls,
                            arrow::MakeArrayOfNull(child->type(), data.offset + data.length));
      whole->child_data.push_back(nulls->data());
      continue;
    }
    const auto& part = data.child_data[static_cast<size_t>(index)];
    if (part->type->Equals(*child->type())) {
      whole->child_data.push_back(part);
    } else {
      ARROW_ASSIGN_OR_RAISE(auto child_data, WithMissing(*part, *child->type()));
      child_data->type = child->type();
      whole->child_data.push_back(std::move(child_data));
    }
  }
  return whole;
}

}  // namespace

arrow::Result<std::vector<FieldSource>> FindSources(const Projection& projection,
                                                    const wire::DataFragment& fragment) {
  std::vector<FieldSource> sources;
  if (projection.fields.empty()) return sources;
  ARROW_ASSIGN_OR_RAISE(const ColumnsById columns, IndexColumns(fragment));
  for (const ReadField& read : projection.fields) {
    ARROW_ASSIGN_OR_RAISE(FieldSource source, FindSource(read, columns, fragment));
    sources.push_back(std::move(source));
  }
  return sources;
}

arrow::Result<std::shared_ptr<arrow::Array>> AddMissing(const std::shared_ptr<arrow::Array>& array,
                                                        const arrow::Field& field) {
  if (array->type()->Equals(*field.type())) return array;
  ARROW_ASSIGN_OR_RAISE(auto data, WithMissing(*array->data(), *field.type()));
  data->type = field.type();
  return arrow::MakeArray(std::move(data));
}

}  // namespace glaive::read
