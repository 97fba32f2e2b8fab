#include "wire/fragment_scan.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/file_version.h"
#include "wire/fragment.h"

namespace glaive::wire {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr Location kWhere = {"_versions/3.manifest", 100};

using Random = std::mt19937;

uint64_t Below(Random& random, uint64_t end) {
  return std::uniform_int_distribution<uint64_t>(0, end - 1)(random);
}

// Of few shapes, so that they come in a row; paths, ids, rows and sizes of any length.
DataFile RandomFile(Random& random) {
  DataFile file = {.path = std::string(Below(random, 8) == 0 ? 200 : 40 + Below(random, 3), 'x'),
                   .fields = {0, 1},
                   .column_indices = {0, 1},
                   .file_major_version = 2,
                   .file_minor_version = 2,
                   .file_size_bytes = Below(random, uint64_t{1} << Below(random, 40))};
  switch (Below(random, 12)) {
    case 0: file.fields = {7}; break;
    case 1: file.fields.assign(200, 300); break;
    case 2: file.file_minor_version = 1; break;
    case 3: file.file_major_version = 9; break;
    case 4: file.base_id = 3; break;
    case 5: file.fields = file.column_indices = {}; break;
    default: break;
  }
  return file;
}

DataFragment RandomFragment(uint64_t id, Random& random) {
  DataFragment fragment;
  fragment.id = id;
  fragment.physical_rows = Below(random, uint64_t{1} << Below(random, 30)) + 1;
  fragment.files.push_back(RandomFile(random));
  switch (Below(random, 10)) {
    case 0: fragment.files.push_back(RandomFile(random)); break;
    case 1: fragment.deletion_file.emplace().num_deleted_rows = Below(random, 2); break;
    case 2: fragment.row_ids = InlineSequence{"abc"}; break;
    case 3: fragment.physical_rows = 0; break;
    case 4: fragment.unknown_fields = "\x98\x06\x01"; break;
    default: break;
  }
  return fragment;
}

std::string RandomManifest(uint64_t num_fragments, Random& random) {
  std::string manifest;
  AppendBytes(1, "a field of the schema", &manifest);
  uint64_t id = Below(random, 300);
  for (uint64_t i = 0; i < num_fragments; ++i) {
    id += Below(random, 30) == 0 ? Below(random, 1 << 20) : 1;
    AppendRecord(2, Serialize(RandomFragment(id, random)), &manifest);
    if (Below(random, 200) == 0) AppendVarint(99, id, &manifest);
  }
  AppendVarint(3, 17, &manifest);
  return manifest;
}

// What a walk finds: each fragment, and the sums over all.
struct Found {
  std::vector<uint64_t> ids;
  std::vector<uint64_t> live_rows;
  std::vector<uint64_t> ends;
  FragmentFacts sums = {.id = 0};
  uint64_t without_row_ids = 0;
  uint64_t deletion_files = 0;

  void Add(const FragmentFacts& facts, uint64_t count) {
    sums.physical_rows += facts.physical_rows;
    sums.deleted_rows += facts.deleted_rows;
    sums.data_file_bytes += facts.data_file_bytes;
    sums.max_field_id = std::max(sums.max_field_id, facts.max_field_id);
    const auto times = static_cast<uint32_t>(count);
    for (size_t i = 0; i < facts.files_by_version.size(); ++i) {
      sums.files_by_version[i] += times * facts.files_by_version[i];
    }
    sums.files_of_unknown_version += times * facts.files_of_unknown_version;
    if (!facts.has_row_ids) without_row_ids += count;
    if (facts.has_deletion_file) deletion_files += count;
  }

  void ExpectEqual(const Found& other) const {
    EXPECT_EQ(ids, other.ids);
    EXPECT_EQ(live_rows, other.live_rows);
    EXPECT_EQ(ends, other.ends);
    EXPECT_EQ(sums.physical_rows, other.sums.physical_rows);
    EXPECT_EQ(sums.deleted_rows, other.sums.deleted_rows);
    EXPECT_EQ(sums.data_file_bytes, other.sums.data_file_bytes);
    EXPECT_EQ(sums.max_field_id, other.sums.max_field_id);
    EXPECT_EQ(sums.files_by_version, other.sums.files_by_version);
    EXPECT_EQ(sums.files_of_unknown_version, other.sums.files_of_unknown_version);
    EXPECT_EQ(without_row_ids, other.without_row_ids);
    EXPECT_EQ(deletion_files, other.deletion_files);
  }
};

// One fragment after the other, each by itself.
arrow::Result<Found> PlainWalk(const std::string& manifest) {
  Found found;
  const auto visit = [&](const Record& record) -> arrow::Status {
    if (record.field_number != 2) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const FragmentFacts facts, ScanDataFragment(record.payload, kWhere));
    found.ids.push_back(facts.id);
    found.live_rows.push_back(KnownLiveRows(facts));
    found.ends.push_back(static_cast<uint64_t>(record.payload.data() + record.payload.size() -
                                               AsBytes(manifest).data()));
    found.Add(facts, 1);
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(VisitRecords(AsBytes(manifest), kWhere, "Manifest", visit));
  return found;
}

// Of bytes that arrive in steps. What has not arrived yet is not what it will be.
arrow::Result<Found> ScanInSteps(const std::string& manifest, size_t step) {
  Found found;
  std::string arrived(manifest.size(), '\xff');
  FragmentScanner scanner(AsBytes(arrived), kWhere);
  for (size_t begin = 0; begin < manifest.size(); begin += step) {
    const size_t end = std::min(begin + step, manifest.size());
    std::copy(manifest.begin() + static_cast<ptrdiff_t>(begin),
              manifest.begin() + static_cast<ptrdiff_t>(end),
              arrived.begin() + static_cast<ptrdiff_t>(begin));
    while (scanner.Next(end)) {
      const FragmentBatch batch = scanner.batch();
      for (const FoundFragment& fragment : batch.fragments) {
        found.ids.push_back(fragment.id);
        found.live_rows.push_back(fragment.live_rows);
        found.ends.push_back(fragment.record.end());
      }
      found.Add(batch.facts, batch.fragments.size());
    }
    ARROW_RETURN_NOT_OK(scanner.status());
  }
  return found;
}

TEST(FragmentScannerTest, FindsWhatAPlainWalkFinds) {
  Random random(7);
  for (const uint64_t num_fragments : {0, 1, 63, 64, 65, 400}) {
    const std::string manifest = RandomManifest(num_fragments, random);
    const Found expected = PlainWalk(manifest).ValueOrDie();
    EXPECT_EQ(expected.ids.size(), num_fragments);
    for (const size_t step : {size_t{1}, size_t{77}, size_t{4096}, manifest.size()}) {
      ScanInSteps(manifest, step).ValueOrDie().ExpectEqual(expected);
    }
  }
}

TEST(FragmentScannerTest, TellsOfDamageWhereAPlainWalkDoes) {
  Random random(8);
  size_t num_errors = 0;
  const std::string whole = RandomManifest(40, random);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (uint64_t flips = Below(random, 3) + 1; flips > 0; --flips) {
      char& byte = damaged[Below(random, damaged.size())];
      byte = static_cast<char>(byte ^ (1 << Below(random, 8)));
    }
    if (Below(random, 4) == 0) damaged.resize(Below(random, damaged.size()) + 1);
    const auto expected = PlainWalk(damaged);
    const auto found = ScanInSteps(damaged, Below(random, 2) == 0 ? 1000 : damaged.size());
    if (expected.ok()) {
      ASSERT_THAT(found, IsOk());
      found->ExpectEqual(*expected);
    } else {
      EXPECT_THAT(found, IsError(ErrorKind::kCorrupt, "_versions/3.manifest, byte "));
      ++num_errors;
    }
  }
  EXPECT_GT(num_errors, 300u);
}

TEST(FragmentScannerTest, FragmentsAlikeComeTogether) {
  std::string manifest;
  for (uint64_t id = 1; id <= 10; ++id) {
    DataFragment fragment = {.id = id, .physical_rows = 10 * id};
    fragment.files.push_back({.path = "a path of fragment " + std::to_string(id),
                              .fields = {0, 1, 4},
                              .column_indices = {0, 1, 2},
                              .file_major_version = 2,
                              .file_minor_version = 1,
                              .file_size_bytes = 1000 + id});
    AppendRecord(2, Serialize(fragment), &manifest);
  }
  FragmentScanner scanner(AsBytes(manifest), kWhere);
  ASSERT_TRUE(scanner.Next(manifest.size()));
  EXPECT_EQ(scanner.batch().fragments.size(), 1);
  ASSERT_TRUE(scanner.Next(manifest.size()));
  const FragmentBatch batch = scanner.batch();
  EXPECT_EQ(batch.fragments.size(), 9);
  EXPECT_EQ(batch.facts.physical_rows, 540);
  EXPECT_EQ(batch.facts.data_file_bytes, 9054);
  EXPECT_EQ(batch.facts.max_field_id, 4);
  EXPECT_EQ(batch.fragments.back().id, 10);
  EXPECT_EQ(batch.fragments.back().live_rows, 100);
  EXPECT_FALSE(scanner.Next(manifest.size()));
  EXPECT_THAT(scanner.status(), IsOk());
}

}  // namespace
}  // namespace glaive::wire
