#include "file/footer.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "testing/golden_file.h"
#include "testing/matchers.h"

namespace glaive::file {
namespace {

using testing::BytesOf;
using testing::GoldenFile;
using testing::IsError;
using testing::IsOk;

constexpr std::string_view kPath = "data/a.lance";

// The footer of the golden file, with some of its numbers changed.
class FooterTest : public ::testing::Test {
 protected:
  template <typename T>
  void Set(size_t offset, T value) {
    std::memcpy(footer_.data() + offset, &value, sizeof(T));
  }

  arrow::Result<Footer> Parse() {
    return ParseFooter(BytesOf(footer_).first<kFooterSize>(), file_size_, kPath);
  }

  std::string footer_ = GoldenFile().substr(GoldenFile().size() - kFooterSize);
  uint64_t file_size_ = GoldenFile().size();
};

TEST_F(FooterTest, PylancesFooterIsRead) {
  const Footer footer = Parse().ValueOrDie();
  EXPECT_EQ(footer.version, FileVersion::k2_1);
  EXPECT_EQ(footer.column_metadata_position, 0x13d);
  EXPECT_EQ(footer.column_table, (ByteRange{0x229, 32}));
  EXPECT_EQ(footer.global_buffer_table, (ByteRange{0x249, 16}));
  EXPECT_EQ(footer.num_columns(), 2);
  EXPECT_EQ(footer.num_global_buffers(), 1);
  EXPECT_EQ(footer.position(), 0x259);
}

TEST_F(FooterTest, VersionsAreReadOrRefusedByName) {
  struct Case {
    uint16_t major;
    uint16_t minor;
    ErrorKind kind;
    const char* text;
  };
  for (const Case& refused : {
           Case{0, 0, ErrorKind::kUnsupported, "version 0.1"},
           Case{0, 2, ErrorKind::kUnsupported, "version 0.1"},
           Case{2, 4, ErrorKind::kCorrupt, "(2, 4)"},
           Case{0, 4, ErrorKind::kCorrupt, "(0, 4)"},
           Case{1, 0, ErrorKind::kCorrupt, "(1, 0)"},
           Case{3, 1, ErrorKind::kCorrupt, "(3, 1)"},
       }) {
    Set(32, refused.major);
    Set(34, refused.minor);
    EXPECT_THAT(Parse(), IsError(refused.kind, refused.text));
    EXPECT_THAT(Parse(), IsError(refused.kind, std::string(kPath)));
  }
  for (const FileVersion version : {FileVersion::k2_1, FileVersion::k2_2, FileVersion::k2_3}) {
    Set(32, FooterVersionOf(version).major);
    Set(34, FooterVersionOf(version).minor);
    EXPECT_EQ(Parse().ValueOrDie().version, version);
  }
  // Files of 2.0 call themselves (0, 3), batches in memory (2, 0).
  for (const auto& [major, minor] : {std::pair<uint16_t, uint16_t>(0, 3), {2, 0}}) {
    Set(32, major);
    Set(34, minor);
    EXPECT_EQ(Parse().ValueOrDie().version, FileVersion::k2_0);
  }
}

TEST_F(FooterTest, AFileThatIsNoLanceFileIsSaidToBeNone) {
  Set(36, uint32_t{0});
  EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "byte 637: the file does not end"));
}

TEST_F(FooterTest, RegionsMustLieInTheirOrderInTheFile) {
  for (const uint64_t position : {file_size_, file_size_ - kFooterSize + 1, UINT64_MAX}) {
    for (const size_t field : {0, 8, 16}) {
      const std::string before = footer_;
      Set(field, position);
      EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "expected within")) << position;
      footer_ = before;
    }
  }
  Set(8, uint64_t{0x13c});
  EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "the table of columns is at byte 316"));
  Set(8, uint64_t{0x22a});
  EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "the table of global buffers"));
}

TEST_F(FooterTest, TablesMustFitInTheFile) {
  for (const uint32_t count : {3u, 1u << 28, UINT32_MAX}) {
    Set(28, count);
    EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "table of"));
  }
  Set(28, uint32_t{2});
  for (const uint32_t count : {2u, UINT32_MAX}) {
    Set(24, count);
    EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "table of global buffers"));
  }
  Set(24, uint32_t{0});
  EXPECT_THAT(Parse(), IsError(ErrorKind::kCorrupt, "no global buffer"));
}

TEST(OffsetTableTest, EntriesMustLieBeforeTheEnd) {
  std::string bytes(32, '\0');
  const auto set = [&](size_t offset, uint64_t value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
  };
  const auto parse = [&] { return ParseOffsetTable(BytesOf(bytes), {kPath, 500}, 100, "thing"); };
  set(16, 60);
  set(24, 40);
  EXPECT_EQ(parse().ValueOrDie()[1], (ByteRange{60, 40}));
  set(24, 41);
  EXPECT_THAT(parse(), IsError(ErrorKind::kCorrupt, "byte 516: the thing 1 is at byte 60"));
  set(16, UINT64_MAX);
  set(24, 2);
  EXPECT_THAT(parse(), IsError(ErrorKind::kCorrupt, "the thing 1"));
}

}  // namespace
}  // namespace glaive::file
