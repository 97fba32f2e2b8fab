// Any bytes as a data file: footer, descriptor, column metadata, and every row of every column.
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "bytes.h"
#include "glaive/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  glaive::fuzz::PutFile("/fuzz.lance", data, size);
  const auto reader = glaive::DataFileReader::Open("memory:///fuzz.lance");
  if (!reader.ok()) return 0;
  const uint64_t num_rows = (*reader)->info().num_rows;
  // A constant page says in a few bytes that there are 2^60 rows; a reader takes some at a time.
  const uint64_t rows_read = num_rows < 5000 ? num_rows : 5000;
  if (auto batches = (*reader)->Read(0, rows_read, 1024); batches.ok()) {
    while (true) {
      const auto batch = (*batches)->Next();
      if (!batch.ok() || *batch == nullptr) break;
      const arrow::Status valid = (*batch)->ValidateFull();
      if (!valid.ok() && valid.ToString().find("UTF8") == std::string::npos) valid.Abort();
    }
  }
  const std::vector<uint64_t> rows = {0, num_rows / 2, num_rows == 0 ? 0 : num_rows - 1};
  if (auto taken = (*reader)->Take(rows, 1024); taken.ok()) (void)(*taken)->ToTable();
  return 0;
}
