#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "dataset/write/sliceable_reader.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/write.h"

namespace glaive {
namespace {

// Several slices may be read at once, and share what one scan may read ahead.
constexpr uint64_t kReadAheadBytes = uint64_t{16} << 20;

class DatasetReader final : public dataset::SliceableReader {
 public:
  static arrow::Result<std::shared_ptr<DatasetReader>> Make(const Dataset& dataset) {
    auto reader = std::make_shared<DatasetReader>(dataset);
    ARROW_ASSIGN_OR_RAISE(const auto fragments, dataset.Fragments());
    for (const FragmentMetadata& fragment : fragments) {
      uint64_t bytes = fragment.num_rows();  // at least, so that no row is for nothing
      for (const DataFileInfo& file : fragment.files()) bytes += file.file_size_bytes;
      reader->ids_.push_back(fragment.id());
      reader->first_rows_.push_back(reader->first_rows_.back() + fragment.num_rows());
      reader->bytes_.push_back(reader->bytes_.back() + bytes);
    }
    return reader;
  }

  explicit DatasetReader(const Dataset& dataset) : dataset_(dataset) {}

  std::shared_ptr<arrow::Schema> schema() const override { return dataset_.schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    if (all_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(auto scan, Scan(dataset_, {}));
      all_ = ToReader(std::move(scan));
    }
    return all_->ReadNext(batch);
  }

  uint64_t num_rows() const override { return first_rows_.back(); }

  uint64_t BytesBefore(uint64_t row) const override {
    if (row >= num_rows()) return bytes_.back();
    const size_t index = FragmentOf(row);
    const double share = static_cast<double>(row - first_rows_[index]) /
                         static_cast<double>(first_rows_[index + 1] - first_rows_[index]);
    return bytes_[index] +
           static_cast<uint64_t>(share * static_cast<double>(bytes_[index + 1] - bytes_[index]));
  }

  bool is_in_memory() const override { return false; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Slice(uint64_t first_row,
                                                                 uint64_t num_rows) const override {
    const size_t begin = FragmentOf(first_row);
    const size_t end = FragmentOf(first_row + num_rows - 1) + 1;
    ScanOptions options = {.limit = num_rows,
                           .offset = first_row - first_rows_[begin],
                           .read_ahead_bytes = kReadAheadBytes};
    options.fragment_ids.emplace(ids_.begin() + static_cast<std::ptrdiff_t>(begin),
                                 ids_.begin() + static_cast<std::ptrdiff_t>(end));
    ARROW_ASSIGN_OR_RAISE(auto scan, Scan(dataset_, options));
    return ToReader(std::move(scan));
  }

 private:
  size_t FragmentOf(uint64_t row) const {
    const auto past = std::ranges::upper_bound(first_rows_, row);
    return static_cast<size_t>(past - first_rows_.begin()) - 1;
  }

  const Dataset dataset_;
  std::vector<uint64_t> ids_;
  std::vector<uint64_t> first_rows_ = {0};  // of each fragment, and one past the last row
  std::vector<uint64_t> bytes_ = {0};       // before each fragment, and of all
  std::shared_ptr<arrow::RecordBatchReader> all_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadDataset(const Dataset& dataset) {
  return DatasetReader::Make(dataset);
}

}  // namespace glaive
