#include "table/manifest/feature_flags.h"

#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

enum class Answer : uint8_t { kRead, kReadOnly, kRefused, kCorrupt };

struct Bit {
  uint32_t number;
  std::string_view name;
  Answer reader;  // with the bit in that word alone
  Answer writer;
  Answer both;
};

constexpr auto kRead = Answer::kRead;  // and written
constexpr auto kReadOnly = Answer::kReadOnly;
constexpr auto kRefused = Answer::kRefused;
constexpr auto kCorrupt = Answer::kCorrupt;

// What this build does about each bit of a table that has nothing to do with it.
constexpr Bit kBits[] = {
    {0, "deletion files", kRead, kRead, kRead},
    {1, "row ids", kCorrupt, kRead, kCorrupt},
    {2, "v2 format", kRead, kRead, kRead},
    {3, "table config", kRead, kRead, kRead},
    {4, "base paths", kRead, kRead, kRead},
    {5, "no transaction file", kRead, kRead, kRead},
    {6, "overlay", kRead, kRead, kRead},
    {7, "covering index columns", kRead, kRead, kRead},
    {8, "mixed data file versions", kCorrupt, kCorrupt, kRead},
    {9, "reuse index", kRefused, kReadOnly, kRefused},
    {10, "tagged reuse history", kCorrupt, kCorrupt, kReadOnly},
    {11, "lineage", kRefused, kReadOnly, kRefused},
    {12, "tree", kRefused, kReadOnly, kRefused},
    {13, "covering", kRefused, kReadOnly, kRefused},
    {14, "managed blobs", kCorrupt, kCorrupt, kReadOnly},
    {15, "field ids", kCorrupt, kCorrupt, kCorrupt},
    {16, "zone seeds", kCorrupt, kCorrupt, kRefused},
    {17, "object metadata", kRefused, kReadOnly, kRefused},
    {18, "262144", kRefused, kReadOnly, kRefused},
    {40, "1099511627776", kRefused, kReadOnly, kRefused},
    {63, "9223372036854775808", kRefused, kReadOnly, kRefused},
};

Manifest Flagged(uint64_t reader, uint64_t writer) {
  Manifest manifest;
  manifest.fragments = FragmentTable().Insert({{{.id = 0, .physical_rows = 1}}}).ValueOrDie();
  manifest.reader_feature_flags = reader;
  manifest.writer_feature_flags = writer;
  return manifest;
}

void ExpectAnswer(const Manifest& manifest, Answer answer, const Bit& bit) {
  const auto read = CheckReadable(manifest);
  const auto written = CheckWritable(manifest);
  const std::string name(bit.name);
  switch (answer) {
    case Answer::kRead:
      EXPECT_THAT(read, IsOk()) << name;
      EXPECT_THAT(written, IsOk()) << name;
      return;
    case Answer::kReadOnly:
      EXPECT_THAT(read, IsOk()) << name;
      EXPECT_THAT(written, IsError(ErrorKind::kUnsupported, name));
      return;
    case Answer::kRefused:
    case Answer::kCorrupt:
      const auto kind = answer == Answer::kRefused ? ErrorKind::kUnsupported : ErrorKind::kCorrupt;
      EXPECT_THAT(read, IsError(kind, name));
      EXPECT_THAT(read, IsError(kind, std::to_string(uint64_t{1} << bit.number)));
      EXPECT_THAT(written, IsError(kind, name));
  }
}

class FeatureFlagTest : public ::testing::TestWithParam<Bit> {};

TEST_P(FeatureFlagTest, IsUnderstoodOrRefusedByName) {
  const Bit bit = GetParam();
  const uint64_t value = uint64_t{1} << bit.number;
  ExpectAnswer(Flagged(value, 0), bit.reader, bit);
  ExpectAnswer(Flagged(0, value), bit.writer, bit);
  ExpectAnswer(Flagged(value, value), bit.both, bit);
}

INSTANTIATE_TEST_SUITE_P(EveryBit, FeatureFlagTest, ::testing::ValuesIn(kBits),
                         [](const auto& bit) { return "Bit" + std::to_string(bit.param.number); });

TEST(FeatureFlagsTest, AllThatIsRefusedIsNamed) {
  EXPECT_THAT(CheckReadable(Flagged(1u << 12 | 1u << 20, 0)),
              IsError(ErrorKind::kUnsupported, "4096 (fragment tree), 1048576"));
}

TEST(FeatureFlagsTest, TheHighestFieldIdGoesWithItsBit) {
  Manifest manifest = Flagged(0, feature::kNonReusableFieldIds);
  manifest.max_allocated_field_id = 7;
  EXPECT_THAT(CheckWritable(manifest), IsOk());
  manifest.writer_feature_flags = 0;
  EXPECT_THAT(CheckReadable(manifest), IsError(ErrorKind::kCorrupt, "non-reusable field ids"));
}

TEST(FeatureFlagsTest, SayWhatTheVersionHolds) {
  const auto derived = [](const Manifest& previous, Manifest next) {
    EXPECT_THAT(DeriveFlags(previous, next), IsOk());
    return std::pair(next.reader_feature_flags, next.writer_feature_flags);
  };
  using Words = std::pair<uint64_t, uint64_t>;
  const Manifest plain = Flagged(0, 0);
  EXPECT_EQ(derived(Flagged(0xffff & ~(2u | 256u), 0xffff), plain), Words(0, 0))
      << "words are not copied";
  EXPECT_EQ(derived(Flagged(2 | 256, 2 | 256), plain), Words(2 | 256, 2 | 256))
      << "sticky ones are";

  Manifest full = plain;
  full.config["a"] = "1";
  full.base_paths.push_back({.id = 1});
  full.max_allocated_field_id = 3;
  wire::DataFragment deleted{.id = 1, .physical_rows = 2};
  deleted.deletion_file.emplace().num_deleted_rows = 1;
  full.fragments = full.fragments.Insert({{deleted}}).ValueOrDie();
  EXPECT_EQ(derived(plain, full), Words(1 | 16, 1 | 8 | 16 | 32768));

  Manifest indexed = plain;
  wire::AppendBytes(1, std::string("\x5a\x01\x04", 3), &indexed.index_section);  // covers field 4
  EXPECT_EQ(derived(plain, indexed), Words(128, 128));

  Manifest mixed = plain;
  wire::DataFile file{.path = "f", .fields = {0}, .file_major_version = 2};
  mixed.fragments =
      mixed.fragments.Insert({{{.id = 1, .files = {file}, .physical_rows = 1}}}).ValueOrDie();
  EXPECT_EQ(derived(plain, mixed), Words(256, 256)) << "a 2.0 file in a 2.2 table";
  mixed.data_file_version = FileVersion::k2_0;
  EXPECT_EQ(derived(plain, mixed), Words(0, 0));
}

}  // namespace
}  // namespace glaive::table
