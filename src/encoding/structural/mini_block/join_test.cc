#include "encoding/structural/mini_block/join.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "encoding/structural/layout/encode_page.h"
#include "encoding/structural/layout/open_page.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/mini_block/index.h"
#include "encoding/structural/page/decoder.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using glaive::testing::RandomValueOptions;
using glaive::testing::RandomValues;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Behind = MiniBlockJoin::Behind;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr FileVersion kVersions[] = {FileVersion::k2_1, FileVersion::k2_2};

LeafPath LeafOf(const TypePtr& type) {
  return LeavesOf(*arrow::field("c", type)).ValueOrDie().front();
}

// A page of chunks in parts.
struct Page {
  std::string words;
  std::string chunks;
  std::string repetition_index;
  wire::MiniBlockLayout layout;
  uint64_t num_rows = 0;

  MiniBlockIndex Index() const {
    std::optional<Bytes> index;
    if (layout.rep_compression != nullptr) index = testing::BytesOf(repetition_index);
    return MiniBlockIndex::Parse(testing::BytesOf(words), index,
                                 {.num_rows = num_rows,
                                  .num_values = layout.num_items,
                                  .data_bytes = chunks.size(),
                                  .large_chunks = layout.has_large_chunk},
                                 {"words"}, {"index"})
        .ValueOrDie();
  }

  std::vector<SourceChunk> SourceChunks() const {
    const MiniBlockIndex index = Index();
    std::vector<SourceChunk> all;
    for (uint64_t c = 0; c < index.num_chunks(); ++c) {
      const ByteRange bytes = index.bytes({c, c + 1});
      all.push_back({.bytes = testing::BytesOf(chunks).subspan(bytes.offset, bytes.size),
                     .num_values = index.num_values(c),
                     .num_rows_begun = index.rows_begun(c).size(),
                     .where = {"chunk", bytes.offset}});
    }
    return all;
  }

  void Add(const JoinedChunks& made) {
    chunks.append(reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size());
    for (const uint32_t word : made.words) {
      words.append(reinterpret_cast<const char*>(&word), layout.has_large_chunk ? 4 : 2);
    }
    repetition_index.append(reinterpret_cast<const char*>(made.repetition_index.data()),
                            8 * made.repetition_index.size());
  }
};

Page Encode(const std::shared_ptr<arrow::ArrayData>& rows, FileVersion version) {
  const std::vector pieces = {rows};
  const auto pages =
      EncodePages(pieces, LeafOf(rows->type), {.version = version, .column_name = "c"})
          .ValueOrDie();
  EXPECT_EQ(pages.size(), 1u);
  std::vector<std::string> buffers;
  for (const auto& parts : pages[0].buffers) {
    auto& bytes = buffers.emplace_back();
    for (const auto& part : parts) bytes += part->ToString();
  }
  Page page = {.words = buffers.at(0),
               .chunks = buffers.at(1),
               .repetition_index = {},
               .layout = std::get<wire::MiniBlockLayout>(
                   wire::ParsePageLayout(testing::BytesOf(pages[0].layout), {}).ValueOrDie()),
               .num_rows = pages[0].num_rows};
  if (page.layout.rep_compression != nullptr) page.repetition_index = buffers.back();
  return page;
}

arrow::Result<std::optional<MiniBlockJoin>> MakeJoin(const wire::MiniBlockLayout& layout,
                                                     const TypePtr& type, FileVersion version) {
  return MiniBlockJoin::Make(layout, LeafOf(type), version, {"page"});
}

arrow::Result<std::shared_ptr<arrow::Array>> Decode(const Page& page, const TypePtr& type,
                                                    FileVersion version,
                                                    std::vector<RowRange> rows) {
  const std::string layout = wire::Serialize(wire::PageLayout(page.layout));
  std::string file = page.words + page.chunks + page.repetition_index;
  std::vector<ByteRange> buffers = {{0, page.words.size()},
                                    {page.words.size(), page.chunks.size()}};
  if (!page.repetition_index.empty()) {
    buffers.push_back({buffers[1].end(), page.repetition_index.size()});
  }
  const LeafPath path = LeafOf(type);
  ARROW_ASSIGN_OR_RAISE(const auto decoder, OpenPage({.buffers = buffers,
                                                      .num_rows = page.num_rows,
                                                      .layout = testing::BytesOf(layout),
                                                      .version = version,
                                                      .path = "page",
                                                      .file_size = file.size()},
                                                     path));
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder->Read(rows));
  while (!read->wanted().empty()) {
    std::vector<std::shared_ptr<arrow::Buffer>> supplied;
    for (const ByteRange& range : read->wanted()) {
      supplied.push_back(arrow::Buffer::FromString(file.substr(range.offset, range.size)));
    }
    ARROW_RETURN_NOT_OK(read->Supply(std::move(supplied)));
  }
  LeafBuilder builder(path);
  ARROW_RETURN_NOT_OK(read->DecodeInto(builder));
  std::vector<LeafRows> leaves;
  ARROW_ASSIGN_OR_RAISE(leaves.emplace_back(), std::move(builder).Finish());
  return AssembleField(*arrow::field("c", type), std::move(leaves));
}

// The pages behind each other: all chunks of those that move are cut, of others the last.
arrow::Result<Page> JoinPages(const MiniBlockJoin& join, const std::vector<Page>& pages) {
  Page joined = {.words = {}, .chunks = {}, .repetition_index = {}, .layout = pages[0].layout};
  uint64_t num_items = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    const Page& page = pages[i];
    const auto chunks = page.SourceChunks();
    const bool moves = num_items % 2 == 1;
    const size_t num_copied = moves ? 0 : chunks.size() - 1;
    const size_t word_bytes = joined.layout.has_large_chunk ? 4 : 2;
    joined.words += page.words.substr(0, num_copied * word_bytes);
    joined.chunks += page.chunks.substr(0, page.Index().bytes({0, num_copied}).size);
    if (join.has_lists())
      joined.repetition_index += page.repetition_index.substr(0, 16 * num_copied);
    const auto before = moves ? pages[i - 1].SourceChunks() : std::vector<SourceChunk>{};
    JoinedChunks made;
    ARROW_ASSIGN_OR_RAISE(
        const bool done,
        join.Cut(moves ? &before.back() : nullptr, std::span(chunks).subspan(num_copied),
                 i + 1 == pages.size() ? Behind::kNothing : Behind::kNextPage, made));
    if (!done) return Unsupported("pages that cannot be joined");
    joined.Add(made);
    num_items += page.layout.num_items;
    joined.num_rows += page.num_rows;
  }
  joined.layout.num_items = num_items;
  return joined;
}

// Whether each row by itself is where the chunks say it is, as are all of them.
void ExpectRows(const Page& page, const arrow::Array& expected, FileVersion version) {
  ASSERT_EQ(page.num_rows, static_cast<uint64_t>(expected.length()));
  const auto all = Decode(page, expected.type(), version, {{0, page.num_rows}});
  ASSERT_THAT(all, IsOk());
  ASSERT_TRUE((*all)->Equals(expected));
  for (uint64_t row = 0; row < page.num_rows; row += 1 + page.num_rows / 50) {
    const auto read = Decode(page, expected.type(), version, {{row, row + 1}});
    ASSERT_THAT(read, IsOk()) << "row " << row;
    ASSERT_TRUE((*read)->Equals(expected.Slice(static_cast<int64_t>(row), 1))) << "row " << row;
  }
  const MiniBlockIndex index = page.Index();
  for (uint64_t c = 0; c + 1 < index.num_chunks(); ++c) {
    ASSERT_TRUE(index.num_values(c) >= 2 && std::has_single_bit(index.num_values(c)));
  }
}

struct Kind {
  TypePtr type;
  double nulls = 0;
  int64_t max_items = 4;
};

// Rows enough for levels that are described for all chunks of a page alike.
constexpr int64_t kRows = 1100;

const std::vector<Kind>& Kinds() {
  using namespace arrow;
  static const std::vector<Kind> kinds = {
      {int8()},
      {int16(), 0.3},
      {int32()},
      {int64(), 0.1},
      {decimal128(38, 0), 0.2},
      {fixed_size_binary(3)},
      {fixed_size_binary(255), 0.1},
      {fixed_size_list(int16(), 30)},
      {list(int16())},
      {list(int16()), 0.3},
      {list(int32()), 0.3, 1},
      {list(int64()), 0, 40},
      {large_list(fixed_size_binary(40)), 0.1},
      {list(list(int8())), 0.2},
      {list(list(list(int16()))), 0.1, 2},
      {list(fixed_size_list(int32(), 7))},
      {struct_({field("a", list(int32()))}), 0.2},
      {list(struct_({field("a", decimal128(38, 0))})), 0.2, 9},
  };
  return kinds;
}

TEST(MiniBlockJoinTest, JoinedPagesHoldTheRows) {
  uint64_t seed = 0;
  int num_joined = 0;
  for (const FileVersion version : kVersions) {
    for (const auto& [type, nulls, max_items] : Kinds()) {
      for (int round = 0; round < 12; ++round) {
        SCOPED_TRACE(type->ToString() + " nulls " + std::to_string(nulls) + " round " +
                     std::to_string(round));
        std::vector<Page> pages;
        arrow::ArrayVector parts;
        for (int64_t i = 0; i < 2 + round % 3; ++i) {
          RandomValues random({.nulls = nulls, .max_items = max_items}, ++seed);
          const auto rows = random.Make(type, kRows + static_cast<int64_t>(seed * 997 % 1300));
          pages.push_back(Encode(rows, version));
          parts.push_back(arrow::MakeArray(rows));
        }
        const auto join = MakeJoin(pages[0].layout, type, version);
        ASSERT_THAT(join, IsOk());
        ASSERT_TRUE(join->has_value());
        const bool takes = std::ranges::all_of(
            pages, [&](const Page& page) { return (*join)->Takes(page.layout); });
        if (!takes) continue;
        const auto joined = JoinPages(**join, pages);
        ASSERT_THAT(joined, IsOk());
        ASSERT_NO_FATAL_FAILURE(
            ExpectRows(*joined, *arrow::Concatenate(parts).ValueOrDie(), version));
        ++num_joined;
      }
    }
  }
  EXPECT_GT(num_joined, 300);
}

// Numbers of rows from one to a few chunks, behind an odd and an even page.
TEST(MiniBlockJoinTest, EveryNumberOfValuesIsCut) {
  const auto type = arrow::fixed_size_binary(130);  // 32 values in a chunk
  for (const FileVersion version : kVersions) {
    for (const int64_t before : {2, 3, 33, 64}) {
      // One value is a constant in 2.2.
      for (int64_t count = version == FileVersion::k2_1 ? 1 : 2; count < 140; ++count) {
        RandomValues random({.nulls = 0}, static_cast<uint64_t>(count));
        arrow::ArrayVector parts;
        std::vector<Page> pages;
        for (const int64_t rows : {before, count, int64_t{2}}) {
          const auto array = random.Make(type, rows);
          parts.push_back(arrow::MakeArray(array));
          pages.push_back(Encode(array, version));
        }
        const auto join = MakeJoin(pages[0].layout, type, version).ValueOrDie();
        const auto joined = JoinPages(*join, pages);
        ASSERT_THAT(joined, IsOk());
        ASSERT_NO_FATAL_FAILURE(
            ExpectRows(*joined, *arrow::Concatenate(parts).ValueOrDie(), version));
      }
    }
  }
}

std::vector<uint64_t> ChunkSizes(const JoinedChunks& made) {
  std::vector<uint64_t> sizes;
  for (const uint32_t word : made.words) sizes.push_back(uint64_t{1} << (word & 15));
  return sizes;
}

TEST(MiniBlockJoinTest, ALastChunkIsCutIntoPowersOfTwo) {
  RandomValues random({.nulls = 0}, 1);
  const Page page = Encode(random.Make(arrow::fixed_size_binary(16), 255), FileVersion::k2_2);
  const auto join =
      MakeJoin(page.layout, arrow::fixed_size_binary(16), FileVersion::k2_2).ValueOrDie();
  const auto chunks = page.SourceChunks();
  ASSERT_EQ(chunks.size(), 1u);
  JoinedChunks made;
  ASSERT_THAT(join->Cut(nullptr, chunks, Behind::kNextPage, made), IsOkAndHolds(true));
  EXPECT_THAT(ChunkSizes(made), ElementsAre(128, 64, 32, 16, 8, 4, 2));  // and one stays out
  made.Clear();
  ASSERT_THAT(join->Cut(&chunks[0], chunks, Behind::kNextPage, made), IsOkAndHolds(true));
  EXPECT_THAT(ChunkSizes(made), ElementsAre(256));
  made.Clear();
  ASSERT_THAT(join->Cut(nullptr, chunks, Behind::kNothing, made), IsOkAndHolds(true));
  EXPECT_EQ(made.words.size(), 1u);
  EXPECT_EQ(made.bytes.size(), page.chunks.size());
}

// The description of a page of these rows.
wire::MiniBlockLayout LayoutOf(const TypePtr& type, RandomValueOptions options, int64_t rows) {
  RandomValues random(options, 3);
  return Encode(random.Make(type, rows), FileVersion::k2_2).layout;
}

TEST(MiniBlockJoinTest, OnlyPlainAndPackedValuesAreJoined) {
  const auto is_joined = [](const TypePtr& type, RandomValueOptions options, int64_t rows = 3000) {
    return MakeJoin(LayoutOf(type, options, rows), type, FileVersion::k2_2)
        .ValueOrDie()
        .has_value();
  };
  EXPECT_TRUE(is_joined(arrow::int32(), {}));
  EXPECT_TRUE(is_joined(arrow::int32(), {.nulls = 0}, 2));
  EXPECT_FALSE(is_joined(arrow::int32(), {}, 1000));  // levels of one block, packed by itself
  EXPECT_FALSE(is_joined(arrow::utf8(), {}));
  EXPECT_FALSE(is_joined(arrow::boolean(), {}));
  EXPECT_FALSE(is_joined(arrow::fixed_size_binary(16), {.distinct = 9}));  // a dictionary
  EXPECT_FALSE(is_joined(arrow::fixed_size_list(arrow::int16(), 3), {}));  // validity of items
  wire::MiniBlockLayout layout = LayoutOf(arrow::float32(), {.nulls = 0}, 3000);
  for (const auto& values :
       {wire::MakeEncoding(
            wire::ByteStreamSplitEncoding{wire::MakeEncoding(wire::FlatEncoding{32})}),
        wire::MakeEncoding(wire::GeneralEncoding{.scheme = wire::CompressionScheme::kLz4,
        .values = wire::MakeEncoding(wire::FlatEncoding{32})})}) {
    layout.value_compression = values;
    EXPECT_FALSE(MakeJoin(layout, arrow::float32(), FileVersion::k2_2).ValueOrDie());
  }
}

TEST(MiniBlockJoinTest, PagesOfAnotherDescriptionAreNotTaken) {
  const auto type = arrow::list(arrow::int16());
  const wire::MiniBlockLayout layout = LayoutOf(type, {}, 3000);
  const auto join = MakeJoin(layout, type, FileVersion::k2_2).ValueOrDie();
  wire::MiniBlockLayout other = layout;
  other.num_items += 17;
  EXPECT_TRUE(join->Takes(other));
  other.has_large_chunk = false;
  EXPECT_FALSE(join->Takes(other));
  EXPECT_FALSE(join->Takes(LayoutOf(type, {.nulls = 0}, 3000)));
  other = layout;
  other.value_compression = wire::MakeEncoding(wire::FlatEncoding{32});
  EXPECT_FALSE(join->Takes(other));
}

// Levels as u16, in a chunk of two values with so many empty lists before each.
std::string SparseChunk(uint16_t before, uint16_t between) {
  const auto u16 = [](std::string& to, uint16_t value) {
    to.append(reinterpret_cast<const char*>(&value), 2);
  };
  const auto pad = [](std::string& to) { to.resize((to.size() + 7) / 8 * 8, '\xfe'); };
  std::string rep;
  std::string def;
  const auto num_levels = static_cast<uint16_t>(before + between + 2);
  for (uint16_t i = 0; i < num_levels; ++i) {
    u16(rep, 1);
    u16(def, i == before || i + 1 == num_levels ? 0 : 1);
  }
  std::string chunk;
  u16(chunk, num_levels);
  u16(chunk, static_cast<uint16_t>(rep.size()));
  u16(chunk, static_cast<uint16_t>(def.size()));
  u16(chunk, 16);
  for (const std::string& part : {rep, def, std::string(16, 'v')}) {
    pad(chunk);
    chunk += part;
  }
  pad(chunk);
  return chunk;
}

class SparseChunksTest : public ::testing::Test {
 protected:
  SparseChunksTest() {
    const auto flat = [](uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); };
    layout_.rep_compression = flat(16);
    layout_.def_compression = flat(16);
    layout_.value_compression = flat(64);
    layout_.layers = {wire::RepDefLayer::kAllValidItem, wire::RepDefLayer::kEmptyableList};
    layout_.num_buffers = 1;
    layout_.repetition_index_depth = 1;
    join_ = MakeJoin(layout_, arrow::list(arrow::int64()), FileVersion::k2_1).ValueOrDie();
  }

  static SourceChunk Chunk(const std::string& bytes, int num_rows) {
    return {.bytes = testing::BytesOf(bytes),
            .num_values = 2,
            .num_rows_begun = static_cast<uint64_t>(num_rows),
            .where = {"chunk"}};
  }

  wire::MiniBlockLayout layout_;
  std::optional<MiniBlockJoin> join_;
};

// A chunk of two values that would have more levels, or bytes, than it may cannot be cut further.
TEST_F(SparseChunksTest, TooManyLevelsBetweenTwoValuesAreNotJoined) {
  const auto cut = [&](uint16_t gap, uint16_t before, uint16_t between) {
    const std::string first = SparseChunk(0, gap);
    const std::string second = SparseChunk(before, between);
    const SourceChunk left = Chunk(first, gap + 2);
    const SourceChunk right = Chunk(second, before + between + 2);
    JoinedChunks made;
    const bool done = join_->Cut(&left, {&right, 1}, Behind::kNothing, made).ValueOrDie();
    EXPECT_EQ(made.words.size() * 2, made.repetition_index.size());
    return std::pair(done, made.words.size());
  };
  EXPECT_EQ(cut(1000, 0, 1000), std::pair(true, size_t{1}));
  EXPECT_EQ(cut(7000, 0, 7000), std::pair(true, size_t{2}));
  EXPECT_EQ(cut(7000, 0, 500), std::pair(true, size_t{1}));
  EXPECT_FALSE(cut(7000, 7000, 0).first);
}

TEST_F(SparseChunksTest, LevelsThatContradictThePageAreNamed) {
  const std::string bytes = SparseChunk(0, 3);
  JoinedChunks made;
  const auto cut = [&](const SourceChunk& chunk) {
    return join_->Cut(nullptr, {&chunk, 1}, Behind::kNothing, made);
  };
  EXPECT_THAT(cut(Chunk(bytes, 5)), IsOkAndHolds(true));
  EXPECT_THAT(cut(Chunk(bytes, 4)),
              IsError(ErrorKind::kCorrupt, "5 rows begin in a chunk; 4 expected"));
  SourceChunk more = Chunk(bytes, 5);
  more.num_values = 3;
  EXPECT_THAT(cut(more), IsError(ErrorKind::kCorrupt, "3 values in a chunk whose levels say 2"));
  EXPECT_THAT(cut(Chunk(bytes.substr(0, 8), 5)),
              IsError(ErrorKind::kCorrupt, "a chunk of 8 bytes"));
  SourceChunk none = Chunk(bytes, 5);
  none.num_values = 0;
  EXPECT_THAT(cut(none), IsOkAndHolds(false));
}

}  // namespace
}  // namespace glaive::encoding
