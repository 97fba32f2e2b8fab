#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include "glaive/files.h"
#include "io/object_store.h"
#include "testing/golden_file.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using testing::BytesOf;
using ::testing::ElementsAre;
using testing::GoldenFile;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;

constexpr const char* kUri = "memory://data_file_reader_test/a.lance";

class DataFileReaderTest : public ::testing::Test {
 protected:
  DataFileReaderTest() {
    const auto resolved = io::Resolve(kUri).ValueOrDie();
    EXPECT_THAT(resolved.store->Put(resolved.path, BytesOf(GoldenFile())), IsOk());
    reader_ = DataFileReader::Open(kUri).ValueOrDie();
  }

  // The values of `a` in each batch, -1 for null.
  static std::vector<std::vector<int>> ValuesOf(
      const arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>& batches) {
    EXPECT_THAT(batches, IsOk());
    std::vector<std::vector<int>> values;
    std::shared_ptr<arrow::RecordBatch> batch;
    while ((*batches)->ReadNext(&batch).ok() && batch != nullptr) {
      const auto& array = static_cast<const arrow::Int32Array&>(*batch->GetColumnByName("a"));
      std::vector<int>& of_batch = values.emplace_back();
      for (int64_t i = 0; i < array.length(); ++i) {
        of_batch.push_back(array.IsNull(i) ? -1 : array.Value(i));
      }
    }
    return values;
  }

  std::shared_ptr<DataFileReader> reader_;
};

using Values = std::vector<int>;

TEST_F(DataFileReaderTest, SaysWhatPylanceSaysOfTheFile) {
  const FileInfo& info = reader_->info();
  EXPECT_EQ(info.num_rows, 4);
  EXPECT_EQ(info.major_version, 2);
  EXPECT_EQ(info.minor_version, 1);
  EXPECT_EQ(info.num_data_bytes, 256);
  EXPECT_EQ(info.num_column_metadata_bytes, 268);
  EXPECT_EQ(info.num_global_buffer_bytes, 61);
  EXPECT_EQ(info.schema->ToString(), "a: int32\ns: string");
  ASSERT_EQ(info.columns.size(), 2);
  ASSERT_EQ(info.columns[1].pages.size(), 1);
  const PageInfo& page = info.columns[1].pages[0];
  EXPECT_EQ(page.buffers[1].position, 192);
  EXPECT_EQ(page.buffers[1].size, 48);
  EXPECT_EQ(page.num_rows, 4);
  EXPECT_EQ(page.encoding, "MiniBlock(Variable(Flat(32)), def Flat(16))");
  EXPECT_EQ(reader_->ReadGlobalBuffer(0).ValueOrDie()->size(), 61);
}

TEST_F(DataFileReaderTest, ReadsRowsInBatches) {
  EXPECT_THAT(ValuesOf(reader_->Read(0, 4, 3)), ElementsAre(Values{1, 2, -1}, Values{4}));
  EXPECT_THAT(ValuesOf(reader_->Read(1, 2, 1024)), ElementsAre(Values{2, -1}));
  EXPECT_THAT(ValuesOf(reader_->Read(4, 0, 1024)), IsEmpty());
  EXPECT_THAT(ValuesOf(reader_->Take(std::vector<uint64_t>{0, 1, 3}, 2)),
              ElementsAre(Values{1, 2}, Values{4}));
  EXPECT_THAT(ValuesOf(reader_->Take({}, 2)), IsEmpty());
  const auto table = reader_->Read(0, 4, 2).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_THAT(table->ValidateFull(), IsOk());
  EXPECT_EQ(table->column(1)->GetScalar(3).ValueOrDie()->ToString(), "zzz");
}

TEST_F(DataFileReaderTest, BatchesOutliveTheReader) {
  const auto batches = reader_->Read(0, 4, 4);
  reader_.reset();
  EXPECT_THAT(ValuesOf(batches), ElementsAre(Values{1, 2, -1, 4}));
}

TEST_F(DataFileReaderTest, RowsThatAreNotThereAreRefused) {
  EXPECT_THAT(reader_->Read(0, 5, 10), IsError(ErrorKind::kInvalidInput, "the file has 4 rows"));
  EXPECT_THAT(reader_->Read(UINT64_MAX, 2, 10), IsError(ErrorKind::kInvalidInput, "4 rows"));
  EXPECT_THAT(reader_->Read(0, 4, 0), IsError(ErrorKind::kInvalidInput, "batch"));
  EXPECT_THAT(reader_->Take(std::vector<uint64_t>{4}, 10),
              IsError(ErrorKind::kInvalidInput, "row 4"));
  EXPECT_THAT(reader_->Take(std::vector<uint64_t>{1, 1}, 10),
              IsError(ErrorKind::kInvalidInput, "strictly ascending"));
  EXPECT_THAT(reader_->Take(std::vector<uint64_t>{3, 0}, 10),
              IsError(ErrorKind::kInvalidInput, "strictly ascending"));
}

TEST_F(DataFileReaderTest, ColumnsComeAsAskedFor) {
  const auto reader = DataFileReader::Open(kUri, std::vector<std::string>{"s", "a"}).ValueOrDie();
  EXPECT_EQ(reader->schema()->ToString(), "s: string\na: int32");
  EXPECT_EQ(reader->info().schema->num_fields(), 2);
  EXPECT_THAT(ValuesOf(reader->Read(3, 1, 8)), ElementsAre(Values{4}));
  EXPECT_THAT(DataFileReader::Open(kUri, std::vector<std::string>{"zz"}),
              IsError(ErrorKind::kInvalidInput, "column 'zz'"));
  EXPECT_THAT(DataFileReader::Open("memory://data_file_reader_test/none"),
              IsError(ErrorKind::kFileNotFound, "none"));
}

}  // namespace
}  // namespace glaive
