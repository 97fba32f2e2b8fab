#include "dataset/compaction/plan/small_pages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "dataset/handle/dataset_state.h"
#include "dataset/scan/array_bytes.h"
#include "glaive/scan.h"
#include "read/snapshot.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kSmallPageBytes = uint64_t{32} << 20;
constexpr uint64_t kSampleBytes = uint64_t{1} << 20;  // encoded, of a column that looks so
constexpr uint64_t kMaxSampleRows = 1024;

// The top-level field that each field id belongs to.
void CollectNames(const std::vector<wire::Field>& fields, const std::string& top_level,
                  std::map<int32_t, std::string>& names) {
  for (const wire::Field& field : fields) {
    const std::string& name = top_level.empty() ? field.name : top_level;
    names.emplace(field.id, name);
    CollectNames(field.children, name, names);
  }
}

struct StoredPages {
  std::string top_level;
  uint64_t rows = 0;
  uint64_t pages = 0;
  uint64_t bytes = 0;  // encoded
};

// Of the columns that the schema has, one for each leaf.
arrow::Result<std::vector<StoredPages>> PagesOf(const read::Snapshot& snapshot,
                                                const wire::DataFragment& fragment) {
  std::map<int32_t, std::string> names;
  CollectNames(snapshot.manifest->schema.fields, "", names);
  std::vector<StoredPages> columns;
  for (const wire::DataFile& file : fragment.files) {
    const auto is_live = [&](int32_t field) { return names.contains(field); };
    if (std::ranges::none_of(file.fields, is_live)) continue;
    ARROW_ASSIGN_OR_RAISE(const auto reader, read::OpenDataFile(snapshot, file));
    const auto& stored = reader->metadata().columns;
    const size_t num_fields = std::min(file.fields.size(), file.column_indices.size());
    for (size_t i = 0; i < num_fields; ++i) {
      const auto column = static_cast<size_t>(file.column_indices[i]);
      if (file.column_indices[i] < 0 || column >= stored.size() || !is_live(file.fields[i])) {
        continue;
      }
      StoredPages& pages = columns.emplace_back();
      pages.top_level = names.at(file.fields[i]);
      pages.rows = reader->metadata().num_rows;
      pages.pages = stored[column].pages.size();
      for (const wire::Page& page : stored[column].pages) {
        for (const auto& buffer : page.buffers) pages.bytes += buffer.size;
      }
    }
  }
  return columns;
}

// The first rows of a fragment, which stand for all: as many as take about a MiB in the file.
arrow::Result<std::unique_ptr<ScanStream>> SampleOf(const Dataset& dataset, uint64_t fragment_id,
                                                    std::optional<std::vector<std::string>> columns,
                                                    uint64_t stored_row_bytes) {
  ScanOptions scan;
  scan.columns = std::move(columns);
  scan.fragment_ids = {fragment_id};
  scan.limit = std::clamp<uint64_t>(kSampleBytes / std::max<uint64_t>(1, stored_row_bytes), 1,
                                    kMaxSampleRows);
  return Scan(dataset, scan);
}

// What a row of a field takes in memory, a byte at least.
arrow::Result<double> RowBytes(const Dataset& dataset, uint64_t fragment_id,
                               const StoredPages& column) {
  ARROW_ASSIGN_OR_RAISE(
      const auto stream,
      SampleOf(dataset, fragment_id, std::vector{column.top_level}, column.bytes / column.rows));
  uint64_t rows = 0;
  uint64_t bytes = 0;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    rows += static_cast<uint64_t>(batch->num_rows());
    bytes += ArrayBytes(*batch->column_data(0), 0, batch->num_rows());
  }
  return rows == 0 ? 1 : std::max(1.0, static_cast<double>(bytes) / static_cast<double>(rows));
}

// The share of rows before which every page ends, since all columns together are above a limit.
arrow::Result<double> LargeRows(const Dataset& dataset, uint64_t fragment_id,
                                const std::vector<StoredPages>& columns, uint64_t limit) {
  uint64_t stored = 0;
  for (const StoredPages& column : columns) {
    if (column.rows > 0) stored += column.bytes / column.rows;
  }
  ARROW_ASSIGN_OR_RAISE(const auto stream, SampleOf(dataset, fragment_id, std::nullopt, stored));
  uint64_t rows = 0;
  uint64_t large = 0;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    for (int64_t row = 0; row < batch->num_rows(); ++row, ++rows) {
      uint64_t bytes = 0;
      for (const auto& column : batch->column_data()) bytes += ArrayBytes(*column, row, row + 1);
      if (bytes > limit) ++large;
    }
  }
  return rows == 0 ? 0 : static_cast<double>(large) / static_cast<double>(rows);
}

}  // namespace

arrow::Result<bool> HasSmallPages(const Dataset& dataset, const wire::DataFragment& fragment,
                                  const FileLimits& limits) {
  ARROW_ASSIGN_OR_RAISE(const auto columns, PagesOf(SnapshotOf(dataset), fragment));
  // The largest of all open pages is ended, so each holds an even share of the cache at least.
  const uint64_t share = limits.data_cache_bytes / std::max<size_t>(1, columns.size());
  const double page_bytes =
      static_cast<double>(std::max<uint64_t>(1, std::min(limits.max_page_bytes, share)));
  for (const StoredPages& column : columns) {
    double least = 1;
    if (limits.max_rows_per_group) {
      least += static_cast<double>(column.rows / *limits.max_rows_per_group);
    }
    const auto are_too_many = [&](double bytes) {
      return static_cast<double>(column.pages) > 2 * std::max(std::ceil(bytes / page_bytes), least);
    };
    if (column.rows == 0 || column.bytes >= column.pages * kSmallPageBytes ||
        !are_too_many(static_cast<double>(column.bytes))) {
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const double row_bytes, RowBytes(dataset, fragment.id, column));
    const double bytes = row_bytes * static_cast<double>(column.rows);
    if (!are_too_many(bytes)) continue;
    ARROW_ASSIGN_OR_RAISE(const double large_rows,
                          LargeRows(dataset, fragment.id, columns, limits.data_cache_bytes));
    least += large_rows * static_cast<double>(column.rows);
    if (are_too_many(bytes)) return true;
  }
  return false;
}

}  // namespace glaive::dataset
