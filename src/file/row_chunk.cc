#include "file/row_chunk.h"

#include <limits>
#include <utility>

#include <arrow/util/bit_util.h>

#include "core/error.h"
#include "core/recycling_pool.h"

namespace glaive::file {
namespace {

bool MayHaveNulls(const arrow::ArrayData& node) {
  return !node.buffers.empty() && node.buffers[0] != nullptr && node.null_count != 0;
}

// Shrinking is a copy: worth it for memory, not for a little of it.
arrow::Result<std::shared_ptr<arrow::Buffer>> FinishBuffer(arrow::BufferBuilder& builder) {
  return builder.Finish(/*shrink_to_fit=*/builder.length() < builder.capacity() / 4 * 3);
}

bool IsVariable(NodeKind kind) {
  return kind == NodeKind::kBinary || kind == NodeKind::kLargeBinary;
}

}  // namespace

RowChunk::RowChunk(const LeafColumn& column) : column_(column) {
  levels_.reserve(column.nodes().size());
  for (size_t i = 0; i < column.nodes().size(); ++i) {
    levels_.emplace_back(RecyclingPool());
  }
}

arrow::Status RowChunk::Append(const arrow::ArrayData& rows, int64_t begin, int64_t end,
                               bool skip_hidden) {
  skip_hidden_ = skip_hidden;
  if (num_rows() == 0) {
    for (Level& level : levels_) {
      ARROW_RETURN_NOT_OK(level.values.Reserve(level.usual_values));
      ARROW_RETURN_NOT_OK(level.data.Reserve(level.usual_data));
    }
  }
  return AppendNode(0, rows, begin, end, nullptr);
}

arrow::Status RowChunk::AppendValidity(Level& level, const arrow::ArrayData& node, int64_t begin,
                                       int64_t end) {
  const int64_t added = end - begin;
  if (!MayHaveNulls(node)) {
    return level.has_validity ? level.validity.Append(added, true) : arrow::Status::OK();
  }
  if (!level.has_validity) {
    ARROW_RETURN_NOT_OK(level.validity.Append(level.length, true));
    level.has_validity = true;
  }
  const int64_t nulls_before = level.validity.false_count();
  ARROW_RETURN_NOT_OK(level.validity.Reserve(added));
  level.validity.UnsafeAppend(node.buffers[0]->data(), node.offset + begin, added);
  level.null_count += level.validity.false_count() - nulls_before;
  return arrow::Status::OK();
}

template <typename Offset>
arrow::Status RowChunk::AppendVariable(size_t depth, const arrow::ArrayData& node, int64_t begin,
                                       int64_t end, const Visible* visible) {
  Level& level = levels_[depth];
  const bool is_binary = IsVariable(column_.nodes()[depth].kind);
  const auto append_content = [&](int64_t first, int64_t last) {
    if (first == last) return arrow::Status::OK();
    if (is_binary) return level.data.Append(node.buffers[2]->data() + first, last - first);
    return AppendNode(depth + 1, *node.child_data[0], first, last, nullptr);
  };
  if (level.length == 0) {
    const Offset zero = 0;
    ARROW_RETURN_NOT_OK(level.values.Append(&zero, sizeof(zero)));
  }
  if (begin == end) return arrow::Status::OK();
  const Offset* offsets = node.GetValues<Offset>(1);
  // What a chunk gathers is at most what one array of this type held, and a little; see Coalescer.
  if (offsets[end] - offsets[begin] > std::numeric_limits<Offset>::max() - level.last_offset) {
    return InvalidInput("column `{}`: rows of more than {} items or bytes", column_.name(),
                        std::numeric_limits<Offset>::max());
  }
  ARROW_RETURN_NOT_OK(level.values.Reserve((end - begin) * static_cast<int64_t>(sizeof(Offset))));
  const auto push = [&](int64_t size) {
    level.last_offset += size;
    const auto offset = static_cast<Offset>(level.last_offset);
    level.values.UnsafeAppend(&offset, sizeof(offset));
  };
  if (!skip_hidden_ || (visible == nullptr && !MayHaveNulls(node))) {
    const int64_t shift = level.last_offset - offsets[begin];
    for (int64_t i = begin + 1; i <= end; ++i) {
      const auto offset = static_cast<Offset>(offsets[i] + shift);
      level.values.UnsafeAppend(&offset, sizeof(offset));
    }
    level.last_offset = offsets[end] + shift;
    return append_content(offsets[begin], offsets[end]);
  }
  // Runs of slots whose content is kept lie side by side and go in one piece.
  const uint8_t* validity = MayHaveNulls(node) ? node.buffers[0]->data() : nullptr;
  int64_t run_begin = offsets[begin];
  int64_t run_end = run_begin;
  for (int64_t i = begin; i < end; ++i) {
    const bool kept = (visible == nullptr || (*visible)[static_cast<size_t>(i - begin)] != 0) &&
                      (validity == nullptr || arrow::bit_util::GetBit(validity, node.offset + i));
    push(kept ? offsets[i + 1] - offsets[i] : 0);
    if (kept && offsets[i] == run_end) {
      run_end = offsets[i + 1];
    } else if (kept) {
      ARROW_RETURN_NOT_OK(append_content(run_begin, run_end));
      run_begin = offsets[i];
      run_end = offsets[i + 1];
    }
  }
  return append_content(run_begin, run_end);
}

arrow::Status RowChunk::AppendNode(size_t depth, const arrow::ArrayData& node, int64_t begin,
                                   int64_t end, const Visible* visible) {
  Level& level = levels_[depth];
  const LeafNode& description = column_.nodes()[depth];
  ARROW_RETURN_NOT_OK(AppendValidity(level, node, begin, end));
  switch (description.kind) {
    case NodeKind::kStruct: {
      Visible below;
      if (skip_hidden_ && MayHaveNulls(node)) {
        below.resize(static_cast<size_t>(end - begin));
        for (int64_t i = begin; i < end; ++i) {
          const auto slot = static_cast<size_t>(i - begin);
          below[slot] = (visible == nullptr || (*visible)[slot] != 0) &&
                        arrow::bit_util::GetBit(node.buffers[0]->data(), node.offset + i);
        }
        visible = &below;
      }
      ARROW_RETURN_NOT_OK(AppendNode(depth + 1, *node.child_data[0], node.offset + begin,
                                     node.offset + end, visible));
      break;
    }
    case NodeKind::kList:
    case NodeKind::kBinary:
      ARROW_RETURN_NOT_OK(AppendVariable<int32_t>(depth, node, begin, end, visible));
      break;
    case NodeKind::kLargeList:
    case NodeKind::kLargeBinary:
      ARROW_RETURN_NOT_OK(AppendVariable<int64_t>(depth, node, begin, end, visible));
      break;
    case NodeKind::kFixedList:
      ARROW_RETURN_NOT_OK(AppendNode(depth + 1, *node.child_data[0],
                                     (node.offset + begin) * description.width,
                                     (node.offset + end) * description.width, nullptr));
      break;
    case NodeKind::kFixedWidth:
      if (description.width == 1) {
        ARROW_RETURN_NOT_OK(level.booleans.Reserve(end - begin));
        if (begin < end) {
          level.booleans.UnsafeAppend(node.buffers[1]->data(), node.offset + begin, end - begin);
        }
      } else if (begin < end) {
        const int64_t width = description.width / 8;
        ARROW_RETURN_NOT_OK(level.values.Append(
            node.buffers[1]->data() + (node.offset + begin) * width, (end - begin) * width));
      }
      break;
    case NodeKind::kNull: break;
  }
  level.length += end - begin;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> RowChunk::Finish() {
  std::shared_ptr<arrow::ArrayData> below;
  for (size_t depth = levels_.size(); depth-- > 0;) {
    Level& level = levels_[depth];
    const LeafNode& description = column_.nodes()[depth];
    level.usual_values = level.values.length();
    level.usual_data = level.data.length();
    auto data =
        std::make_shared<arrow::ArrayData>(column_.type(depth), level.length, level.null_count, 0);
    data->buffers.push_back(nullptr);
    if (level.has_validity) {
      ARROW_ASSIGN_OR_RAISE(data->buffers[0], level.validity.Finish());
    }
    if (description.kind == NodeKind::kNull) data->null_count = level.length;
    if (description.kind == NodeKind::kFixedWidth && description.width == 1) {
      ARROW_ASSIGN_OR_RAISE(data->buffers.emplace_back(), level.booleans.Finish());
    } else if (description.kind != NodeKind::kStruct && description.kind != NodeKind::kFixedList &&
               description.kind != NodeKind::kNull) {
      ARROW_ASSIGN_OR_RAISE(data->buffers.emplace_back(), FinishBuffer(level.values));
    }
    if (IsVariable(description.kind)) {
      ARROW_ASSIGN_OR_RAISE(data->buffers.emplace_back(), FinishBuffer(level.data));
    }
    if (below != nullptr) data->child_data.push_back(std::move(below));
    below = std::move(data);
    level.length = level.null_count = level.last_offset = 0;
    level.has_validity = false;
  }
  return below;
}

}  // namespace glaive::file
