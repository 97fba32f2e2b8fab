#include "table/rows/deletion_vector.h"

#include <algorithm>
#include <limits>

#include <arrow/array/array_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/compression.h>

#include "core/random.h"
#include "table/manifest/file_place.h"
#include "table/sets/roaring.h"

namespace glaive::table {
namespace {

// pylance's border between the two kinds of file.
constexpr uint64_t kMinRowsOfBitmap = 5000;

std::shared_ptr<arrow::Schema> RowIdSchema() {
  return arrow::schema({arrow::field("row_id", arrow::uint32(), /*nullable=*/false)});
}

// Only the one schema is a deletion file, so that nothing else of Arrow's format is ever decoded.
arrow::Result<std::vector<uint32_t>> ReadArrowFile(const std::shared_ptr<arrow::Buffer>& bytes,
                                                   uint64_t physical_rows, Location where) {
  // A compressed buffer says itself how large it will be; what holds offsets of this fragment
  // cannot need more.
  const uint64_t needed = physical_rows * sizeof(uint32_t) * 2 + (uint64_t{1} << 20);
  arrow::ProxyMemoryPool counted(arrow::default_memory_pool());  // the cap is on this file's bytes
  arrow::CappedMemoryPool pool(&counted, static_cast<int64_t>(needed) + bytes->size());
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &pool;
  options.use_threads = false;
  arrow::io::BufferReader source(bytes);
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        arrow::ipc::RecordBatchFileReader::Open(&source, options));
  const auto& schema = *reader->schema();
  if (schema.num_fields() != 1 || schema.field(0)->name() != "row_id" ||
      schema.field(0)->type()->id() != arrow::Type::UINT32 || reader->num_record_batches() != 1) {
    return Corrupt(where, "{} batches of {{{}}}, expected one of {{row_id: uint32}}",
                   reader->num_record_batches(), schema.ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, reader->ReadRecordBatch(0));
  ARROW_RETURN_NOT_OK(batch->ValidateFull());
  const auto& column = static_cast<const arrow::UInt32Array&>(*batch->column(0));
  if (column.null_count() != 0) return Corrupt(where, "a deleted row without an offset");
  return std::vector<uint32_t>(column.raw_values(), column.raw_values() + column.length());
}

arrow::Result<std::vector<uint32_t>> ReadBitmapFile(const std::shared_ptr<arrow::Buffer>& bytes,
                                                    uint64_t physical_rows, uint64_t num_deleted,
                                                    Location where) {
  const std::span raw(reinterpret_cast<const std::byte*>(bytes->data()),
                      static_cast<size_t>(bytes->size()));
  ARROW_ASSIGN_OR_RAISE(const auto ranges, ParseRoaring(raw, where));
  std::vector<uint32_t> offsets;
  if (!ranges.empty() && ranges.back().end > physical_rows) {
    return Corrupt(where, "row {} is deleted of a fragment of {}", ranges.back().end - 1,
                   physical_rows);
  }
  // A few bytes can name 2^32 rows: how many there are is looked at before they are listed.
  const uint64_t num_rows = CountRows(ranges);
  if (num_deleted != 0 && num_rows != num_deleted) {
    return Corrupt(where, "{} rows are deleted, the manifest says {}", num_rows, num_deleted);
  }
  offsets.reserve(num_rows);
  for (const RowRange& range : ranges) {
    for (uint64_t i = range.begin; i < range.end; ++i) offsets.push_back(static_cast<uint32_t>(i));
  }
  return offsets;
}

std::string NameOf(uint64_t fragment_id, const wire::DeletionFile& file) {
  const bool bitmap = file.file_type == wire::DeletionFileType::kBitmap;
  return std::to_string(fragment_id) + "-" + std::to_string(file.read_version) + "-" +
         std::to_string(file.id) + (bitmap ? ".bin" : ".arrow");
}

arrow::Result<std::string> ArrowFileOf(const DeletionVector& vector) {
  const auto values = arrow::Buffer::Wrap(vector.offsets().data(), vector.offsets().size());
  const auto length = static_cast<int64_t>(vector.size());
  const auto column = std::make_shared<arrow::UInt32Array>(length, values);
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  options.min_space_savings = 0.0;  // what zstd makes no smaller is stored raw
  ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(arrow::Compression::ZSTD));
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        arrow::ipc::MakeFileWriter(sink, RowIdSchema(), options));
  ARROW_RETURN_NOT_OK(
      writer->WriteRecordBatch(*arrow::RecordBatch::Make(RowIdSchema(), length, {column})));
  ARROW_RETURN_NOT_OK(writer->Close());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, sink->Finish());
  return bytes->ToString();
}

}  // namespace

bool DeletionVector::Contains(uint32_t offset) const {
  return std::ranges::binary_search(offsets_, offset);
}

DeletionVector DeletionVector::Union(const DeletionVector& other) const {
  std::vector<uint32_t> merged;
  merged.reserve(offsets_.size() + other.offsets_.size());
  std::ranges::set_union(offsets_, other.offsets_, std::back_inserter(merged));
  return DeletionVector(std::move(merged));
}

// Before the i-th deleted row there are offsets[i] - i live ones, a number that never falls.
uint64_t DeletionVector::PhysicalOffset(uint64_t live_offset) const {
  size_t begin = 0;
  size_t end = offsets_.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (offsets_[middle] - middle <= live_offset) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return live_offset + begin;
}

std::vector<RowRange> DeletionVector::LiveRanges(RowRange physical) const {
  std::vector<RowRange> ranges;
  auto deleted = std::ranges::lower_bound(offsets_, physical.begin);
  uint64_t begin = physical.begin;
  while (begin < physical.end) {
    const uint64_t end =
        deleted == offsets_.end() ? physical.end : std::min<uint64_t>(*deleted, physical.end);
    if (begin < end) ranges.push_back({begin, end});
    if (deleted == offsets_.end()) break;
    begin = uint64_t{*deleted++} + 1;
  }
  return ranges;
}

arrow::Result<DeletionVectorPtr> ReadDeletionFile(const TableLocation& table,
                                                  const Manifest& manifest, uint64_t fragment_id,
                                                  const wire::DeletionFile& file,
                                                  uint64_t physical_rows) {
  ARROW_ASSIGN_OR_RAISE(const FilePlace place, PlaceOf(table, manifest, FileKind::kDeletion,
                                                       NameOf(fragment_id, file), file.base_id));
  const Location where = {place.path};
  ARROW_ASSIGN_OR_RAISE(const auto reader, place.store->OpenRead(place.path));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size_bytes()}));
  physical_rows = std::min(physical_rows, uint64_t{std::numeric_limits<uint32_t>::max()} + 1);

  arrow::Result<std::vector<uint32_t>> read = std::vector<uint32_t>();
  switch (file.file_type) {
    case wire::DeletionFileType::kArrowArray:
      read = ReadArrowFile(bytes, physical_rows, where);
      break;
    case wire::DeletionFileType::kBitmap:
      read = ReadBitmapFile(bytes, physical_rows, file.num_deleted_rows, where);
      break;
    default:
      return Unsupported(where, "deletion files of type {}", static_cast<uint32_t>(file.file_type));
  }
  if (!read.ok() && ErrorDetail::Of(read.status()) == nullptr) {
    return Corrupt(where, "not a deletion file: {}", read.status().message());
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<uint32_t> offsets, std::move(read));
  if (!std::ranges::is_sorted(offsets)) std::ranges::sort(offsets);
  const auto repeated = std::ranges::unique(offsets);
  offsets.erase(repeated.begin(), repeated.end());
  if (!offsets.empty() && offsets.back() >= physical_rows) {
    return Corrupt(where, "row {} is deleted of a fragment of {}", offsets.back(), physical_rows);
  }
  if (file.num_deleted_rows != 0 && file.num_deleted_rows != offsets.size()) {
    return Corrupt(where, "{} rows are deleted, the manifest says {}", offsets.size(),
                   file.num_deleted_rows);
  }
  return std::make_shared<const DeletionVector>(std::move(offsets));
}

std::string DeletionFilePath(uint64_t fragment_id, const wire::DeletionFile& file) {
  return "_deletions/" + NameOf(fragment_id, file);
}

arrow::Result<wire::DeletionFile> WriteDeletionFile(const TableLocation& table,
                                                    uint64_t fragment_id, uint64_t read_version,
                                                    const DeletionVector& vector) {
  wire::DeletionFile file{
      .read_version = read_version, .id = Random64(), .num_deleted_rows = vector.size()};
  std::string bytes;
  if (vector.size() >= kMinRowsOfBitmap) {
    file.file_type = wire::DeletionFileType::kBitmap;
    bytes = SerializeRoaring(RangesOf(vector.offsets()));
  } else {
    ARROW_ASSIGN_OR_RAISE(bytes, ArrowFileOf(vector));
  }
  const std::string path = table.Path(DeletionFilePath(fragment_id, file));
  const arrow::Status put =
      table.store->Put(path, std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (put.ok()) return file;
  // Only the answer may have been lost, and nobody else knows the name.
  static_cast<void>(table.store->Delete(path));
  return put;
}

}  // namespace glaive::table
