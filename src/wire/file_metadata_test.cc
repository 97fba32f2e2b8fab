#include "wire/file_metadata.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "testing/golden_file.h"
#include "testing/matchers.h"

namespace glaive::wire {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::GoldenFile;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Location kWhere = {"a.lance", 1000};

// The messages of the golden file.
std::string DescriptorMessage() {
  using namespace glaive::testing;
  return GoldenFile().substr(kDescriptorOffset, kColumn0Offset - kDescriptorOffset);
}
std::string Column0Message() {
  using namespace glaive::testing;
  return GoldenFile().substr(kColumn0Offset, kColumn1Offset - kColumn0Offset);
}
std::string Column1Message() {
  using namespace glaive::testing;
  return GoldenFile().substr(kColumn1Offset, kColumnTableOffset - kColumn1Offset);
}

TEST(FileMetadataTest, PylancesColumnsAreReadAndWrittenToTheByte) {
  for (const std::string& message : {Column0Message(), Column1Message()}) {
    const auto column = ParseColumnMetadata(BytesOf(message), kWhere).ValueOrDie();
    EXPECT_EQ(column.encoding, ValuesColumnEncoding());
    EXPECT_EQ(Serialize(column), message);
  }
  const auto column = ParseColumnMetadata(BytesOf(Column0Message()), kWhere).ValueOrDie();
  ASSERT_EQ(column.pages.size(), 1);
  EXPECT_THAT(column.pages[0].buffers, ElementsAre(ByteRange{0, 2}, ByteRange{64, 32}));
  EXPECT_EQ(column.pages[0].num_rows, 4);
  EXPECT_EQ(column.pages[0].priority, 0);
  EXPECT_EQ(column.pages[0].encoding.type_url, "/lance.encodings21.PageLayout");
  EXPECT_EQ(column.pages[0].encoding.value.size(), 21);
  EXPECT_THAT(column.buffers, IsEmpty());
}

TEST(FileMetadataTest, PylancesDescriptorIsReadAndWrittenToTheByte) {
  const auto descriptor = ParseFileDescriptor(BytesOf(DescriptorMessage()), kWhere).ValueOrDie();
  EXPECT_EQ(descriptor.num_rows, 4);
  ASSERT_EQ(descriptor.schema.fields.size(), 2);
  EXPECT_EQ(descriptor.schema.fields[0].name, "a");
  EXPECT_EQ(descriptor.schema.fields[0].id, 0);
  EXPECT_EQ(descriptor.schema.fields[1].logical_type, "string");
  EXPECT_EQ(Serialize(descriptor), DescriptorMessage());
}

TEST(FileMetadataTest, AnEmptySchemaIsStillPresent) {
  EXPECT_EQ(Serialize(FileDescriptor{}), FromHex("0a00"));
  EXPECT_THAT(ParseFileDescriptor(BytesOf(FromHex("0a00")), kWhere), IsOk());
}

TEST(FileMetadataTest, SchemaMetadataAndColumnBuffersSurvive) {
  FileDescriptor descriptor;
  descriptor.schema.metadata = {{"k", "v"}, {"empty", ""}, {"", "x"}};
  const auto read = ParseFileDescriptor(BytesOf(Serialize(descriptor)), kWhere).ValueOrDie();
  EXPECT_EQ(read.schema, descriptor.schema);

  ColumnMetadata column = {.encoding = ValuesColumnEncoding(), .buffers = {{64, 5}, {128, 0}}};
  column.pages.push_back({.buffers = {},
                          .num_rows = 7,
                          .encoding = {"/lance.encodings21.PageLayout", "x"},
                          .priority = uint64_t{1} << 40});
  EXPECT_EQ(ParseColumnMetadata(BytesOf(Serialize(column)), kWhere).ValueOrDie(), column);
}

TEST(FileMetadataTest, UnpackedListsAreReadToo) {
  // Column 0 with its page's buffer lists written one varint at a time.
  const std::string message = Column0Message();
  const std::string packed = FromHex("0a02004012020220");
  const std::string unpacked = FromHex("0800084010021020");
  std::string other = message;
  const size_t at = other.find(packed);
  ASSERT_NE(at, std::string::npos);
  other.replace(at, packed.size(), unpacked);
  EXPECT_EQ(ParseColumnMetadata(BytesOf(other), kWhere).ValueOrDie(),
            ParseColumnMetadata(BytesOf(message), kWhere).ValueOrDie());
}

TEST(FileMetadataTest, EncodingsThatAreNotInTheMessageAreRefused) {
  EXPECT_THAT(ParseColumnMetadata({}, kWhere), IsError(ErrorKind::kCorrupt, "missing"));
  EXPECT_THAT(ParseColumnMetadata(BytesOf(FromHex("0a020a00")), kWhere),
              IsError(ErrorKind::kUnsupported, "a.lance, byte 1000"));
  EXPECT_THAT(ParseColumnMetadata(BytesOf(FromHex("0a021a00")), kWhere),
              IsError(ErrorKind::kCorrupt, "none"));
}

TEST(FileMetadataTest, OffsetsAndSizesMustPair) {
  std::string message = Column0Message();
  const size_t at = message.find(FromHex("12020220"));
  ASSERT_NE(at, std::string::npos);
  message[at] = '\x7a';  // sizes under a number that nobody reads
  EXPECT_THAT(ParseColumnMetadata(BytesOf(message), kWhere),
              IsError(ErrorKind::kCorrupt, "2 buffer offsets beside 0 buffer sizes"));
}

TEST(FileMetadataTest, CutsAndFlipsNeverCrash) {
  for (const std::string& message : {Column0Message(), DescriptorMessage()}) {
    int num_refused = 0;
    for (size_t size = 0; size < message.size(); ++size) {
      const auto cut = BytesOf(std::string_view(message).substr(0, size));
      num_refused += ParseColumnMetadata(cut, kWhere).ok() ? 0 : 1;
      static_cast<void>(ParseFileDescriptor(cut, kWhere));
    }
    EXPECT_GT(num_refused, 30);
    for (size_t bit = 0; bit < message.size() * 8; ++bit) {
      std::string flipped = message;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      static_cast<void>(ParseColumnMetadata(BytesOf(flipped), kWhere));
      static_cast<void>(ParseFileDescriptor(BytesOf(flipped), kWhere));
    }
  }
}

}  // namespace
}  // namespace glaive::wire
