// Joins of pages some of whose bytes are wrong: an error that says so, or the rows that reading the
// pages one by one gives.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "file/page_join.h"
#include "testing/column_files.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::file {
namespace {

using glaive::testing::ArrayPtr;
using glaive::testing::ColumnFiles;
using glaive::testing::FilePtr;
using glaive::testing::IsOk;
using glaive::testing::RandomValues;
using glaive::testing::TypePtr;

struct Kind {
  TypePtr type;
  double nulls = 0;
  int64_t rows = 0;
  FileVersion version = FileVersion::k2_2;
};

const std::vector<Kind>& Kinds() {
  using namespace arrow;
  static const std::vector<Kind> kinds = {
      {list(int16()), 0.2, 30'000, FileVersion::k2_1},
      {list(list(fixed_size_binary(20))), 0.2, 2'000, FileVersion::k2_2},
      {list(decimal128(38, 0)), 0, 3'000, FileVersion::k2_2},
      {fixed_size_binary(33), 0.2, 3'000, FileVersion::k2_1},
      {int32(), 0.1, 30'000, FileVersion::k2_2},
      {fixed_size_binary(300), 0.2, 300, FileVersion::k2_2},
      {utf8(), 0.2, 150, FileVersion::k2_1},
      {list(utf8()), 0.2, 100, FileVersion::k2_2},
      {struct_({field("a", list(int16())), field("b", decimal128(38, 0))}), 0.1, 30'000,
       FileVersion::k2_2}};
  return kinds;
}

class DamagedJoin {
 public:
  DamagedJoin(const Kind& kind, uint64_t seed) : files_(kind.type, kind.version), random_(seed) {
    for (int64_t i = 0; i < 3; ++i) {
      RandomValues values({.nulls = kind.nulls, .max_length = 2000},
                          seed + static_cast<uint64_t>(i));
      parts_.push_back(arrow::MakeArray(values.Make(kind.type, kind.rows + 1 + i % 2)));
      bytes_.push_back(files_.Bytes(*files_.Write(parts_.back())));
    }
  }

  // Whether the three files are one page, as long as nothing is wrong with them.
  void ExpectJoins() {
    const auto joined = files_.Join(Sources(0, bytes_[0]).ValueOrDie()).ValueOrDie();
    for (const auto& column : joined->metadata().columns) EXPECT_EQ(column.pages.size(), 1u);
    files_.ExpectRows(*joined, arrow::Concatenate(parts_).ValueOrDie());
  }

  // Offsets in every kind of bytes that a file has: a few of each buffer, half of what describes
  // it.
  std::vector<size_t> Places(size_t file, size_t per_buffer) {
    const FilePtr opened = files_.Put(bytes_[file]).ValueOrDie();
    std::vector<size_t> places;
    const auto add = [&](const ByteRange& range) {
      for (size_t i = 0; i < per_buffer && range.size > 0; ++i) {
        // Half of them near the ends, where headers and last chunks are.
        const uint64_t within =
            i % 4 == 0   ? random_() % std::min<uint64_t>(range.size, 24)
            : i % 4 == 1 ? range.size - 1 - random_() % std::min<uint64_t>(range.size, 64)
                         : random_() % range.size;
        places.push_back(range.offset + within);
      }
    };
    for (const auto& column : opened->metadata().columns) {
      for (const auto& page : column.pages) std::ranges::for_each(page.buffers, add);
    }
    size_t at = opened->metadata().global_buffers[0].offset;
    for (; at < bytes_[file].size(); at += 1 + random_() % 3) places.push_back(at);
    return places;
  }

  // Joins the files, one of which has other bytes. What comes of it is an error or rows.
  void Check(size_t damaged, const std::string& bytes) {
    const auto sources = Sources(damaged, bytes);
    if (!sources.ok()) return ExpectTyped(sources.status());
    FileReader& source = *(*sources)[damaged];
    const auto direct = files_.ReadAll(source);
    const auto joined = files_.Join(*sources);
    if (!joined.ok()) return ExpectTyped(joined.status());
    if (*joined == nullptr) return;
    CheckSingleRows(source, **joined, damaged);
    const auto read = files_.ReadAll(**joined);
    if (!read.ok()) {
      ExpectTyped(read.status());
      // What can be read must not be lost.
      EXPECT_FALSE(direct.ok()) << read.status().ToString();
      return;
    }
    ++num_read_;
    ASSERT_THAT(direct, IsOk());
    std::vector<ArrayPtr> expected = parts_;
    expected[damaged] = *direct;
    EXPECT_THAT((*read)->Validate(), IsOk());
    EXPECT_TRUE((*read)->Equals(*arrow::Concatenate(expected).ValueOrDie()));
  }

  const std::string& bytes(size_t file) const { return bytes_[file]; }
  uint64_t Random() { return random_(); }
  int num_read() const { return num_read_; }

 private:
  arrow::Result<std::vector<FilePtr>> Sources(size_t damaged, const std::string& bytes) {
    std::vector<FilePtr> sources;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(sources.emplace_back(), files_.Put(i == damaged ? bytes : bytes_[i]));
    }
    return sources;
  }

  // Some rows of each file, by themselves.
  void CheckSingleRows(FileReader& source, FileReader& joined, size_t damaged) {
    uint64_t first_row = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto num_rows = static_cast<uint64_t>(parts_[i]->length());
      for (const uint64_t row : {uint64_t{0}, random_() % num_rows, num_rows - 1}) {
        const RowRange there = {first_row + row, first_row + row + 1};
        const auto read = files_.Read(joined, {&there, 1});
        const RowRange here = {row, row + 1};
        const auto direct = i == damaged ? files_.Read(source, {&here, 1})
                                         : parts_[i]->Slice(static_cast<int64_t>(row), 1);
        if (read.ok()) {
          // What is made anew, such as the index of rows in a chunk, may be right again.
          const auto& expected =
              direct.ok() ? *direct : parts_[i]->Slice(static_cast<int64_t>(row), 1);
          EXPECT_TRUE((*read)->Equals(*expected)) << "row " << row << " of file " << i;
        } else {
          ExpectTyped(read.status());
          EXPECT_FALSE(direct.ok())
              << "row " << row << " of file " << i << ": " << read.status().ToString();
        }
      }
      first_row += num_rows;
    }
  }

  static void ExpectTyped(const arrow::Status& status) {
    const ErrorKind kind = KindOf(status);
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported)
        << status.ToString();
  }

  ColumnFiles files_;
  std::mt19937_64 random_;
  std::vector<ArrayPtr> parts_;
  std::vector<std::string> bytes_;
  int num_read_ = 0;
};

TEST(PageJoinDamageTest, FlippedBitsAreErrorsOrRows) {
  uint64_t seed = 100;
  for (const Kind& kind : Kinds()) {
    DamagedJoin join(kind, ++seed);
    ASSERT_NO_FATAL_FAILURE(join.ExpectJoins());
    int tried = 0;
    for (size_t file = 0; file < 3; ++file) {
      for (const size_t place : join.Places(file, 24)) {
        const auto bit = join.Random() % 8;
        SCOPED_TRACE(kind.type->ToString() + ", bit " + std::to_string(bit) + " of byte " +
                     std::to_string(place) + " of file " + std::to_string(file) + ", which has " +
                     std::to_string(join.bytes(file).size()));
        std::string bytes = join.bytes(file);
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
        join.Check(file, bytes);
        ++tried;
      }
    }
    EXPECT_GT(join.num_read(), tried / 20);
    EXPECT_LT(join.num_read(), tried * 19 / 20);
  }
}

// A file that lost or won some bytes, somewhere.
TEST(PageJoinDamageTest, MissingAndAddedBytesAreErrorsOrRows) {
  uint64_t seed = 200;
  for (const Kind& kind : Kinds()) {
    DamagedJoin join(kind, ++seed);
    for (size_t file = 0; file < 3; ++file) {
      for (const size_t place : join.Places(file, 6)) {
        if (join.Random() % 4 != 0) continue;
        SCOPED_TRACE(kind.type->ToString() + ", byte " + std::to_string(place) + " of file " +
                     std::to_string(file));
        const std::string& whole = join.bytes(file);
        const size_t count = 1 + join.Random() % 64;
        join.Check(file, whole.substr(0, place));
        join.Check(file, whole.substr(0, place) + std::string(count, 'x') + whole.substr(place));
        join.Check(file,
                   whole.substr(0, place) + whole.substr(std::min(whole.size(), place + count)));
      }
    }
  }
}

}  // namespace
}  // namespace glaive::file
