#include "table/manifest/fragments_in.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "table/operation/conflict.h"
#include "table/operation/index_coverage.h"
#include "table/sets/roaring.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

FragmentTable Fragments(const std::vector<uint64_t>& ids) {
  std::vector<wire::DataFragment> fragments;
  for (const uint64_t id : ids) fragments.push_back({.id = id, .physical_rows = 1});
  return FragmentTable().Insert(fragments).ValueOrDie();
}

TEST(FragmentsInTest, AreThoseThatAreThere) {
  const FragmentTable fragments = Fragments({3, 4, 900});
  const std::vector<RowRange> all = {{0, uint64_t{1} << 32}};
  EXPECT_THAT(FragmentsIn(fragments, all), ElementsAre(3, 4, 900));
  EXPECT_TRUE(HasFragmentIn(fragments, all));
  const std::vector<RowRange> some = {{0, 3}, {4, 5}, {901, uint64_t{1} << 32}};
  EXPECT_THAT(FragmentsIn(fragments, some), ElementsAre(4));
  EXPECT_TRUE(HasFragmentIn(fragments, some));
  const std::vector<RowRange> none = {{0, 3}, {5, 900}, {901, uint64_t{1} << 32}};
  EXPECT_THAT(FragmentsIn(fragments, none), IsEmpty());
  EXPECT_FALSE(HasFragmentIn(fragments, none));
  EXPECT_THAT(FragmentsIn(fragments, {}), IsEmpty());
  EXPECT_FALSE(HasFragmentIn(FragmentTable(), all));
}

TEST(FragmentsInTest, AgreeWithALookAtEachId) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint64_t> ids;
    std::vector<RowRange> ranges;
    for (uint64_t id = 0; id < 50; ++id) {
      if (random() % 2 == 0) ids.push_back(id);
      if (random() % 3 != 0) continue;
      if (!ranges.empty() && ranges.back().end == id) {
        ++ranges.back().end;
      } else {
        ranges.push_back({id, id + 1});
      }
    }
    std::vector<uint64_t> expected;
    for (const RowRange& range : ranges) {
      for (uint64_t id = range.begin; id < range.end; ++id) {
        if (std::ranges::count(ids, id) > 0) expected.push_back(id);
      }
    }
    EXPECT_EQ(FragmentsIn(Fragments(ids), ranges), expected) << "seed " << seed;
    EXPECT_EQ(HasFragmentIn(Fragments(ids), ranges), !expected.empty()) << "seed " << seed;
  }
}

// All ids that there can be, as runs of a Roaring bitmap: less than a megabyte.
std::string AllIds() {
  constexpr uint32_t kContainers = 1u << 16;
  std::string flags(kContainers / 8, '\xff');
  std::string keys;
  std::string offsets;
  std::string runs;
  const auto append = [](auto value, std::string& out) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (uint32_t key = 0; key < kContainers; ++key) {
    append(static_cast<uint16_t>(key), keys);
    append(uint16_t{0xffff}, keys);
    append(uint32_t{0}, offsets);
    append(uint16_t{1}, runs);
    append(uint16_t{0}, runs);
    append(uint16_t{0xffff}, runs);
  }
  std::string bitmap;
  append(12347u | (kContainers - 1) << 16, bitmap);
  return bitmap + flags + keys + offsets + runs;
}

std::string HostileEntry(std::string_view name, char id) {
  std::string uuid;
  wire::AppendBytes(1, std::string(16, id), &uuid);
  std::string message;
  wire::AppendBytes(1, uuid, &message);
  wire::AppendPacked(2, std::array{uint64_t{0}}, &message);
  wire::AppendBytes(3, name, &message);
  wire::AppendBytes(5, AllIds(), &message);
  return message;
}

// Each of these went through the ids one by one, for minutes.
TEST(FragmentsInTest, WhatAnIndexSaysItCoversCostsNoMoreThanTheTable) {
  Manifest manifest;
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"}};
  manifest.fragments = Fragments({3, 4});
  for (const char id : {'a', 'b'}) {
    wire::AppendBytes(1, HostileEntry("by_a", id), &manifest.index_section);
  }
  auto indices = IndicesOf(manifest).ValueOrDie();
  manifest.fragments = Fragments({});
  DropIrrelevant(indices, manifest);
  EXPECT_THAT(indices.indices(), SizeIs(1));
  const std::string entry = HostileEntry("by_a", 'a');
  const CreateIndex index{{wire::ParseIndex(wire::AsBytes(entry), {"m"}).ValueOrDie()}, {}};
  const Rewrite rewrite{{{FragmentsOf({{.id = 3}}), {}}}, {}};
  EXPECT_EQ(Conflict(index, rewrite), Verdict::kRetry);
}

}  // namespace
}  // namespace glaive::table
