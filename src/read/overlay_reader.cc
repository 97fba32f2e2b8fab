#include "read/overlay_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "encoding/levels/leaf.h"
#include "query/bind/filter.h"
#include "query/values/select_rows.h"
#include "read/row_ranges.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::read {
namespace {

// The array with another one in the place of what lies at the end of a path through its structs.
std::shared_ptr<arrow::ArrayData> WithPart(const std::shared_ptr<arrow::ArrayData>& data,
                                           std::span<const int> path,
                                           const std::shared_ptr<arrow::ArrayData>& part) {
  if (path.empty()) return part;
  auto changed = data->Copy();
  auto& child = changed->child_data[static_cast<size_t>(path.front())];
  child = WithPart(child, path.subspan(1), part);
  return changed;
}

const std::shared_ptr<arrow::ArrayData>& PartAt(const std::shared_ptr<arrow::ArrayData>& data,
                                                std::span<const int> path) {
  const std::shared_ptr<arrow::ArrayData>* part = &data;
  for (const int child : path) part = &(*part)->child_data[static_cast<size_t>(child)];
  return *part;
}

// The field with nothing below its structs but what a path leads to.
wire::Field Pruned(wire::Field field, std::span<const int> path) {
  if (path.empty()) return field;
  wire::Field child = Pruned(field.children[static_cast<size_t>(path.front())], path.subspan(1));
  field.children.clear();
  field.children.push_back(std::move(child));
  return field;
}

// Calls visit(position of the row among `rows`, rank of the row in the coverage) for each row of
// both, in order.
template <typename Visit>
void ForEachCovered(std::span<const RowRange> rows, const Coverage& coverage, const Visit& visit) {
  const auto covered = coverage.ranges();
  size_t next = 0;
  uint64_t position = 0;
  for (const RowRange& range : rows) {
    while (next < covered.size() && covered[next].end <= range.begin) ++next;
    for (size_t i = next; i < covered.size() && covered[i].begin < range.end; ++i) {
      const uint64_t begin = std::max(range.begin, covered[i].begin);
      const uint64_t end = std::min(range.end, covered[i].end);
      for (uint64_t row = begin; row < end; ++row) {
        visit(position + (row - range.begin), coverage.RankOf(i) + (row - covered[i].begin));
      }
    }
    position += range.size();
  }
}

arrow::Result<std::shared_ptr<arrow::Array>> Pick(const std::shared_ptr<arrow::Array>& array,
                                                  std::span<const uint32_t> positions) {
  const auto schema = arrow::schema({arrow::field("", array->type())});
  const auto batch = arrow::RecordBatch::Make(schema, array->length(), {array});
  ARROW_ASSIGN_OR_RAISE(const auto picked, query::SelectRows(batch, positions));
  return picked->column(0);
}

}  // namespace

Coverage::Coverage(std::vector<RowRange> rows) : ranges_(std::move(rows)) {
  ranks_.reserve(ranges_.size());
  for (const RowRange& range : ranges_) {
    ranks_.push_back(size_);
    size_ += range.size();
  }
}

// Finds the columns that overlays replace, and opens what replaces them.
class OverlayReader::Opener {
 public:
  Opener(const Snapshot& snapshot, const wire::DataFragment& fragment)
      : snapshot_(snapshot), fragment_(fragment) {}

  arrow::Result<std::vector<Column>> Run(const Projection& projection) {
    for (const std::string& message : fragment_.overlays) {
      ARROW_ASSIGN_OR_RAISE(auto overlay,
                            wire::ParseOverlay(wire::AsBytes(message), {snapshot_.manifest->path}));
      overlays_.push_back({std::move(overlay), nullptr, {}});
    }
    std::ranges::stable_sort(
        overlays_, {}, [](const Overlay& overlay) { return overlay.message.committed_version; });
    for (size_t i = 0; i < projection.fields.size(); ++i) {
      Column column{.read_field = i};
      top_ = &projection.fields[i].field;
      ARROW_RETURN_NOT_OK(Visit(*top_, column));
    }
    return std::move(columns_);
  }

 private:
  struct Overlay {
    wire::DataOverlayFile message;
    std::shared_ptr<file::FileReader> file;
    std::vector<std::shared_ptr<const Coverage>> coverages;  // one for each bitmap
  };

  // Down through structs, whose children are columns of their own, to what is one for itself.
  arrow::Status Visit(const wire::Field& field, Column& at) {
    if (field.logical_type == "struct" && !wire::IsSingleColumn(field)) {
      for (size_t i = 0; i < field.children.size(); ++i) {
        at.path.push_back(static_cast<int>(i));
        ARROW_RETURN_NOT_OK(Visit(field.children[i], at));
        at.path.pop_back();
      }
      return arrow::Status::OK();
    }
    std::vector<int32_t> leaf_ids;
    for (const auto& leaf : wire::LeafFields({.fields = {field}, .metadata = {}})) {
      leaf_ids.push_back(leaf.field_id);
    }
    Column column = at;
    for (auto overlay = overlays_.rbegin(); overlay != overlays_.rend(); ++overlay) {
      ARROW_RETURN_NOT_OK(AddLayer(*overlay, leaf_ids, column));
    }
    if (column.layers.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(column.field, wire::ToArrow(Pruned(*top_, column.path)));
    ARROW_ASSIGN_OR_RAISE(column.leaves, encoding::LeavesOf(*column.field));
    columns_.push_back(std::move(column));
    return arrow::Status::OK();
  }

  arrow::Status AddLayer(Overlay& overlay, const std::vector<int32_t>& leaf_ids, Column& column) {
    const wire::DataFile& data_file = overlay.message.data_file;
    Layer layer;
    std::vector<size_t> positions;
    for (const int32_t id : leaf_ids) {
      const auto found = std::ranges::find(data_file.fields, id);
      if (found == data_file.fields.end()) continue;
      positions.push_back(static_cast<size_t>(found - data_file.fields.begin()));
    }
    if (positions.empty()) return arrow::Status::OK();
    const auto bitmap = [&](size_t position) { return wire::BitmapOf(overlay.message, position); };
    const bool whole =
        positions.size() == leaf_ids.size() && std::ranges::all_of(positions, [&](size_t position) {
          return bitmap(position) == bitmap(positions.front());
        });
    if (!whole) {
      return Unsupported("overlay {} supplies a part of a field that is one column",
                         data_file.path);
    }
    if (data_file.column_indices.size() != data_file.fields.size()) {
      return Corrupt({data_file.path}, "an overlay lists {} fields and {} columns",
                     data_file.fields.size(), data_file.column_indices.size());
    }
    ARROW_RETURN_NOT_OK(OpenFile(overlay));
    for (const size_t position : positions) {
      const int32_t index = data_file.column_indices[position];
      if (index < 0 || static_cast<size_t>(index) >= overlay.file->metadata().columns.size()) {
        return Corrupt({overlay.file->path()}, "it has {} columns, but an overlay names column {}",
                       overlay.file->metadata().columns.size(), index);
      }
      layer.columns.push_back(static_cast<uint32_t>(index));
    }
    layer.file = overlay.file;
    layer.coverage = overlay.coverages[overlay.message.per_field ? positions.front() : 0];
    column.layers.push_back(std::move(layer));
    return arrow::Status::OK();
  }

  arrow::Status OpenFile(Overlay& overlay) {
    if (overlay.file != nullptr) return arrow::Status::OK();
    for (const std::string& bitmap : overlay.message.offset_bitmaps) {
      ARROW_ASSIGN_OR_RAISE(auto rows,
                            table::ParseRoaring(wire::AsBytes(bitmap), {snapshot_.manifest->path}));
      overlay.coverages.push_back(std::make_shared<const Coverage>(std::move(rows)));
    }
    return OpenDataFile(snapshot_, overlay.message.data_file).Value(&overlay.file);
  }

  const Snapshot& snapshot_;
  const wire::DataFragment& fragment_;
  const wire::Field* top_ = nullptr;  // the field that is visited
  std::vector<Overlay> overlays_;     // oldest first
  std::vector<Column> columns_;
};

arrow::Result<OverlayReader> OverlayReader::Open(const Snapshot& snapshot,
                                                 const wire::DataFragment& fragment,
                                                 const Projection& projection) {
  OverlayReader reader;
  if (fragment.overlays.empty()) return reader;
  ARROW_RETURN_NOT_OK(query::InitCompute());
  ARROW_ASSIGN_OR_RAISE(reader.columns_, Opener(snapshot, fragment).Run(projection));
  return reader;
}

arrow::Result<std::shared_ptr<arrow::Array>> OverlayReader::Merge(
    const Column& column, std::span<const RowRange> rows, uint64_t most_bytes,
    const std::shared_ptr<arrow::Array>& base) {
  const auto num_rows = static_cast<uint32_t>(base->length());
  std::vector<uint32_t> picks(num_rows);
  std::iota(picks.begin(), picks.end(), 0);
  arrow::ArrayVector parts = {base};
  uint64_t end = num_rows;  // of the parts so far
  for (const Layer& layer : column.layers) {
    std::vector<uint64_t> ranks;
    ForEachCovered(rows, *layer.coverage, [&](uint64_t position, uint64_t rank) {
      if (picks[position] != position) return;  // a newer one has it
      picks[position] = static_cast<uint32_t>(end + ranks.size());
      ranks.push_back(rank);
    });
    if (ranks.empty()) continue;
    std::vector<file::ColumnRead> reads;
    for (size_t i = 0; i < layer.columns.size(); ++i) {
      reads.push_back({layer.columns[i], &column.leaves[i]});
    }
    ARROW_ASSIGN_OR_RAISE(auto leaves, layer.file->ReadColumns(reads, ToRanges(ranks), most_bytes));
    ARROW_ASSIGN_OR_RAISE(auto values, encoding::AssembleField(*column.field, std::move(leaves)));
    for (size_t depth = 0; depth < column.path.size(); ++depth) {
      ARROW_ASSIGN_OR_RAISE(values,
                            static_cast<const arrow::StructArray&>(*values).GetFlattenedField(0));
    }
    if (static_cast<uint64_t>(values->length()) != ranks.size()) {
      return Corrupt({layer.file->path()}, "an overlay gave {} values, expected {}",
                     values->length(), ranks.size());
    }
    parts.push_back(std::move(values));
    end += ranks.size();
  }
  if (parts.size() == 1) return base;
  ARROW_ASSIGN_OR_RAISE(const auto all, arrow::Concatenate(parts));
  return Pick(all, picks);
}

arrow::Status OverlayReader::Apply(std::span<const RowRange> rows, uint64_t most_bytes,
                                   arrow::ArrayVector* arrays) const {
  for (const Column& column : columns_) {
    std::shared_ptr<arrow::Array>& whole = (*arrays)[column.read_field];
    const auto base = arrow::MakeArray(PartAt(whole->data(), column.path));
    ARROW_ASSIGN_OR_RAISE(const auto merged, Merge(column, rows, most_bytes, base));
    if (merged == base) continue;
    whole = arrow::MakeArray(WithPart(whole->data(), column.path, merged->data()));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::read
