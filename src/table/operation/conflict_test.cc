#include "table/operation/conflict.h"

#include <gtest/gtest.h>

#include "table/operation/key_filter.h"
#include "table/sets/roaring.h"
#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

constexpr auto C = Verdict::kCompatible;
constexpr auto B = Verdict::kRebase;
constexpr auto R = Verdict::kRetry;
constexpr auto X = Verdict::kIncompatible;
using Row = std::array<Verdict, kNumOperations>;
using Verdicts = std::array<Row, kNumOperations>;

wire::DataFragment WithFile(uint64_t id, std::string path = "f") {
  return {.id = id, .files = {{.path = std::move(path)}}};
}

// An entry that covers no fragment, or one.
IndexMetadata Index(std::string name, int32_t field, std::optional<uint64_t> fragment = {}) {
  std::vector<RowRange> covered;
  if (fragment) covered.push_back({*fragment, *fragment + 1});
  return {.name = std::move(name), .fields = {field}, .fragment_bitmap = SerializeRoaring(covered)};
}

DataReplacement Replacing(uint64_t fragment_id, std::vector<int32_t> fields) {
  return {{{fragment_id, {.path = "new", .fields = std::move(fields)}}}};
}

// Hides rows of fragment `id`; without rows it is a delete read from another's transaction.
Delete Hiding(uint64_t id, std::optional<std::vector<uint64_t>> rows = {}, std::string path = "f") {
  return {FragmentsOf({WithFile(id, std::move(path))}), {}, "", std::move(rows)};
}
Delete Dropping(uint64_t id) { return {{}, {id}, "", {}}; }

Update Moving(uint64_t id, std::optional<std::vector<uint64_t>> rows = {}) {
  return {.updated_fragments = FragmentsOf({WithFile(id)}),
          .new_fragments = FragmentsOf({WithFile(0, "moved")}),
          .affected_rows = std::move(rows)};
}
Update RewritingColumn(uint64_t id, uint32_t field) {
  return {.updated_fragments = FragmentsOf({WithFile(id)}),
          .fields_modified = {field},
          .mode = Update::Mode::kRewriteColumns,
          .affected_rows = std::vector<uint64_t>{id << 32}};
}

wire::Schema SchemaOf(std::vector<int32_t> ids) {
  wire::Schema schema;
  for (const int32_t id : ids) schema.fields.push_back({.id = id});
  return schema;
}

UpdateMap Setting(std::string key) { return {{{std::move(key), "1"}}, false}; }

// One of each kind, as much in the way of the others as it can be: all touch fragment 1, field 0,
// key "a", index "i", and nothing is promised about nulls.
std::vector<Operation> Clashing() {
  Update update = Moving(1, {{1ull << 32}});
  update.fields_modified = {0};
  update.inserted_rows = "filter";
  update.compacted_sstables = {"step"};
  return {Append{},
          Hiding(1, {{1ull << 32}}),
          Overwrite{.config_upserts = {{"a", "1"}}},
          CreateIndex{{Index("i", 0, 1)}, {}},
          Rewrite{{{FragmentsOf({WithFile(1)}), {}}}, {}},
          Merge{},
          Restore{1},
          ReserveFragments{1},
          update,
          Project{},
          UpdateConfig{.config = Setting("a"), .schema_metadata = Setting("s")},
          Replacing(1, {0}),
          DataOverlay{{{1, {{.data_file = {.path = "overlay"}}}}}},
          UpdateMemWalState{{"step"}},
          Clone{},
          UpdateBases{{{.id = 1, .path = "p"}}}};
}

// And as little: whatever fragment, field, key and index may be told apart, is another one.
std::vector<Operation> Apart(uint64_t fragment, int32_t field, std::string key) {
  return {Append{},
          Hiding(fragment),
          Overwrite{.config_upserts = {{key, "1"}}},
          CreateIndex{{Index(key, field, fragment)}, {}},
          Rewrite{{{FragmentsOf({WithFile(fragment)}), {}}}, {}},
          Merge{.preserves_nullability = true},
          Restore{1},
          ReserveFragments{1},
          RewritingColumn(fragment, static_cast<uint32_t>(field)),
          Project{WrapSchema(SchemaOf({0, 1})), true},
          UpdateConfig{.config = Setting(key)},
          Replacing(fragment, {field}),
          DataOverlay{{{fragment, {{.data_file = {.path = "overlay"}}}}}},
          UpdateMemWalState{},
          Clone{},
          UpdateBases{{{.id = static_cast<uint32_t>(fragment), .path = key}}}};
}

// Ours: rows. Theirs: columns.
constexpr Verdicts kWhenTheyClash = {{
    // Ap De Ov CI Rw Me Rs RF Up Pr UC DR DO MW Cl UB
    {C, C, X, C, C, R, X, C, C, R, C, C, C, X, C, C},  // Append
    {C, B, X, C, R, R, X, C, B, C, C, R, C, X, C, C},  // Delete
    {C, C, X, C, C, C, C, C, C, C, X, C, C, X, C, C},  // Overwrite
    {C, C, X, R, R, C, X, C, C, C, C, R, C, X, C, C},  // CreateIndex
    {C, R, X, R, R, R, X, C, R, C, C, R, R, C, C, C},  // Rewrite
    {R, R, X, C, R, R, X, C, R, X, R, R, R, X, C, C},  // Merge
    {C, C, C, C, C, C, C, C, C, C, X, C, C, X, C, C},  // Restore
    {C, C, X, C, C, C, X, C, C, C, C, C, C, C, C, C},  // ReserveFragments
    {R, B, X, C, R, R, X, C, R, R, C, R, R, R, C, C},  // Update
    {R, C, X, C, C, R, X, C, R, R, C, R, R, X, C, C},  // Project
    {C, C, X, C, C, R, X, C, C, C, X, C, C, C, C, C},  // UpdateConfig
    {C, C, X, R, R, R, X, C, R, R, C, R, C, X, C, C},  // DataReplacement
    {C, C, X, C, R, R, X, C, B, R, C, C, C, X, C, C},  // DataOverlay
    {X, X, X, C, C, X, X, C, R, X, C, X, X, R, X, C},  // UpdateMemWalState
    {C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C},  // Clone
    {C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, X},  // UpdateBases
}};

constexpr Verdicts kWhenTheyAreApart = {{
    // Ap De Ov CI Rw Me Rs RF Up Pr UC DR DO MW Cl UB
    {C, C, X, C, C, C, X, C, C, C, C, C, C, X, C, C},  // Append
    {C, C, X, C, C, R, X, C, C, C, C, C, C, X, C, C},  // Delete
    {C, C, R, C, C, C, C, C, C, C, C, C, C, X, C, C},  // Overwrite
    {C, C, X, C, C, C, X, C, C, C, C, C, C, X, C, C},  // CreateIndex
    {C, C, X, C, C, R, X, C, C, C, C, C, C, C, C, C},  // Rewrite
    {R, R, X, C, R, R, X, C, R, X, C, R, R, X, C, C},  // Merge
    {C, C, C, C, C, C, C, C, C, C, C, C, C, X, C, C},  // Restore
    {C, C, X, C, C, C, X, C, C, C, C, C, C, C, C, C},  // ReserveFragments
    {C, C, X, C, C, R, X, C, C, C, C, C, C, C, C, C},  // Update
    {C, C, X, C, C, R, X, C, C, R, C, C, C, X, C, C},  // Project
    {C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C},  // UpdateConfig
    {C, C, X, C, C, R, X, C, C, C, C, C, C, X, C, C},  // DataReplacement
    {C, C, X, C, C, R, X, C, C, C, C, C, C, X, C, C},  // DataOverlay
    {X, X, X, C, C, X, X, C, C, X, C, X, X, C, X, C},  // UpdateMemWalState
    {C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C},  // Clone
    {C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C},  // UpdateBases
}};

void ExpectVerdicts(const std::vector<Operation>& ours, const std::vector<Operation>& theirs,
                    const Verdicts& expected) {
  for (size_t i = 0; i < kNumOperations; ++i) {
    ASSERT_EQ(ours[i].index(), i);
    for (size_t j = 0; j < kNumOperations; ++j) {
      EXPECT_EQ(Conflict(ours[i], theirs[j]), expected[i][j])
          << kOperationNames[i] << " over " << kOperationNames[j];
    }
  }
}

TEST(ConflictTest, EveryPairThatClashes) { ExpectVerdicts(Clashing(), Clashing(), kWhenTheyClash); }

TEST(ConflictTest, EveryPairThatIsApart) {
  ExpectVerdicts(Apart(1, 0, "a"), Apart(2, 1, "b"), kWhenTheyAreApart);
}

struct Pair {
  std::string_view what;
  Operation ours;
  Operation theirs;
  Verdict verdict;
};

const UpdateConfig kFieldEdit = {.field_metadata = {{0, Setting("x")}}};
const CreateIndex kMemWal = {{Index("__lance_mem_wal", 0)}, {}};

// New rows alone, of keys that are so hashed in field 0; nothing where the update does not say.
Update Inserting(std::optional<std::vector<uint64_t>> hashes, bool bloom = false) {
  Update update{.new_fragments = FragmentsOf({WithFile(0, "new")})};
  if (!hashes) return update;
  KeyFilter filter{.field_ids = {0}, .hashes = *std::move(hashes)};
  update.inserted_rows = SerializeKeyFilter(bloom ? ToBloom(std::move(filter)) : filter);
  return update;
}

Update WithFilter(std::string filter) {
  Update update{.new_fragments = FragmentsOf({WithFile(0, "new")})};
  update.inserted_rows = std::move(filter);
  return update;
}

DataOverlay Overlaying(uint64_t fragment_id, std::vector<int32_t> fields) {
  wire::DataOverlayFile overlay{.data_file = {.path = "o", .fields = std::move(fields)}};
  const RowRange rows = {0, 1};
  overlay.offset_bitmaps = {SerializeRoaring({&rows, 1})};
  return {{{fragment_id, {overlay}}}};
}

Update WithChanged(Update update, std::vector<uint32_t> fields) {
  update.fields_for_preserving_frag_bitmap = std::move(fields);
  return update;
}

// The ways in which a condition can turn out that the two tables do not show.
const Pair kPairs[] = {
    {"delete, delete, rows unknown", Hiding(1), Hiding(1), R},
    {"delete, delete, other files", Hiding(1, {{1ull << 32}}), Hiding(1, {}, "g"), R},
    {"delete, drop of the fragment", Hiding(1, {{1ull << 32}}), Dropping(1), R},
    {"delete, update, rows unknown", Hiding(1), Moving(1), R},
    {"update, delete, rows unknown", Moving(1), Hiding(1), R},
    {"column in place, delete of other rows", RewritingColumn(1, 0), Hiding(1, {{1ull << 32}}), R},
    {"update, update, other rows", Moving(1, {{1ull << 32}}), Moving(1), B},
    {"update, update that removes", Moving(1, {{1ull << 32}}), Update{.removed_fragment_ids = {1}},
     R},
    {"update that removes, update", Update{.removed_fragment_ids = {1}, .affected_rows = {{0}}},
     Moving(1, {{1ull << 32}}), R},
    {"insert, insert, same key", Inserting({{7}}), Inserting({{5, 7}}), R},
    {"insert, insert, other keys", Inserting({{7}}), Inserting({{5, 8}}), C},
    {"insert, insert, same key in a Bloom filter", Inserting({{7}}), Inserting({{5, 7}}, true), R},
    {"insert, insert, Bloom filters", Inserting({{7}}, true), Inserting({{7}}, true), R},
    {"insert, insert, keys that a filter may omit", Inserting({{7}}), Inserting({{}}, true), R},
    {"insert, insert, no keys in its filter", Inserting({{7}}, true), Inserting({{}}, true), C},
    {"insert, insert, keys unknown", Inserting({{7}}), Inserting({}), R},
    {"insert, update of other columns", Inserting({{7}}), WithChanged(Inserting({}), {1, 2}), C},
    {"insert, update of the key", Inserting({{7}}), WithChanged(Inserting({}), {0}), R},
    {"insert, key rewritten in place", Inserting({{7}}), RewritingColumn(1, 0), R},
    {"insert, other column in place", Inserting({{7}}), RewritingColumn(1, 1), C},
    {"insert, key replaced elsewhere", Inserting({{7}}), Replacing(1, {0}), R},
    {"insert, one of two columns replaced", Inserting({{7}}, true), Replacing(1, {4, 0}), R},
    {"insert, other column replaced", Inserting({{7}}), Replacing(1, {1}), C},
    {"insert of nothing, key replaced", Inserting({{}}), Replacing(1, {0}), C},
    {"insert of keys unknown, replacement", WithFilter("rubbish"), Replacing(1, {1}), R},
    {"replacement, insert", Replacing(1, {0}), Inserting({{7}}), C},
    {"insert, key overlaid", Inserting({{7}}), Overlaying(1, {0}), R},
    {"insert, other column overlaid", Inserting({{7}}), Overlaying(1, {1}), C},
    {"insert of nothing, insert", Inserting({{}}), Inserting({}), C},
    {"insert of nothing, append", Inserting({{}}), Append{}, C},
    {"insert, append", Inserting({{7}}), Append{}, R},
    {"append, insert", Append{}, Inserting({{7}}), C},
    {"append, merge with the promise", Append{}, Merge{.preserves_nullability = true}, C},
    {"update, overlay elsewhere", Moving(1),
     DataOverlay{{{2, {{.data_file = {.path = "overlay"}}}}}}, C},
    {"update, overlay on its row", Moving(1, {{1ull << 32}}), Overlaying(1, {0}), R},
    {"update, overlay on the row before", Moving(1, {{(1ull << 32) + 1}}), Overlaying(1, {0}), C},
    {"update, overlay on that row elsewhere", Moving(1, {{2ull << 32}}), Overlaying(1, {0}), C},
    {"update of rows unknown, overlay", Moving(1), Overlaying(1, {0}), R},
    {"column in place, overlay on it", RewritingColumn(1, 0), Overlaying(1, {0}), R},
    {"column in place, overlay on another", RewritingColumn(1, 0), Overlaying(1, {1}), C},
    {"replacement, rows of its fragment moved", Replacing(1, {0}), Moving(1), R},
    {"update, project that drops its field", RewritingColumn(1, 7),
     Project{WrapSchema(SchemaOf({0})), true}, R},
    {"overwrite, overwrite, same key", Overwrite{.config_upserts = {{"a", "1"}}},
     Overwrite{.config_upserts = {{"a", "1"}}}, X},
    {"config, overwrite, field metadata", kFieldEdit, Overwrite{}, X},
    {"config, config, same field", kFieldEdit, kFieldEdit, X},
    {"config, config, both delete", UpdateConfig{.config = UpdateMap{{{"a", {}}}, false}},
     UpdateConfig{.config = UpdateMap{{{"a", {}}}, false}}, C},
    {"config, config, table metadata replaced", UpdateConfig{.table_metadata = UpdateMap{{}, true}},
     UpdateConfig{.table_metadata = Setting("a")}, X},
    {"restore, field metadata", Restore{1}, kFieldEdit, X},
    {"index, drop of its name", CreateIndex{{Index("i", 0)}, {}}, CreateIndex{{}, {Index("i", 0)}},
     R},
    {"index of unknown coverage, rewrite", CreateIndex{{{.fields = {5}}}, {}},
     Rewrite{{{FragmentsOf({WithFile(1)}), {}}}, {}}, R},
    {"drop, rewrite", CreateIndex{{}, {Index("i", 0)}},
     Rewrite{{{FragmentsOf({WithFile(1)}), {}}}, {}}, C},
    {"merge, log index", Merge{}, kMemWal, R},
    {"log index, log", kMemWal, UpdateMemWalState{}, R},
    {"log, log index", UpdateMemWalState{{"step"}}, kMemWal, R},
    {"replacement, fragment gone", Replacing(1, {0}), Dropping(1), X},
    {"replacement, update that removes", Replacing(1, {0}), Update{.removed_fragment_ids = {1}}, X},
    {"replacement, same field", Replacing(1, {0}), RewritingColumn(1, 0), R},
    {"replacement, other field", Replacing(1, {0}), RewritingColumn(1, 2), C},
    {"replacement, one of two fields", Replacing(1, {0, 2}), Replacing(1, {2}), R},
    {"replacement, other fragment", Replacing(1, {0}), Replacing(2, {0}), C},
    {"replacement, its field dropped", Replacing(1, {5}), Project{WrapSchema(SchemaOf({0})), true},
     X},
    {"overlay, fragment gone", DataOverlay{{{1, {}}}}, Dropping(1), R},
    {"overlay, update that removes", DataOverlay{{{1, {}}}}, Update{.removed_fragment_ids = {1}},
     R},
    {"bases, same name", UpdateBases{{{.id = 1, .name = "n", .path = "p"}}},
     UpdateBases{{{.id = 2, .name = "n", .path = "q"}}}, X},
};

TEST(ConflictTest, Conditions) {
  for (const auto& [what, ours, theirs, verdict] : kPairs) {
    EXPECT_EQ(Conflict(ours, theirs), verdict) << what;
  }
}

TEST(ConflictTest, VerdictsBecomeTypedErrors) {
  const auto retry = CheckConflict(Hiding(1), Hiding(1), 7);
  EXPECT_THAT(retry,
              IsError(ErrorKind::kCommitConflict, "Commit conflict for version 7: this Delete"));
  EXPECT_TRUE(IsRetryable(retry));
  EXPECT_FALSE(IsRetryable(CheckConflict(Append{}, Overwrite{}, 7)));
  EXPECT_THAT(CheckConflict(Hiding(1, {{1ull << 32}}), Hiding(1), 7), IsOk());
}

TEST(ConflictTest, EveryLetterIsARuleWithAMeaning) {
  for (size_t ours = 0; ours < kNumOperations; ++ours) {
    for (size_t theirs = 0; theirs < kNumOperations; ++theirs) {
      EXPECT_NE(MeaningOf(RuleFor(ours, theirs)), "")
          << kOperationNames[ours] << " over " << kOperationNames[theirs];
    }
  }
}

}  // namespace
}  // namespace glaive::table
