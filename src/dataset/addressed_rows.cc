#include "dataset/addressed_rows.h"

#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "query/select_rows.h"
#include "read/fragment_reader.h"
#include "read/row_ranges.h"

namespace glaive::dataset {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(
    const read::Snapshot& snapshot, const std::shared_ptr<const read::Projection>& projection,
    std::span<const uint64_t> addresses) {
  arrow::RecordBatchVector batches;
  std::vector<uint32_t> positions;  // of each address, among the rows that are read
  uint32_t num_read = 0;
  for (size_t i = 0; i < addresses.size();) {
    const uint64_t fragment_id = addresses[i] >> 32;
    std::vector<uint64_t> rows;
    for (; i < addresses.size() && addresses[i] >> 32 == fragment_id; ++i) {
      const uint64_t row = addresses[i] & UINT32_MAX;
      if (rows.empty() || rows.back() != row) rows.push_back(row);
      positions.push_back(num_read + static_cast<uint32_t>(rows.size()) - 1);
    }
    num_read += static_cast<uint32_t>(rows.size());
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment fragment,
                          snapshot.manifest->fragments.Find(fragment_id)->Parse());
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          read::FragmentReader::Open(snapshot, std::move(fragment), projection));
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Read(read::ToRanges(rows)));
    batches.push_back(std::move(batch));
  }
  if (batches.empty()) return arrow::RecordBatch::MakeEmpty(projection->schema);
  std::shared_ptr<arrow::RecordBatch> joined = batches.front();
  if (projection->schema->num_fields() == 0) {
    return arrow::RecordBatch::Make(projection->schema, static_cast<int64_t>(positions.size()),
                                    arrow::ArrayVector{});
  }
  if (batches.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(joined, arrow::ConcatenateRecordBatches(batches));
  }
  if (num_read == positions.size()) return joined;
  return query::SelectRows(joined, positions);
}

}  // namespace glaive::dataset
