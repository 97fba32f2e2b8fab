// Opens a table, scans it, appends its own first rows to it, and compacts it.
#include <iostream>

#include <arrow/record_batch.h>

#include <glaive/compaction.h>
#include <glaive/dataset.h>
#include <glaive/scan.h>
#include <glaive/write.h>

arrow::Status Run(const char* uri) {
  ARROW_ASSIGN_OR_RAISE(auto dataset, glaive::Dataset::Open(uri));
  ARROW_ASSIGN_OR_RAISE(auto scan, glaive::Scan(dataset, {.columns = {{"id"}}}));
  uint64_t rows = 0;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, scan->Next());
    if (batch == nullptr) break;
    rows += static_cast<uint64_t>(batch->num_rows());
  }
  ARROW_ASSIGN_OR_RAISE(auto first, glaive::Scan(dataset, {.limit = 100}));
  ARROW_ASSIGN_OR_RAISE(auto appended, glaive::WriteDataset(glaive::ToReader(std::move(first)), uri,
                                                            {.mode = glaive::WriteMode::kAppend}));
  ARROW_ASSIGN_OR_RAISE(auto compacted, glaive::CompactFiles(appended.dataset));
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows_now, compacted.dataset.CountRows());
  std::cout << rows << " rows, then " << rows_now << "; " << compacted.metrics.fragments_removed
            << " fragments became " << compacted.metrics.fragments_added << '\n';
  return rows_now == rows + 100 ? arrow::Status::OK() : arrow::Status::Invalid("rows were lost");
}

int main(int argc, char** argv) {
  const arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("embed URI");
  if (!status.ok()) std::cerr << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}
