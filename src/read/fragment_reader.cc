#include "read/fragment_reader.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "core/error.h"

namespace glaive::read {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 32;  // an address has 32 bits for the offset

arrow::Result<std::shared_ptr<arrow::Array>> GoDown(std::shared_ptr<arrow::Array> array,
                                                    std::span<const int> path) {
  for (const int child : path) {
    ARROW_ASSIGN_OR_RAISE(array,
                          static_cast<const arrow::StructArray&>(*array).GetFlattenedField(child));
  }
  return array;
}

}  // namespace

arrow::Result<std::shared_ptr<const FragmentReader>> FragmentReader::Open(
    Snapshot snapshot, wire::DataFragment fragment, std::shared_ptr<const Projection> projection,
    uint64_t first_live_row) {
  std::shared_ptr<FragmentReader> reader(new FragmentReader());
  reader->snapshot_ = std::move(snapshot);
  reader->fragment_ = std::move(fragment);
  reader->projection_ = std::move(projection);
  reader->first_live_row_ = first_live_row;
  ARROW_ASSIGN_OR_RAISE(reader->sources_, FindSources(*reader->projection_, reader->fragment_));
  ARROW_ASSIGN_OR_RAISE(reader->physical_rows_, PhysicalRows(reader->snapshot_, reader->fragment_));
  if (reader->physical_rows_ > kMostRows) {
    return Corrupt({reader->snapshot_.manifest->path}, "fragment {} has {} rows",
                   reader->fragment_.id, reader->physical_rows_);
  }
  ARROW_RETURN_NOT_OK(reader->OpenFiles());
  ARROW_ASSIGN_OR_RAISE(reader->overlays_, OverlayReader::Open(reader->snapshot_, reader->fragment_,
                                                               *reader->projection_));
  ARROW_ASSIGN_OR_RAISE(reader->deletions_,
                        Deletions(reader->snapshot_, reader->fragment_, reader->physical_rows_));
  ARROW_RETURN_NOT_OK(reader->OpenLineage());
  return reader;
}

arrow::Status FragmentReader::OpenLineage() {
  if (projection_->Has(SystemColumn::kRowId)) {
    ARROW_ASSIGN_OR_RAISE(row_ids_, StableRowIds(snapshot_, fragment_, physical_rows_));
  }
  if (projection_->Has(SystemColumn::kCreatedAtVersion)) {
    ARROW_ASSIGN_OR_RAISE(created_at_, CreatedAtVersions(snapshot_, fragment_, physical_rows_));
  }
  if (projection_->Has(SystemColumn::kLastUpdatedAtVersion)) {
    ARROW_ASSIGN_OR_RAISE(last_updated_at_,
                          LastUpdatedAtVersions(snapshot_, fragment_, physical_rows_));
  }
  return arrow::Status::OK();
}

arrow::Status FragmentReader::OpenFiles() {
  files_.resize(fragment_.files.size());
  reads_.resize(fragment_.files.size());
  bool any = false;
  for (size_t i = 0; i < sources_.size(); ++i) {
    for (size_t j = 0; j < sources_[i].columns.size(); ++j) {
      const StoredColumn& column = sources_[i].columns[j];
      any = true;
      reads_[column.file].columns.push_back({column.column, &sources_[i].leaves[j]});
      reads_[column.file].places.emplace_back(i, j);
      auto& file = files_[column.file];
      if (file == nullptr) {
        ARROW_ASSIGN_OR_RAISE(file, OpenFile(fragment_.files[column.file]));
      }
      if (column.column >= file->metadata().columns.size()) {
        return Corrupt({file->path()}, "it has {} columns, but fragment {} names column {}",
                       file->metadata().columns.size(), fragment_.id, column.column);
      }
    }
  }
  // Row ids and nulls are made without a file, but not on a manifest's word alone where a file can
  // confirm it. There is none once all columns that had values were dropped.
  if (any || fragment_.files.empty()) return arrow::Status::OK();
  return OpenFile(fragment_.files.front()).status();
}

arrow::Result<std::shared_ptr<file::FileReader>> FragmentReader::OpenFile(
    const wire::DataFile& data_file) const {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenDataFile(snapshot_, data_file));
  if (file->metadata().num_rows == physical_rows_) return file;
  return Corrupt({file->path()}, "it holds {} rows, expected {} as fragment {} has",
                 file->metadata().num_rows, physical_rows_, fragment_.id);
}

file::FileReader::RowSize FragmentReader::SizeFrom(uint64_t row) const {
  file::FileReader::RowSize size;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (reads_[i].columns.empty()) continue;
    const auto of_file = files_[i]->SizeFrom(reads_[i].columns, row);
    size.bytes += of_file.bytes;
    size.end = std::min(size.end, of_file.end);
  }
  // What is made without a file, nulls and row ids, counts as well.
  size.bytes = std::max(size.bytes, static_cast<double>(projection_->fixed_bytes_per_row));
  return size;
}

arrow::Result<arrow::ArrayVector> FragmentReader::ReadFields(std::span<const RowRange> rows,
                                                             uint64_t most_bytes) const {
  std::vector<std::vector<encoding::LeafRows>> leaves(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) leaves[i].resize(sources_[i].columns.size());
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] == nullptr) continue;
    const FileReads& reads = reads_[i];
    ARROW_ASSIGN_OR_RAISE(auto decoded, files_[i]->ReadColumns(reads.columns, rows, most_bytes));
    for (size_t k = 0; k < decoded.size(); ++k) {
      const auto& [source, leaf] = reads.places[k];
      leaves[source][leaf] = std::move(decoded[k]);
    }
  }
  const auto num_rows = static_cast<int64_t>(CountRows(rows));
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const arrow::Field& field = *projection_->fields[i].arrow;
    if (sources_[i].stored == nullptr) {
      ARROW_ASSIGN_OR_RAISE(auto nulls, arrow::MakeArrayOfNull(field.type(), num_rows));
      arrays.push_back(std::move(nulls));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto array,
                          encoding::AssembleField(*sources_[i].stored, std::move(leaves[i])));
    if (array->length() != num_rows) {
      return Corrupt({files_[sources_[i].columns[0].file]->path()},
                     "column '{}' gave {} rows, expected {}", field.name(), array->length(),
                     num_rows);
    }
    ARROW_ASSIGN_OR_RAISE(array, AddMissing(array, field));
    arrays.push_back(std::move(array));
  }
  ARROW_RETURN_NOT_OK(overlays_.Apply(rows, most_bytes, &arrays));
  return arrays;
}

// Live rows are counted; a deleted one has the offset of the next that is live.
void FragmentReader::FillOffsets(std::span<const RowRange> rows, uint64_t* out) const {
  const auto deleted = deletions_->offsets();
  auto next = deleted.begin();
  for (const RowRange& range : rows) {
    next = std::lower_bound(next, deleted.end(), range.begin);
    for (uint64_t row = range.begin; row < range.end; ++row) {
      *out++ = first_live_row_ + row - static_cast<uint64_t>(next - deleted.begin());
      if (next != deleted.end() && *next == row) ++next;
    }
  }
}

void FragmentReader::FillSystem(SystemColumn column, std::span<const RowRange> rows,
                                uint64_t* out) const {
  switch (column) {
    case SystemColumn::kRowOffset: return FillOffsets(rows, out);
    case SystemColumn::kCreatedAtVersion: return created_at_->Get(rows, out);
    case SystemColumn::kLastUpdatedAtVersion: return last_updated_at_->Get(rows, out);
    case SystemColumn::kRowId:
      if (row_ids_) return row_ids_->Get(rows, out);
      break;
    case SystemColumn::kRowAddress: break;
  }
  const uint64_t base = fragment_.id << 32;
  for (const RowRange& range : rows) {
    for (uint64_t row = range.begin; row < range.end; ++row) *out++ = base | row;
  }
}

// Null where every row is live.
arrow::Result<std::shared_ptr<arrow::Buffer>> FragmentReader::LiveBitmap(
    std::span<const RowRange> rows, int64_t* deleted_count) const {
  *deleted_count = 0;
  std::shared_ptr<arrow::Buffer> bitmap;
  const auto deleted = deletions_->offsets();
  auto next = deleted.begin();
  uint64_t position = 0;
  for (const RowRange& range : rows) {
    if (next == deleted.end()) break;
    next = std::lower_bound(next, deleted.end(), range.begin);
    for (; next != deleted.end() && *next < range.end; ++next, ++*deleted_count) {
      if (bitmap == nullptr) {
        const auto num_rows = static_cast<int64_t>(CountRows(rows));
        ARROW_ASSIGN_OR_RAISE(bitmap, arrow::AllocateBitmap(num_rows));
        arrow::bit_util::SetBitsTo(bitmap->mutable_data(), 0, num_rows, true);
      }
      arrow::bit_util::ClearBit(bitmap->mutable_data(),
                                static_cast<int64_t>(position + (*next - range.begin)));
    }
    position += range.size();
  }
  return bitmap;
}

arrow::Result<std::shared_ptr<arrow::Array>> FragmentReader::SystemValues(
    SystemColumn column, std::span<const RowRange> rows) const {
  const uint64_t num_rows = CountRows(rows);
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(static_cast<int64_t>(num_rows * sizeof(uint64_t))));
  FillSystem(column, rows, reinterpret_cast<uint64_t*>(values->mutable_data()));
  // What a deleted row was called is not told; where it stands and which versions it is of are.
  std::shared_ptr<arrow::Buffer> validity;
  int64_t null_count = 0;
  if (column == SystemColumn::kRowId || column == SystemColumn::kRowAddress) {
    ARROW_ASSIGN_OR_RAISE(validity, LiveBitmap(rows, &null_count));
  }
  return arrow::MakeArray(arrow::ArrayData::Make(arrow::uint64(), static_cast<int64_t>(num_rows),
                                                 {validity, values}, null_count));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FragmentReader::Read(
    std::span<const RowRange> rows, uint64_t most_bytes) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::ArrayVector fields, ReadFields(rows, most_bytes));
  arrow::ArrayVector columns;
  for (const OutputColumn& output : projection_->outputs) {
    if (output.system) {
      ARROW_ASSIGN_OR_RAISE(auto values, SystemValues(*output.system, rows));
      columns.push_back(std::move(values));
    } else {
      ARROW_ASSIGN_OR_RAISE(auto values, GoDown(fields[output.read_field], output.path));
      columns.push_back(std::move(values));
    }
  }
  return arrow::RecordBatch::Make(projection_->schema, static_cast<int64_t>(CountRows(rows)),
                                  std::move(columns));
}

}  // namespace glaive::read
