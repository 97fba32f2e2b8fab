#include "file/file_metadata.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "file/footer.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/golden_file.h"
#include "testing/matchers.h"

namespace glaive::file {
namespace {

using testing::BytesOf;
using testing::CountingStore;
using ::testing::ElementsAre;
using testing::GoldenFile;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;

using MetadataPtr = std::shared_ptr<const FileMetadata>;

arrow::Result<MetadataPtr> ReadFrom(const std::string& bytes) {
  const auto store = io::MakeMemoryStore();
  ARROW_RETURN_NOT_OK(store->Put("/a.lance", BytesOf(bytes)));
  ARROW_ASSIGN_OR_RAISE(const auto reader, store->OpenRead("/a.lance"));
  ARROW_ASSIGN_OR_RAISE(auto file, ReadFileMetadata(*reader, "/a.lance"));
  return std::move(file.metadata);
}

template <typename T>
void Append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// A file of some columns whose pages may say anything. Its data region has `data_size` bytes.
std::string FileOf(const std::vector<wire::ColumnMetadata>& columns, uint64_t num_rows,
                   uint64_t data_size = 1024) {
  std::string bytes(data_size, 'H');
  const std::string descriptor = wire::Serialize(wire::FileDescriptor{.num_rows = num_rows});
  bytes += descriptor;
  const uint64_t column_metadata = bytes.size();
  std::string table;
  for (const wire::ColumnMetadata& column : columns) {
    const std::string message = wire::Serialize(column);
    Append(table, uint64_t{bytes.size()});
    Append(table, uint64_t{message.size()});
    bytes += message;
  }
  const uint64_t column_table = bytes.size();
  bytes += table;
  const uint64_t global_table = bytes.size();
  Append(bytes, data_size);
  Append(bytes, uint64_t{descriptor.size()});
  Append(bytes, column_metadata);
  Append(bytes, column_table);
  Append(bytes, global_table);
  Append(bytes, uint32_t{1});
  Append(bytes, static_cast<uint32_t>(columns.size()));
  Append(bytes, uint16_t{2});
  Append(bytes, uint16_t{2});
  return bytes + "LANC";
}

wire::Page PageOf(uint64_t first_row, uint64_t num_rows, std::vector<ByteRange> buffers) {
  return {.buffers = std::move(buffers),
          .num_rows = num_rows,
          .encoding = {"/lance.encodings21.PageLayout", ""},
          .priority = first_row};
}

wire::ColumnMetadata ColumnOf(std::vector<wire::Page> pages) {
  return {.encoding = wire::ValuesColumnEncoding(), .pages = std::move(pages)};
}

TEST(FileMetadataTest, PylancesFileIsRead) {
  const MetadataPtr file = ReadFrom(GoldenFile()).ValueOrDie();
  EXPECT_EQ(file->version, FileVersion::k2_1);
  EXPECT_EQ(file->file_size, 641);
  EXPECT_EQ(file->num_rows, 4);
  ASSERT_EQ(file->columns.size(), 2);
  EXPECT_THAT(file->columns[1].pages[0].buffers,
              ElementsAre(ByteRange{128, 2}, ByteRange{192, 48}));
  EXPECT_THAT(file->global_buffers, ElementsAre(ByteRange{256, 61}));
  EXPECT_EQ(file->column_metadata_region.size, 268);
  EXPECT_GT(file->memory_bytes(), 500);
  EXPECT_LT(file->memory_bytes(), 5'000);
}

TEST(FileMetadataTest, EveryCutIsAnError) {
  const std::string golden = GoldenFile();
  for (size_t size = 0; size < golden.size(); ++size) {
    EXPECT_THAT(ReadFrom(golden.substr(0, size)), IsError(ErrorKind::kCorrupt, "/a.lance")) << size;
  }
}

TEST(FileMetadataTest, EveryFlippedBitIsAnErrorOrLeavesRangesInTheFile) {
  const std::string golden = GoldenFile();
  int num_refused = 0;
  for (size_t bit = testing::kDescriptorOffset * 8; bit < golden.size() * 8; ++bit) {
    std::string flipped = golden;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto read = ReadFrom(flipped);
    if (!read.ok()) {
      const ErrorKind kind = KindOf(read.status());
      EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
          << bit << ": " << read.status().ToString();
      ++num_refused;
      continue;
    }
    for (const wire::ColumnMetadata& column : (*read)->columns) {
      uint64_t rows = 0;
      for (const wire::Page& page : column.pages) {
        rows += page.num_rows;
        for (const ByteRange& buffer : page.buffers) {
          ASSERT_LE(buffer.offset, golden.size());
          ASSERT_LE(buffer.size, golden.size() - buffer.offset);
        }
      }
      ASSERT_LE(rows, (*read)->num_rows);
    }
  }
  EXPECT_GT(num_refused, 1'000);  // of 3,080; the others change names, values and the like
}

TEST(FileMetadataTest, FilesWithoutRowsOrColumns) {
  const MetadataPtr no_rows = ReadFrom(FileOf({ColumnOf({})}, 0, 0)).ValueOrDie();
  EXPECT_EQ(no_rows->num_rows, 0);
  EXPECT_THAT(no_rows->columns[0].pages, IsEmpty());
  const std::string no_columns = FileOf({}, 0, 0);
  EXPECT_EQ(no_columns.size(), 58);
  EXPECT_THAT(ReadFrom(no_columns).ValueOrDie()->columns, IsEmpty());
}

TEST(FileMetadataTest, PagesMustFollowEachOther) {
  EXPECT_THAT(ReadFrom(FileOf({ColumnOf({PageOf(0, 5, {}), PageOf(5, 5, {})})}, 10)), IsOk());
  EXPECT_THAT(ReadFrom(FileOf({ColumnOf({PageOf(0, 5, {}), PageOf(4, 5, {})})}, 10)),
              IsError(ErrorKind::kCorrupt, "page 1 of column 0 begins at row 4, 5 expected"));
  EXPECT_THAT(ReadFrom(FileOf({ColumnOf({PageOf(0, 11, {})})}, 10)),
              IsError(ErrorKind::kCorrupt, "the file has 10 rows"));
  EXPECT_THAT(ReadFrom(FileOf({ColumnOf({PageOf(0, 5, {}), PageOf(5, UINT64_MAX - 2, {})})}, 10)),
              IsError(ErrorKind::kCorrupt, "the file has 10 rows"));
}

TEST(FileMetadataTest, PageBuffersMustLieAlignedInTheDataRegion) {
  const auto read = [](ByteRange buffer) {
    return ReadFrom(FileOf({ColumnOf({PageOf(0, 5, {buffer})})}, 5));
  };
  EXPECT_THAT(read({1024 - 64, 64}), IsOk());
  EXPECT_THAT(read({1, 0}), IsOk());  // where an empty buffer lies says nothing
  EXPECT_THAT(read({1024 - 64, 75}), IsError(ErrorKind::kCorrupt, "a buffer at byte 960"));
  EXPECT_THAT(read({32, 64}), IsError(ErrorKind::kCorrupt, "no multiple of 64"));
  EXPECT_THAT(read({UINT64_MAX - 63, 64}), IsError(ErrorKind::kCorrupt, "expected before byte"));
  EXPECT_THAT(read({64, UINT64_MAX}), IsError(ErrorKind::kCorrupt, "expected before byte"));
}

TEST(FileMetadataTest, OneRequestWhereTheTailHoldsItAllElseTwo) {
  std::vector<wire::Page> pages;
  for (uint64_t i = 0; i < 3'000; ++i) pages.push_back(PageOf(i, 1, {{0, 64}, {64, 64}}));
  struct Case {
    std::string bytes;
    uint64_t requests;
  };
  for (const Case& file : {Case{GoldenFile(), 1}, Case{FileOf({ColumnOf(pages)}, 3'000), 2}}) {
    const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
    ASSERT_THAT(store->Put("/f", BytesOf(file.bytes)), IsOk());
    store->Reset();
    const auto reader = store->OpenRead("/f", file.bytes.size()).ValueOrDie();
    const MetadataPtr metadata = ReadFileMetadata(*reader, "/f").ValueOrDie().metadata;
    EXPECT_EQ(metadata->file_size, file.bytes.size());
    EXPECT_EQ(store->stats().get_requests, file.requests);
    EXPECT_EQ(store->stats().dependent_rounds, file.requests);
    EXPECT_EQ(store->stats().requests(), file.requests);
  }
}

TEST(FileMetadataTest, ATruncatedFileOfKnownSizeIsAnError) {
  const auto store = io::MakeMemoryStore();
  ASSERT_THAT(store->Put("/f", BytesOf(GoldenFile().substr(0, 600))), IsOk());
  const auto reader = store->OpenRead("/f", 641).ValueOrDie();
  EXPECT_THAT(ReadFileMetadata(*reader, "/f"), IsError(ErrorKind::kCorrupt, "/f"));
}

}  // namespace
}  // namespace glaive::file
