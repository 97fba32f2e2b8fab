#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "core/ranges.h"
#include "file/input_rows.h"
#include "file/page_end.h"
#include "io/object_store.h"
#include "wire/file_metadata.h"
#include "wire/schema.h"

namespace glaive {
class Executor;
}  // namespace glaive

namespace glaive::file {

// What bytes go through on their way into the store.
using OutputFilter =
    std::function<std::unique_ptr<io::ObjectWriter>(std::unique_ptr<io::ObjectWriter>)>;

// Told how many bytes of rows and pages a writer holds more, or less.
using HeldBytes = std::function<void(int64_t)>;

struct FileWriterOptions {
  FileVersion version = FileVersion::k2_2;
  uint64_t data_cache_bytes = uint64_t{256} << 20;  // of all open pages together
  uint64_t max_page_bytes = uint64_t{256} << 20;    // of one page
  std::optional<uint64_t> max_rows_per_group;       // ends a page that holds 8 MiB
  uint64_t max_rows = UINT64_MAX;                   // of the file
  uint64_t max_bytes = UINT64_MAX;  // of the file: it ends at the row where bytes written and bytes
                                    // of open pages reach this
  bool keep_slices = false;  // the batches hold little more memory than their rows, so that slices
                             // of them may wait in open pages; else those are copied
  bool rows_stay = false;    // the batches are in memory all the time, whoever writes them: slices
                             // are kept, and not counted against the budget of pages
  bool is_new = false;       // no other file ever had the name, as ObjectStore::OpenNew wants it
  std::vector<int> copied_fields;  // top-level fields that the batches lack, ascending: AddPage
                                   // brings their pages
  OutputFilter output = nullptr;
  HeldBytes on_held = nullptr;
  Executor* executor = nullptr;  // encodes pages; null: the process's own
};

struct FileSummary {
  std::string path;
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;
  FileVersion version = FileVersion::k2_2;
  std::vector<int32_t> fields;          // field id of each column
  std::vector<int32_t> column_indices;  // 0, 1, 2, ...
  uint64_t num_pages = 0;
  std::array<uint64_t, kNumPageEnds> pages_ended_by = {};  // indexed by PageEnd
};

// Writes one data file. Pages are encoded on the executor while the caller brings more rows, and
// written by the caller, as far as data_cache_bytes goes for them too. Rows go through a Coalescer,
// which alone decides where pages end: as if the rows came one by one, so that neither the cutting
// of the input nor the number of threads leaves a trace. Not thread safe. Without Finish nothing is
// left behind.
class FileWriter {
 public:
  static arrow::Result<std::unique_ptr<FileWriter>> Create(std::shared_ptr<io::ObjectStore> store,
                                                           std::string path, wire::Schema schema,
                                                           FileWriterOptions options);
  ~FileWriter();

  // Takes rows of `batch` from row `offset` on and says how many: fewer than are left once the file
  // has reached one of its limits. Columns are matched by name, checked for type and for nulls in
  // fields that have none.
  arrow::Result<int64_t> Write(const std::shared_ptr<arrow::RecordBatch>& batch,
                               int64_t offset = 0);
  // The same for rows that an InputMatcher of the file's schema has made ready.
  arrow::Result<int64_t> Write(std::shared_ptr<const InputRows> rows, int64_t offset);

  bool full() const;
  uint64_t num_rows() const;

  // Copies what is held of the last batch, which may go then.
  arrow::Status LetGoOfInput();

  // A buffer that comes piece by piece, for AddPage. It is under way from BeginBuffer to EndBuffer:
  // nothing else may be called in between.
  arrow::Status BeginBuffer();
  arrow::Status WriteBuffer(std::span<const std::byte> bytes);
  arrow::Result<ByteRange> EndBuffer();

  // The next page of a leaf column of copied_fields. Its rows count on from the page before.
  void AddPage(size_t column, wire::Page page, PageEnd end);

  void AddSchemaMetadata(std::string key, std::string value);
  arrow::Result<uint32_t> AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer);  // from 1 on

  arrow::Result<FileSummary> Finish();

 private:
  FileWriter();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glaive::file
