#include "table/rows/deletion_vector.h"

#include <random>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using ::testing::ElementsAre;
using wire::DeletionFile;
using wire::DeletionFileType;

// pylance's file after deleting rows 1, 2, 3, 5 and 8, in the order of its hash set.
constexpr std::string_view kArrowHex =
    "4152524f573100000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000ffffffff780000001000000000000a000c000a00090004000a000000"
    "100000000001040008000800000004000800000004000000010000001400000010001600100000000f0004000000"
    "080010000000180000001c0000000000000218000000000006000800040006000000200000000000000006000000"
    "726f775f69640000ffffffffb8000000100000000c00140012001100040008000c0000001c000000800000000000"
    "0000000304000c001c0010000c00080004000c0000005c0000002c00000010000000050000000000000000000000"
    "01000000050000000000000000000000000000000000000002000000000000000000000009000000000000004000"
    "0000000000001c000000000000000000060008000700060000000000000100000000000000000000000000000000"
    "00000000000000000000000000000000ffffffffffffffffff000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000ffffffffffffffff02000000"
    "05000000030000000800000001000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000ffffffff0000000014000000000000000c00140012000c00080004000c0000006c00000088000000"
    "100000000000040008000800000004000800000004000000010000001400000010001600100000000f0004000000"
    "080010000000180000001c0000000000000218000000000006000800040006000000200000000000000006000000"
    "726f775f6964000001000000c000000000000000c00000000000000080000000000000000000000000000000a800"
    "00004152524f5731";

class DeletionFileTest : public ::testing::Test {
 protected:
  arrow::Result<DeletionVectorPtr> Read(const DeletionFile& file, uint64_t rows = 20000) {
    return ReadDeletionFile(table_, {}, 7, file, rows);
  }
  arrow::Result<DeletionVectorPtr> ReadBytes(DeletionFile file, const std::string& bytes) {
    EXPECT_TRUE(table_.store->Put(table_.Path(DeletionFilePath(7, file)), BytesOf(bytes)).ok());
    return Read(file);
  }

  const TableLocation table_ = {io::MemoryStore(), "/deletion_vector_test", "memory://test"};
};

TEST_F(DeletionFileTest, ReadsPylancesFiles) {
  const DeletionFile arrow{.read_version = 1, .id = 5, .num_deleted_rows = 5};
  EXPECT_EQ(DeletionFilePath(7, arrow), "_deletions/7-1-5.arrow");
  const auto vector = ReadBytes(arrow, FromHex(kArrowHex)).ValueOrDie();
  EXPECT_THAT(vector->offsets(), ElementsAre(1, 2, 3, 5, 8));

  const DeletionFile bitmap{.file_type = DeletionFileType::kBitmap, .read_version = 2, .id = 6};
  EXPECT_EQ(DeletionFilePath(7, bitmap), "_deletions/7-2-6.bin");
  const std::string bytes = FromHex("3a30000001000000000004001000000001000200030005000a00");
  EXPECT_THAT(ReadBytes(bitmap, bytes).ValueOrDie()->offsets(), ElementsAre(1, 2, 3, 5, 10));
}

TEST_F(DeletionFileTest, WritesArrowBelow5000RowsAndRoaringFromThereOn) {
  std::vector<uint32_t> offsets;
  for (uint32_t i = 0; i < 5000; ++i) offsets.push_back(i * 3);
  for (const size_t size : {size_t{1}, size_t{4999}, size_t{5000}}) {
    const DeletionVector vector({offsets.begin(), offsets.begin() + static_cast<int64_t>(size)});
    const DeletionFile file = WriteDeletionFile(table_, 7, 3, vector).ValueOrDie();
    EXPECT_EQ(file.file_type == DeletionFileType::kBitmap, size >= 5000);
    EXPECT_EQ(file.num_deleted_rows, size);
    EXPECT_EQ(file.read_version, 3);
    const auto read = Read(file).ValueOrDie();
    EXPECT_TRUE(std::ranges::equal(read->offsets(), vector.offsets()));
  }
}

TEST_F(DeletionFileTest, FilesThatDoNotHoldWhatTheManifestSays) {
  const DeletionFile file{.id = 5, .num_deleted_rows = 4};
  EXPECT_THAT(ReadBytes(file, FromHex(kArrowHex)),
              IsError(ErrorKind::kCorrupt, "5 rows are deleted, the manifest says 4"));
  EXPECT_THAT(Read({.id = 5}, 8), IsError(ErrorKind::kCorrupt, "row 8 is deleted of a fragment"));
  EXPECT_THAT(Read({.id = 77}), IsError(ErrorKind::kFileNotFound, "7-0-77.arrow"));
  EXPECT_THAT(Read({.id = 5, .base_id = 1}), IsError(ErrorKind::kCorrupt, "lies in base 1"));
  EXPECT_THAT(ReadBytes({.file_type = static_cast<DeletionFileType>(9), .id = 9}, ""),
              IsError(ErrorKind::kUnsupported, "deletion files of type 9"));
}

TEST_F(DeletionFileTest, DamagedFilesAreErrors) {
  const std::string good = FromHex(kArrowHex);
  for (size_t size = 0; size < good.size(); ++size) {
    const auto read = ReadBytes({.id = 8}, good.substr(0, size));
    EXPECT_EQ(KindOf(read.status()), ErrorKind::kCorrupt) << size;
  }
  for (size_t bit = 0; bit < good.size() * 8; bit += 3) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto read = ReadBytes({.id = 8}, flipped);
    EXPECT_TRUE(read.ok() || KindOf(read.status()) == ErrorKind::kCorrupt)
        << bit << read.status().ToString();
  }
}

TEST(DeletionVectorTest, CountsLiveRowsLikeALoopDoes) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<uint32_t> offsets;
    std::vector<uint32_t> live;
    for (uint32_t i = 0; i < 200; ++i) {
      (random() % 100 < static_cast<uint32_t>(round) ? offsets : live).push_back(i);
    }
    const DeletionVector vector(offsets);
    for (size_t i = 0; i < live.size(); ++i) EXPECT_EQ(vector.PhysicalOffset(i), live[i]);
    EXPECT_EQ(vector.PhysicalOffset(live.size()), 200);
    const RowRange window{random() % 100, 100 + random() % 101};
    std::vector<uint64_t> found;
    for (const RowRange& range : vector.LiveRanges(window)) {
      EXPECT_LT(range.begin, range.end);
      for (uint64_t i = range.begin; i < range.end; ++i) found.push_back(i);
    }
    std::erase_if(live, [&](uint32_t i) { return i < window.begin || i >= window.end; });
    EXPECT_TRUE(std::ranges::equal(found, live));
    for (const uint32_t i : offsets) EXPECT_TRUE(vector.Contains(i));
    for (const uint32_t i : live) EXPECT_FALSE(vector.Contains(i));
  }
}

TEST(DeletionVectorTest, UnionHoldsBoth) {
  const DeletionVector left({1, 3, 5});
  EXPECT_THAT(left.Union(DeletionVector({0, 3, 9})).offsets(), ElementsAre(0, 1, 3, 5, 9));
  EXPECT_TRUE(DeletionVector().Union({}).empty());
}

}  // namespace
}  // namespace glaive::table
