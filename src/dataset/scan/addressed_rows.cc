#include "dataset/scan/addressed_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "core/too_large.h"
#include "dataset/scan/array_bytes.h"
#include "dataset/scan/gather.h"
#include "query/values/array_rows.h"
#include "read/fragment_reader.h"
#include "read/row_pieces.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{16} << 20;

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(
    const read::Snapshot& snapshot, const std::shared_ptr<const read::Projection>& projection,
    std::span<const uint64_t> addresses) {
  arrow::RecordBatchVector batches;
  std::vector<RowPlace> places;
  uint64_t num_read = 0;
  const bool is_single = addresses.size() == 1;
  uint64_t left = is_single ? UINT64_MAX : read::MostBytes(kBatchBytes);
  for (size_t i = 0; i < addresses.size();) {
    const uint64_t fragment_id = addresses[i] >> 32;
    const auto batch = static_cast<uint32_t>(batches.size());
    std::vector<uint64_t> rows;
    for (; i < addresses.size() && addresses[i] >> 32 == fragment_id; ++i) {
      const uint64_t row = addresses[i] & UINT32_MAX;
      if (rows.empty() || rows.back() != row) rows.push_back(row);
      places.push_back({batch, static_cast<uint32_t>(rows.size() - 1)});
    }
    num_read += rows.size();
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment fragment,
                          snapshot.manifest->fragments.Find(fragment_id)->Parse());
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          read::FragmentReader::Open(snapshot, std::move(fragment), projection));
    ARROW_ASSIGN_OR_RAISE(batches.emplace_back(), reader->Read(read::ToRanges(rows), left));
    if (!is_single) left -= std::min(left, BatchBytes(*batches.back()));
  }
  if (projection->schema->num_fields() > 0 && num_read == places.size()) {
    return query::JoinRows(projection->schema, batches);
  }
  if (CountGatherable(batches, places, {.bytes = read::MostBytes(kBatchBytes)}) < places.size()) {
    return TooLarge("{} rows of a table take more than a batch should", places.size());
  }
  return GatherRows(projection->schema, batches, places);
}

}  // namespace glaive::dataset
