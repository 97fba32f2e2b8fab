#include "file/input_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "core/error.h"
#include "file/row_chunk.h"

namespace glaive::file {
namespace {

using arrow::bit_util::GetBit;

// Whether values of `from` are, array for array, values of `to`: names of list items, nullability
// and metadata aside. Struct fields may be in another order.
bool SameLayout(const arrow::DataType& from, const arrow::DataType& to) {
  if (from.id() != to.id() || from.num_fields() != to.num_fields()) return false;
  switch (to.id()) {
    case arrow::Type::STRUCT:
      return std::ranges::all_of(to.fields(), [&](const auto& field) {
        const auto& input = static_cast<const arrow::StructType&>(from);
        const auto source = input.GetFieldByName(field->name());
        return source != nullptr && SameLayout(*source->type(), *field->type());
      });
    case arrow::Type::FIXED_SIZE_LIST:
      if (static_cast<const arrow::FixedSizeListType&>(from).list_size() !=
          static_cast<const arrow::FixedSizeListType&>(to).list_size()) {
        return false;
      }
      [[fallthrough]];
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST: return SameLayout(*from.field(0)->type(), *to.field(0)->type());
    default: return from.Equals(to);
  }
}

// `data` with the fields of its structs in the order of `type`.
std::shared_ptr<arrow::ArrayData> InOrder(const std::shared_ptr<arrow::ArrayData>& data,
                                          const std::shared_ptr<arrow::DataType>& type) {
  if (type->num_fields() == 0 || data->type->Equals(*type)) return data;
  auto ordered = data->Copy();
  ordered->type = type;
  for (int i = 0; i < type->num_fields(); ++i) {
    const auto& field = type->field(i);
    int source = i;
    if (type->id() == arrow::Type::STRUCT) {
      source = static_cast<const arrow::StructType&>(*data->type).GetFieldIndex(field->name());
    }
    ordered->child_data[static_cast<size_t>(i)] =
        InOrder(data->child_data[static_cast<size_t>(source)], field->type());
  }
  return ordered;
}

// What a walk down one leaf column finds out.
class Inspection {
 public:
  explicit Inspection(const LeafColumn& column) : column_(column) {}

  // Offsets in range and ascending, no nulls where there may be none. Then `has_hidden` says
  // whether something lies behind nulls.
  arrow::Status Run(const arrow::ArrayData& rows) {
    return Visit(0, rows, 0, rows.length, nullptr);
  }
  bool has_hidden() const { return has_hidden_; }

 private:
  using Visible = std::vector<uint8_t>;

  arrow::Status Visit(size_t depth, const arrow::ArrayData& node, int64_t begin, int64_t end,
                      const Visible* visible) {
    const LeafNode& description = column_.nodes()[depth];
    if (node.length < end) {
      return InvalidInput("column `{}`: {} values where {} are used", description.name, node.length,
                          end);
    }
    const bool has_nulls = node.buffers[0] != nullptr && node.GetNullCount() != 0;
    if (!description.nullable && (has_nulls || description.kind == NodeKind::kNull)) {
      ARROW_RETURN_NOT_OK(RefuseNulls(description, node, begin, end, visible));
    }
    Visible below;
    if (has_nulls && description.kind != NodeKind::kFixedWidth) {
      below.resize(static_cast<size_t>(end - begin));
      for (int64_t i = begin; i < end; ++i) {
        const auto slot = static_cast<size_t>(i - begin);
        below[slot] = (visible == nullptr || (*visible)[slot] != 0) &&
                      GetBit(node.buffers[0]->data(), node.offset + i);
      }
      visible = &below;
    }
    switch (description.kind) {
      case NodeKind::kStruct:
        return Visit(depth + 1, *node.child_data[0], node.offset + begin, node.offset + end,
                     visible);
      case NodeKind::kFixedList:
        return Visit(depth + 1, *node.child_data[0], (node.offset + begin) * description.width,
                     (node.offset + end) * description.width, nullptr);
      case NodeKind::kList:
      case NodeKind::kBinary: return VisitOffsets<int32_t>(depth, node, begin, end, visible);
      case NodeKind::kLargeList:
      case NodeKind::kLargeBinary: return VisitOffsets<int64_t>(depth, node, begin, end, visible);
      case NodeKind::kFixedWidth:
      case NodeKind::kNull: return arrow::Status::OK();
    }
    return arrow::Status::OK();
  }

  static arrow::Status RefuseNulls(const LeafNode& description, const arrow::ArrayData& node,
                                   int64_t begin, int64_t end, const Visible* visible) {
    for (int64_t i = begin; i < end; ++i) {
      if (visible != nullptr && (*visible)[static_cast<size_t>(i - begin)] == 0) continue;
      const bool is_null =
          description.kind == NodeKind::kNull || !GetBit(node.buffers[0]->data(), node.offset + i);
      if (is_null) {
        return InvalidInput("column `{}` holds a null in row {} of a batch, but is not nullable",
                            description.name, i);
      }
    }
    return arrow::Status::OK();
  }

  template <typename Offset>
  arrow::Status VisitOffsets(size_t depth, const arrow::ArrayData& node, int64_t begin, int64_t end,
                             const Visible* visible) {
    const LeafNode& description = column_.nodes()[depth];
    if (begin == end) return arrow::Status::OK();
    const Offset* offsets = node.GetValues<Offset>(1);
    bool ascending = offsets[begin] >= 0;
    for (int64_t i = begin; i < end; ++i) ascending &= offsets[i] <= offsets[i + 1];
    const bool is_list =
        description.kind == NodeKind::kList || description.kind == NodeKind::kLargeList;
    const int64_t limit = is_list                      ? node.child_data[0]->length
                          : node.buffers[2] == nullptr ? 0
                                                       : node.buffers[2]->size();
    if (!ascending || offsets[end] > limit) {
      return InvalidInput("column `{}`: its offsets are not ascending within {} {}",
                          description.name, limit, is_list ? "items" : "bytes");
    }
    if (visible != nullptr) {
      for (int64_t i = begin; i < end; ++i) {
        const bool hidden = (*visible)[static_cast<size_t>(i - begin)] == 0;
        has_hidden_ |= hidden && offsets[i] != offsets[i + 1];
      }
    }
    if (!is_list) return arrow::Status::OK();
    // Items of null lists count for nothing; without them the walk is made again.
    if (has_hidden_) return arrow::Status::OK();
    return Visit(depth + 1, *node.child_data[0], offsets[begin], offsets[end], nullptr);
  }

  const LeafColumn& column_;
  bool has_hidden_ = false;
};

arrow::Result<std::shared_ptr<arrow::ArrayData>> Checked(const LeafColumn& column,
                                                         std::shared_ptr<arrow::ArrayData> rows) {
  while (true) {
    Inspection inspection(column);
    ARROW_RETURN_NOT_OK(inspection.Run(*rows));
    if (!inspection.has_hidden()) return rows;
    RowChunk visible(column);
    ARROW_RETURN_NOT_OK(visible.Append(*rows, 0, rows->length, /*skip_hidden=*/true));
    ARROW_ASSIGN_OR_RAISE(rows, visible.Finish());
  }
}

}  // namespace

arrow::Result<InputMatcher> InputMatcher::Make(std::shared_ptr<arrow::Schema> schema) {
  InputMatcher matcher;
  for (const auto& field : schema->fields()) {
    matcher.first_leaf_.push_back(static_cast<int>(matcher.columns_.size()));
    ARROW_ASSIGN_OR_RAISE(auto leaves, LeafColumn::Of(*field));
    std::ranges::move(leaves, std::back_inserter(matcher.columns_));
  }
  matcher.first_leaf_.push_back(static_cast<int>(matcher.columns_.size()));
  matcher.schema_ = std::move(schema);
  return matcher;
}

arrow::Status InputMatcher::Bind(const std::shared_ptr<arrow::Schema>& input) {
  std::vector<int> sources;
  for (const auto& field : schema_->fields()) {
    const auto found = input->GetAllFieldIndices(field->name());
    if (found.empty()) return InvalidInput("column `{}` is missing from the rows", field->name());
    if (found.size() > 1) return InvalidInput("column `{}` is there more than once", field->name());
    const auto& type = input->field(found[0])->type();
    if (!SameLayout(*type, *field->type())) {
      return InvalidInput("column `{}` should have type {}, but its values are of type {}",
                          field->name(), field->type()->ToString(), type->ToString());
    }
    sources.push_back(found[0]);
  }
  for (const auto& field : input->fields()) {
    if (schema_->GetFieldIndex(field->name()) < 0) {
      return InvalidInput("column `{}` is not in the schema", field->name());
    }
  }
  sources_ = std::move(sources);
  bound_ = input;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<const InputRows>> InputMatcher::Match(
    const arrow::RecordBatch& batch) {
  if (batch.schema() != bound_) ARROW_RETURN_NOT_OK(Bind(batch.schema()));
  auto rows = std::make_shared<InputRows>();
  rows->num_rows = batch.num_rows();
  rows->columns.reserve(columns_.size());
  for (size_t field = 0; field < sources_.size(); ++field) {
    std::shared_ptr<arrow::ArrayData> data = batch.column_data(sources_[field]);
    const auto& name = schema_->field(static_cast<int>(field))->name();
    if (const auto status = arrow::MakeArray(data)->Validate(); !status.ok()) {
      return InvalidInput("column `{}`: {}", name, status.message());
    }
    if (data->length != rows->num_rows) {
      return InvalidInput("column `{}` has {} rows in a batch of {}", name, data->length,
                          rows->num_rows);
    }
    data = InOrder(data, schema_->field(static_cast<int>(field))->type());
    for (int leaf = first_leaf_[field]; leaf < first_leaf_[field + 1]; ++leaf) {
      const LeafColumn& column = columns_[static_cast<size_t>(leaf)];
      ARROW_ASSIGN_OR_RAISE(auto checked, Checked(column, column.Prune(data)));
      rows->columns.push_back(std::move(checked));
    }
  }
  return rows;
}

}  // namespace glaive::file
