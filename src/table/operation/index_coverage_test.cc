#include "table/operation/index_coverage.h"

#include <gtest/gtest.h>

#include "table/operation/fragment_reuse.h"
#include "table/sets/roaring.h"
#include "testing/golden.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::CoverageOf;
using glaive::testing::EntryOptions;
using glaive::testing::FromHex;
using glaive::testing::IndexEntry;
using glaive::testing::IndexSection;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Manifest Indexed(const std::vector<std::string>& entries) {
  Manifest manifest;
  manifest.index_section = IndexSection(entries);
  wire::Field tags{.id = 2, .name = "tags", .logical_type = "list"};
  tags.children.push_back({.id = 3, .name = "item", .logical_type = "string"});
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"},
                            {.id = 1, .name = "b", .logical_type = "int64"},
                            tags};
  return manifest;
}

TEST(IndexCoverageTest, WhatIsNotChangedStaysTheBytesItWas) {
  const std::string unknown = FromHex("924d03616263");
  Manifest manifest = Indexed({IndexEntry("a", {0}, {{0, 10}}, {.uuid = 1}) + unknown,
                               IndexEntry("b", {1}, {{3, 5}, {7, 8}})});
  manifest.index_section += unknown;
  const std::string before = manifest.index_section;
  EXPECT_EQ(IndicesOf(manifest)->Serialize().ValueOrDie(), before);

  EXPECT_THAT(WithdrawCoverage(manifest, std::vector<uint64_t>{4, 0, 9, 7, 77}, {0}), IsOk());
  EXPECT_EQ(manifest.index_section,
            IndexSection({IndexEntry("a", {0}, {{1, 4}, {5, 7}, {8, 9}}, {.uuid = 1}) + unknown,
                          IndexEntry("b", {1}, {{3, 5}, {7, 8}})}) +
                unknown);
}

TEST(IndexCoverageTest, AFieldChangesWithWhatItIsPartOfAndWhatIsPartOfIt) {
  const auto left = [](int32_t changed) {
    Manifest manifest =
        Indexed({IndexEntry("list", {2}, {{0, 2}}), IndexEntry("item", {3}, {{0, 2}}),
                 IndexEntry("a", {0}, {{0, 2}})});
    EXPECT_THAT(WithdrawCoverage(manifest, std::vector<uint64_t>{1}, {changed}), IsOk());
    return CoverageOf(manifest.index_section);
  };
  const std::vector<RowRange> both = {{0, 2}};
  const std::vector<RowRange> first = {{0, 1}};
  EXPECT_THAT(left(3), ElementsAre(first, first, both));
  EXPECT_THAT(left(2), ElementsAre(first, first, both));
  EXPECT_THAT(left(0), ElementsAre(both, both, first));
}

TEST(IndexCoverageTest, WhatCannotBeKeptRightIsRefusedByName) {
  Manifest manifest = Indexed({IndexEntry("of old", {0}, {}, {.unknown_coverage = true})});
  const std::vector<uint64_t> changed = {1};
  EXPECT_THAT(WithdrawCoverage(manifest, changed, {0}),
              IsError(ErrorKind::kUnsupported, "index 'of old' does not say"));
  EXPECT_THAT(WithdrawCoverage(manifest, changed, {1}), IsOk());

  std::string damaged;
  wire::AppendBytes(5, "no bitmap", &damaged);
  EXPECT_THAT(IndicesOf(Indexed({damaged})), IsError(ErrorKind::kCorrupt, "cookie"));
}

// Details of one version with one group.
std::string ReuseDetails(const std::vector<uint64_t>& old_ids,
                         const std::vector<uint64_t>& new_ids) {
  std::string group;
  for (const auto& [number, ids] : {std::pair(2u, old_ids), std::pair(3u, new_ids)}) {
    for (const uint64_t id : ids) {
      std::string digest;
      wire::AppendUnlessZero(1, id, &digest);
      wire::AppendBytes(number, digest, &group);
    }
  }
  std::string version;
  wire::AppendBytes(3, group, &version);
  std::string content;
  wire::AppendBytes(1, version, &content);
  std::string details;
  wire::AppendBytes(1, content, &details);
  return details;
}

TEST(IndexCoverageTest, WhatADeferredCompactionLeftIsTranslatedFirst) {
  const std::string reuse =
      IndexEntry("__lance_frag_reuse", {}, {{4, 5}}, {.details = ReuseDetails({0, 1}, {4})});
  Manifest manifest =
      Indexed({IndexEntry("whole", {0}, {{0, 3}}), IndexEntry("part", {0}, {{1, 3}}),
               IndexEntry("other", {1}, {{0, 2}}), reuse});
  EXPECT_THAT(WithdrawCoverage(manifest, std::vector<uint64_t>{4}, {0}), IsOk());
  const std::vector<RowRange> second = {{2, 3}};
  const std::vector<RowRange> moved = {{4, 5}};
  EXPECT_THAT(CoverageOf(manifest.index_section), ElementsAre(second, second, moved, moved));

  // Once no index knows where its rows were, nobody asks where they are.
  EXPECT_THAT(WithdrawCoverage(manifest, std::vector<uint64_t>{4}, {1}), IsOk());
  const std::vector<RowRange> none;
  EXPECT_THAT(CoverageOf(manifest.index_section), ElementsAre(second, second, none, none));

  std::string external;
  wire::AppendBytes(2, "elsewhere", &external);
  manifest = Indexed({IndexEntry("a", {0}, {{0, 3}}),
                      IndexEntry("__lance_frag_reuse", {}, {{4, 5}}, {.details = external})});
  EXPECT_THAT(WithdrawCoverage(manifest, std::vector<uint64_t>{4}, {0}),
              IsError(ErrorKind::kUnsupported, "index 'a'"));
}

TEST(IndexCoverageTest, DeferredCompactionsFollowEachOther) {
  FragmentReuse reuse;
  reuse.groups = {{{0, 1}, {4}}, {{4, 2}, {5}}, {{3}, {6, 7}}};
  const auto translated = [&](std::vector<uint64_t> covered) {
    FragmentSet set;
    set.Add(std::move(covered));
    reuse.Translate(set);
    return std::vector<RowRange>(set.ranges().begin(), set.ranges().end());
  };
  EXPECT_THAT(translated({0, 1, 2, 3}), ElementsAre(RowRange{5, 8}));
  EXPECT_THAT(translated({0, 1, 3}), ElementsAre(RowRange{6, 8}));
  EXPECT_THAT(translated({0, 2}), IsEmpty());
  EXPECT_THAT(translated({4, 2, 9}), ElementsAre(RowRange{5, 6}, RowRange{9, 10}));
}

FragmentTable FragmentsWithIds(std::initializer_list<uint64_t> ids) {
  std::vector<wire::DataFragment> fragments;
  for (const uint64_t id : ids) fragments.push_back({.id = id, .physical_rows = 1});
  return FragmentTable().Insert(fragments).ValueOrDie();
}

std::vector<std::string> NamesLeft(Manifest manifest) {
  IndexList indices = IndicesOf(manifest).ValueOrDie();
  DropIrrelevant(indices, manifest);
  std::vector<std::string> names;
  for (const Index& index : indices.indices()) names.push_back(index.entry.name);
  return names;
}

TEST(IndexCoverageTest, IndicesOnLostFieldsGo) {
  Manifest manifest =
      Indexed({IndexEntry("a", {0}, {{0, 1}}), IndexEntry("gone", {9}, {{0, 1}}),
               IndexEntry("half gone", {0, 9}, {{0, 1}}), IndexEntry("__lance_mem_wal", {}, {})});
  EXPECT_THAT(NamesLeft(manifest), ElementsAre("a", "__lance_mem_wal"));
}

TEST(IndexCoverageTest, OfSeveralSegmentsTheIdleOnesGo) {
  Manifest manifest = Indexed({IndexEntry("a", {0}, {{7, 9}}), IndexEntry("a", {0}, {{0, 1}}),
                               IndexEntry("a", {0}, {}, {.unknown_coverage = true})});
  manifest.fragments = FragmentsWithIds({0});
  EXPECT_THAT(NamesLeft(manifest), ElementsAre("a", "a"));
  manifest.index_section = IndexSection({IndexEntry("a", {0}, {{7, 9}})});
  EXPECT_THAT(NamesLeft(manifest), ElementsAre("a")) << "says what index to build";
}

TEST(IndexCoverageTest, WhereAllSegmentsAreIdleTheOldestStays) {
  Manifest manifest =
      Indexed({IndexEntry("a", {0}, {}, {.created_at_ms = 9}),
               IndexEntry("a", {0}, {}, {.created_at_ms = 5}), IndexEntry("a", {0}, {})});
  IndexList indices = IndicesOf(manifest).ValueOrDie();
  DropIrrelevant(indices, manifest);
  ASSERT_EQ(indices.indices().size(), 1);
  EXPECT_EQ(indices.indices()[0].entry.created_at_ms, 5);
}

}  // namespace
}  // namespace glaive::table
