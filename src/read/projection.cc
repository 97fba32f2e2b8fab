#include "read/projection.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

#include "core/error.h"

namespace glaive::read {
namespace {

constexpr std::array<std::string_view, 5> kSystemNames = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

// "a.b", "`odd name`.b"
arrow::Result<std::vector<std::string>> SplitPath(std::string_view column) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : column) {
    if (c == '`') {
      quoted = !quoted;
    } else if (c == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (quoted) return InvalidInput("column '{}' opens a quote that it does not close", column);
  return parts;
}

// A field of the schema, by the children to take on the way from the root's list.
struct FieldPath {
  std::vector<size_t> steps;
  const wire::Field* field = nullptr;
};

arrow::Result<FieldPath> FindField(const wire::Schema& schema, std::string_view column) {
  FieldPath path;
  const auto whole = std::ranges::find(schema.fields, column, &wire::Field::name);
  if (whole != schema.fields.end()) {
    path.steps.push_back(static_cast<size_t>(whole - schema.fields.begin()));
    path.field = &*whole;
    return path;
  }
  ARROW_ASSIGN_OR_RAISE(const auto parts, SplitPath(column));
  const std::vector<wire::Field>* children = &schema.fields;
  for (const std::string& part : parts) {
    const auto child = std::ranges::find(*children, part, &wire::Field::name);
    const bool below_struct = path.field == nullptr || path.field->logical_type == "struct";
    if (child == children->end() || !below_struct) {
      return InvalidInput("no field named {} in the schema", column);
    }
    path.steps.push_back(static_cast<size_t>(child - children->begin()));
    path.field = &*child;
    children = &child->children;
  }
  return path;
}

// The part of a field that holds the `wanted` ones whole. False if that is none of it.
bool Prune(wire::Field& field, const std::set<int32_t>& wanted) {
  if (wanted.contains(field.id)) return true;
  std::erase_if(field.children, [&](wire::Field& child) { return !Prune(child, wanted); });
  return !field.children.empty();
}

int64_t FixedWidth(const arrow::DataType& type) {
  if (type.id() == arrow::Type::BOOL) return 1;
  if (arrow::is_fixed_width(type.id())) return (type.bit_width() + 7) / 8;
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
    return FixedWidth(*list.value_type()) * list.list_size();
  }
  return 0;
}

class ProjectionMaker {
 public:
  ProjectionMaker(const wire::Schema& schema, const ProjectionRequest& request)
      : schema_(schema), request_(request) {}

  arrow::Result<std::shared_ptr<const Projection>> Make() {
    if (request_.columns) {
      for (const std::string& column : *request_.columns) ARROW_RETURN_NOT_OK(Ask(column));
    } else {
      for (const wire::Field& field : schema_.fields) ARROW_RETURN_NOT_OK(Ask(field.name));
    }
    if (request_.with_row_id) AskAtEnd(SystemColumn::kRowId);
    if (request_.with_row_address) AskAtEnd(SystemColumn::kRowAddress);
    for (const size_t top : tops_) ARROW_RETURN_NOT_OK(AddReadField(top));
    for (const Asked& asked : asked_) ARROW_RETURN_NOT_OK(AddOutput(asked));
    projection_.schema = arrow::schema(std::move(output_fields_));
    if (request_.nested == NestedPaths::kFlat && !schema_.metadata.empty()) {
      std::vector<std::string> keys;
      std::vector<std::string> values;
      for (const auto& [key, value] : schema_.metadata) {
        keys.push_back(key);
        values.push_back(value);
      }
      projection_.schema = projection_.schema->WithMetadata(
          arrow::key_value_metadata(std::move(keys), std::move(values)));
    }
    return std::make_shared<const Projection>(std::move(projection_));
  }

 private:
  struct Asked {
    std::string name;
    std::optional<SystemColumn> system;
    FieldPath path;
  };

  arrow::Status Ask(const std::string& column) {
    if (std::ranges::find(asked_, column, &Asked::name) != asked_.end()) {
      return InvalidInput("Duplicate column name: {}", column);
    }
    Asked asked;
    asked.name = column;
    asked.system = SystemColumnOf(column);
    if (!asked.system) {
      ARROW_ASSIGN_OR_RAISE(asked.path, FindField(schema_, column));
      const size_t top = asked.path.steps.front();
      wanted_.insert(asked.path.field->id);
      const bool is_new = std::ranges::find(tops_, top) == tops_.end();
      if (is_new) tops_.push_back(top);
      if (request_.nested == NestedPaths::kPruned) {
        if (!is_new) return arrow::Status::OK();
        asked.name = schema_.fields[top].name;
        asked.path = {{top}, &schema_.fields[top]};
      }
    }
    asked_.push_back(std::move(asked));
    return arrow::Status::OK();
  }

  void AskAtEnd(SystemColumn column) {
    std::erase_if(asked_, [&](const Asked& asked) { return asked.system == column; });
    asked_.push_back({std::string(NameOf(column)), column, {}});
  }

  arrow::Status AddReadField(size_t top) {
    ReadField read;
    read.field = schema_.fields[top];
    Prune(read.field, wanted_);
    ARROW_ASSIGN_OR_RAISE(read.arrow, wire::ToArrow(read.field));
    ARROW_ASSIGN_OR_RAISE(read.leaves, encoding::LeavesOf(*read.arrow));
    for (const wire::LeafField& leaf : wire::LeafFields({.fields = {read.field}, .metadata = {}})) {
      read.leaf_ids.push_back(leaf.field_id);
    }
    if (read.leaf_ids.size() != read.leaves.size()) {
      return Unsupported("column '{}' of type {} cannot be read", read.field.name,
                         read.field.logical_type);
    }
    for (const encoding::LeafPath& leaf : read.leaves) {
      projection_.fixed_bytes_per_row += FixedWidth(*leaf.type);
    }
    projection_.fields.push_back(std::move(read));
    return arrow::Status::OK();
  }

  arrow::Status AddOutput(const Asked& asked) {
    OutputColumn output;
    if (asked.system) {
      output.system = asked.system;
      projection_.fixed_bytes_per_row += sizeof(uint64_t);
      output_fields_.push_back(ArrowField(*asked.system));
      projection_.outputs.push_back(std::move(output));
      return arrow::Status::OK();
    }
    const auto top = std::ranges::find(tops_, asked.path.steps.front());
    output.read_field = static_cast<size_t>(top - tops_.begin());
    const ReadField& read = projection_.fields[output.read_field];
    // Names below the top, in the pruned tree, whose children are fewer.
    const wire::Field* whole = &schema_.fields[*top];
    const wire::Field* field = &read.field;
    bool nullable = field->nullable;
    for (size_t i = 1; i < asked.path.steps.size(); ++i) {
      whole = &whole->children[asked.path.steps[i]];
      const auto child = std::ranges::find(field->children, whole->id, &wire::Field::id);
      output.path.push_back(static_cast<int>(child - field->children.begin()));
      field = &*child;
      nullable = nullable || field->nullable;
    }
    ARROW_ASSIGN_OR_RAISE(const auto arrow_field, wire::ToArrow(*field));
    output_fields_.push_back(arrow_field->WithName(asked.name)->WithNullable(nullable));
    projection_.outputs.push_back(std::move(output));
    return arrow::Status::OK();
  }

  const wire::Schema& schema_;
  const ProjectionRequest& request_;
  std::vector<Asked> asked_;
  std::vector<size_t> tops_;  // top-level fields, in the order of their first mention
  std::set<int32_t> wanted_;  // ids of fields that are read whole
  arrow::FieldVector output_fields_;
  Projection projection_;
};

}  // namespace

std::string_view NameOf(SystemColumn column) { return kSystemNames[static_cast<size_t>(column)]; }

std::optional<SystemColumn> SystemColumnOf(std::string_view name) {
  const auto found = std::ranges::find(kSystemNames, name);
  if (found == kSystemNames.end()) return std::nullopt;
  return static_cast<SystemColumn>(found - kSystemNames.begin());
}

std::shared_ptr<arrow::Field> ArrowField(SystemColumn column) {
  return arrow::field(std::string(NameOf(column)), arrow::uint64());
}

bool Projection::Has(SystemColumn column) const {
  return std::ranges::find(outputs, column, &OutputColumn::system) != outputs.end();
}

arrow::Result<std::shared_ptr<const Projection>> Projection::Make(
    const wire::Schema& schema, const ProjectionRequest& request) {
  return ProjectionMaker(schema, request).Make();
}

}  // namespace glaive::read
