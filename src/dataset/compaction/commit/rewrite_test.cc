// What a compaction's commit makes of versions that others made since its tasks read.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "dataset/compaction/commit/commit.h"
#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/config.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/staged_columns.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "table/sets/roaring.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"

namespace glaive {
namespace {

using glaive::testing::Fault;
using glaive::testing::FaultyStore;
using glaive::testing::HookedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;
using glaive::testing::StoreCall;
using glaive::testing::StoreCallKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kUri[] = "rewrites://table";

class Registered {
 public:
  explicit Registered(const std::shared_ptr<io::ObjectStore>& store) {
    io::RegisterStore("rewrites", store);
  }
  ~Registered() { io::RegisterStore("rewrites", nullptr); }
};

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t begin, int64_t end) {
  const auto rows = NumberedRows(begin, end);
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

// Nothing is remembered of what a store did before.
Dataset Open() {
  return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
}

// Version 2: six fragments of ten rows, some of which are deleted.
Dataset MakeTable(bool stable_row_ids) {
  ARROW_CHECK_OK(WriteDataset(Rows(0, 60), kUri,
                              {.mode = WriteMode::kCreate,
                               .limits = {.max_rows_per_file = 10},
                               .enable_stable_row_ids = stable_row_ids,
                               .session = std::make_shared<Session>()})
                     .status());
  ARROW_CHECK_OK(Delete(Open(), Predicate::Sql("a IN (3, 4, 25, 41)")).status());
  return Open();
}

// Three tasks of two fragments each.
std::vector<RewriteResult> Compacted(const Dataset& dataset) {
  const auto plan = PlanCompaction(dataset, {.target_rows_per_fragment = 18}).ValueOrDie();
  std::vector<RewriteResult> results;
  for (const CompactionTask& task : plan.tasks) {
    results.push_back(ExecuteCompaction(dataset, task, plan.options).ValueOrDie());
  }
  return results;
}

// Rows as text, by their number; with stable row ids, these too.
std::map<int64_t, std::string> Content(const Dataset& dataset, bool with_row_id) {
  std::map<int64_t, std::string> content;
  const auto table = ToReader(Scan(dataset, {.with_row_id = with_row_id}).ValueOrDie())
                         ->ToTable()
                         .ValueOrDie()
                         ->CombineChunks()
                         .ValueOrDie();
  for (int64_t row = 0; row < table->num_rows(); ++row) {
    std::string text;
    for (const auto& column : table->columns()) {
      text += column->GetScalar(row).ValueOrDie()->ToString() + " ";
    }
    const auto id = table->GetColumnByName("a")->GetScalar(row).ValueOrDie();
    const bool is_new = content.emplace(std::stoll(id->ToString()), std::move(text)).second;
    EXPECT_TRUE(is_new) << "row " << id->ToString() << " is there twice";
  }
  return content;
}

std::set<std::string> Files(io::ObjectStore& store) {
  std::set<std::string> files;
  for (const auto& file : store.ListRecursive("/table").ValueOrDie()) {
    if (file.path.find("latest_version_hint") == std::string::npos) files.insert(file.path);
  }
  return files;
}

std::set<std::string> FilesIn(io::ObjectStore& store, const std::string& folder) {
  std::set<std::string> files = Files(store);
  std::erase_if(files, [&](const auto& path) { return path.find(folder) == std::string::npos; });
  return files;
}

struct Winner {
  std::string name;
  std::function<arrow::Status(const Dataset&)> run;
  std::vector<uint64_t> left;  // first fragment of each task that is given up
  bool ends_all = false;
};

const std::vector<Winner>& Winners() {
  const auto sql = [](const char* text) { return Predicate::Sql(text); };
  static const std::vector<Winner> winners = {
      {"nobody", [](const Dataset&) { return arrow::Status::OK(); }},
      {"append",
       [](const Dataset& table) {
         return WriteDataset(Rows(60, 75), table, {.mode = WriteMode::kAppend}).status();
       }},
      {"delete of some rows",
       [&](const Dataset& table) {
         return Delete(table, sql("a IN (0, 5, 19, 20, 42, 59)")).status();
       }},
      {"two deletes",
       [&](const Dataset& table) {
         ARROW_RETURN_NOT_OK(Delete(table, sql("a < 3")).status());
         return Delete(Open(), sql("a % 10 = 9")).status();
       }},
      {"delete of a whole fragment",
       [&](const Dataset& table) { return Delete(table, sql("a < 10 OR a = 12")).status(); }},
      {"delete of a whole fragment that was whole",
       [&](const Dataset& table) { return Delete(table, sql("a >= 10 AND a < 20")).status(); }},
      {"delete of all a new fragment holds",
       [&](const Dataset& table) { return Delete(table, sql("a < 20")).status(); },
       {0}},
      {"delete of all rows",
       [&](const Dataset& table) { return Delete(table, sql("true")).status(); },
       {0, 2, 4}},
      {"update that moves rows",
       [&](const Dataset& table) {
         return Update(table, std::vector<ColumnUpdate>{{"s", "'moved'"}}, sql("a % 7 = 1"))
             .status();
       }},
      {"update that moves a whole fragment",
       [&](const Dataset& table) {
         return Update(table, std::vector<ColumnUpdate>{{"s", "'moved'"}},
                       sql("a >= 20 AND a < 30"))
             .status();
       }},
      {"merge by key",
       [&](const Dataset& table) {
         return MergeInsert(table, Rows(15, 65),
                            {.on = {"a"},
                             .when_matched = WhenMatched::kUpdateAll,
                             .insert_not_matched = true})
             .status();
       },
       {2, 4}},
      {"compaction of the first two",
       [](const Dataset& table) {
         return CompactFiles(table, {.target_rows_per_fragment = 18, .max_source_fragments = 2})
             .status();
       },
       {0}},
      {"compaction of the first two, and a delete beside it",
       [&](const Dataset& table) {
         ARROW_RETURN_NOT_OK(
             CompactFiles(table, {.target_rows_per_fragment = 18, .max_source_fragments = 2})
                 .status());
         return Delete(Open(), sql("a IN (5, 33)")).status();
       },
       {0}},
      {"compaction of all",
       [](const Dataset& table) { return CompactFiles(table).status(); },
       {0, 2, 4}},
      {"new column with values",
       [](const Dataset& table) {
         return AddColumns(table, std::vector<ComputedColumn>{{"twice", "a * 2"}}).status();
       },
       {0, 2, 4}},
      {"new column without values",
       [](const Dataset& table) {
         return AddColumns(table, NullColumns{arrow::schema({arrow::field("n", arrow::int8())})})
             .status();
       }},
      {"column dropped",
       [](const Dataset& table) {
         return DropColumns(table, std::vector<std::string>{"s"}).status();
       }},
      {"column renamed",
       [](const Dataset& table) {
         return AlterColumns(table, std::vector<ColumnAlteration>{{.path = "s", .name = "t"}})
             .status();
       }},
      {"column cast",
       [](const Dataset& table) {
         return AlterColumns(table, std::vector<ColumnAlteration>{{.path = "s",
                                                                   .type = arrow::large_utf8()}})
             .status();
       },
       {0, 2, 4}},
      {"config",
       [](const Dataset& table) {
         return UpdateConfig(table, {.entries = {{"key", "value"}}}).status();
       }},
      {"overwrite",
       [](const Dataset& table) {
         return WriteDataset(Rows(0, 30), table,
                             {.mode = WriteMode::kOverwrite, .limits = {.max_rows_per_file = 10}})
             .status();
       },
       {},
       true},
      {"restore",
       [](const Dataset& table) -> arrow::Status {
         ARROW_ASSIGN_OR_RAISE(const Dataset first, table.Checkout(1));
         return Restore(first).status();
       },
       {},
       true},
  };
  return winners;
}

void ExpectFiles(io::ObjectStore& store, const RewriteResult& result, bool are_there) {
  for (const FragmentMetadata& fragment : result.new_fragments) {
    const auto path = "/table/data/" + fragment.files().front().path;
    EXPECT_EQ(store.Head(path).ValueOrDie().has_value(), are_there) << path;
  }
}

class RewriteCommitTest : public ::testing::TestWithParam<bool> {};

TEST_P(RewriteCommitTest, OnlyTasksThatAreInTheWayAreLeft) {
  const bool stable = GetParam();
  for (const Winner& winner : Winners()) {
    SCOPED_TRACE(winner.name);
    const auto store = io::MakeMemoryStore();
    const Registered registered(store);
    const Dataset table = MakeTable(stable);
    const auto results = Compacted(table);
    ASSERT_EQ(results.size(), 3u);
    ASSERT_THAT(winner.run(table), IsOk());
    const Dataset before = Open();
    const auto content = Content(before, stable);

    const auto committed = CommitCompaction(table, results);
    const Dataset after = Open();
    EXPECT_EQ(Content(after, stable), content);
    EXPECT_THAT(Validate(after), IsOk());
    std::vector<uint64_t> left;
    if (winner.ends_all) {
      EXPECT_THAT(committed, IsError(ErrorKind::kCommitConflict, "cannot follow"));
      EXPECT_FALSE(IsRetryable(committed.status()));
      EXPECT_EQ(after.version(), before.version());
      continue;
    }
    if (winner.left.size() == results.size()) {
      EXPECT_THAT(committed, IsError(ErrorKind::kCommitConflict, ""));
      EXPECT_TRUE(IsRetryable(committed.status()));
      EXPECT_EQ(after.version(), before.version());
    } else {
      ASSERT_THAT(committed, IsOk());
      EXPECT_EQ(after.version(), before.version() + 1);  // no ids are reserved
      for (const LeftTask& task : committed->left) left.push_back(task.fragment_ids.front());
      EXPECT_EQ(left, winner.left);
    }
    // Somebody else may be about to publish what was left.
    for (const RewriteResult& result : results) ExpectFiles(*store, result, true);
  }
}

TEST_P(RewriteCommitTest, WhatOneCallMadeAndLeftIsRemoved) {
  for (const Winner& winner : Winners()) {
    if (winner.ends_all) continue;
    SCOPED_TRACE(winner.name);
    const auto store = io::MakeMemoryStore();
    const Registered registered(store);
    const Dataset table = MakeTable(GetParam());
    const auto results = Compacted(table);
    ASSERT_THAT(winner.run(table), IsOk());
    const auto committed =
        dataset::CommitCompaction(table, results, {}, dataset::ResultsOf::kThisCall);
    EXPECT_EQ(committed.ok(), winner.left.size() < results.size());
    for (const RewriteResult& result : results) {
      const bool is_left =
          std::ranges::count(winner.left, result.original_fragments.front().id()) > 0;
      ExpectFiles(*store, result, !is_left);
    }
    EXPECT_THAT(Validate(Open()), IsOk());
  }
}

INSTANTIATE_TEST_SUITE_P(RowIds, RewriteCommitTest, ::testing::Bool());

TEST(RewriteResultsTest, ResultsLandOnce) {
  const Registered registered(io::MakeMemoryStore());
  const Dataset table = MakeTable(false);
  const auto results = Compacted(table);
  ASSERT_THAT(CommitCompaction(table, results), IsOk());
  const auto content = Content(Open(), false);
  const auto again = CommitCompaction(table, results);
  EXPECT_THAT(again, IsError(ErrorKind::kCommitConflict, "committed already"));
  EXPECT_FALSE(IsRetryable(again.status()));
  const auto partial = CommitCompaction(table, results, {.partial = true}).ValueOrDie();
  EXPECT_EQ(partial.left.size(), 3u);
  // Also after the version with them is no longer the newest.
  ASSERT_THAT(CompactFiles(Open()), IsOk());
  EXPECT_THAT(CommitCompaction(table, results), IsError(ErrorKind::kCommitConflict, "already"));
  EXPECT_EQ(Content(Open(), false), content);
  EXPECT_EQ(Content(Dataset::Open(kUri, {.version = 3}).ValueOrDie(), false), content);
}

TEST(RewriteResultsTest, OfTwoResultsOfOneTaskOneLands) {
  const auto store = io::MakeMemoryStore();
  const Registered registered(store);
  const Dataset table = MakeTable(false);
  auto results = Compacted(table);
  results.push_back(Compacted(table)[1]);
  results.push_back(results[0]);
  const auto content = Content(table, false);
  const auto committed = CommitCompaction(table, results).ValueOrDie();
  ASSERT_EQ(committed.left.size(), 2u);
  EXPECT_THAT(committed.left[0].reason, IsError(ErrorKind::kCommitConflict, "another of the"));
  EXPECT_EQ(Content(Open(), false), content);
}

TEST(RewriteResultsTest, ResultsOfAnotherTableAreRefused) {
  const Registered registered(io::MakeMemoryStore());
  const auto results = Compacted(MakeTable(false));
  const Registered another(io::MakeMemoryStore());
  const Dataset table = MakeTable(false);
  EXPECT_THAT(CommitCompaction(table, results),
              IsError(ErrorKind::kInvalidInput, "of another table"));
}

TEST(RewriteResultsTest, AFileThatIsGoneLeavesItsTask) {
  const auto store = io::MakeMemoryStore();
  const Registered registered(store);
  const Dataset table = MakeTable(false);
  std::vector<RewriteResult> results;
  for (const auto& result : Compacted(table)) {
    results.push_back(RewriteResult::FromJson(result.ToJson()).ValueOrDie());
  }
  const std::string lost = results[1].new_fragments[0].files()[0].path;
  ASSERT_THAT(store->Delete("/table/data/" + lost), IsOk());
  const auto committed = CommitCompaction(table, results).ValueOrDie();
  ASSERT_EQ(committed.left.size(), 1u);
  EXPECT_THAT(committed.left[0].reason, IsError(ErrorKind::kInvalidInput, "is not there any more"));
  EXPECT_EQ(Content(Open(), false), Content(table, false));
}

TEST(RewriteResultsTest, AFileOfAnotherSizeLeavesItsTask) {
  const auto store = io::MakeMemoryStore();
  const Registered registered(store);
  const Dataset table = MakeTable(false);
  std::vector<RewriteResult> results;
  for (const auto& result : Compacted(table)) {
    results.push_back(RewriteResult::FromJson(result.ToJson()).ValueOrDie());
  }
  const std::string torn = "/table/data/" + results[1].new_fragments[0].files()[0].path;
  const std::string bytes = store->ReadWhole(torn).ValueOrDie()->ToString();
  ASSERT_THAT(store->Put(torn, std::as_bytes(std::span(bytes).first(bytes.size() / 2))), IsOk());
  const auto committed = CommitCompaction(table, results).ValueOrDie();
  ASSERT_EQ(committed.left.size(), 1u);
  EXPECT_EQ(Content(Open(), false), Content(table, false));
}

// What a version that is gone did with them is not known.
TEST(RewriteResultsTest, FilesOfResultsAreLeftWhereTheHistoryIsNotWhole) {
  const auto store = io::MakeMemoryStore();
  const Registered registered(store);
  const Dataset table = MakeTable(false);
  const auto results = Compacted(table);
  ASSERT_THAT(CommitCompaction(table, {{results[0]}}), IsOk());
  ASSERT_THAT(CreateTag(Open(), "keep"), IsOk());
  ASSERT_THAT(CreateBranch(Open(), "b"), IsOk());
  ASSERT_THAT(DeleteTag(Open(), "keep"), IsOk());
  ASSERT_THAT(Delete(Open(), Predicate::Sql("true")), IsOk());
  ASSERT_THAT(WriteDataset(Rows(0, 5), Open(), {.mode = WriteMode::kAppend}), IsOk());
  // The version that brought them is gone from this line; a branch still has their rows.
  for (const auto& entry : store->List("/table/_versions").ValueOrDie()) {
    if (entry.path.find("18446744073709551612") != std::string::npos) {
      ASSERT_THAT(store->Delete(entry.path), IsOk());
    }
  }
  static_cast<void>(CommitCompaction(table, results));
  const auto branch = Open().Checkout(BranchVersion{"b", std::nullopt});
  ASSERT_THAT(branch, IsOk());
  EXPECT_THAT(Validate(*branch), IsOk());
}

TEST(RewriteResultsTest, ValuesThatWereReplacedMeanwhileStay) {
  const Registered registered(io::MakeMemoryStore());
  const Dataset table = MakeTable(false);
  const auto results = Compacted(table);
  const auto values = NumberedRows(110, 120, /*with_text=*/false);
  const auto stream = arrow::RecordBatchReader::Make({values}, values->schema()).ValueOrDie();
  const auto schema = ColumnSchema(table, *values->schema()).ValueOrDie();
  const auto staged = StageColumns(table, 1, stream, schema).ValueOrDie();
  ASSERT_THAT(CommitColumns(table, {{staged}}), IsOk());
  const auto content = Content(Open(), false);
  const auto committed = CommitCompaction(table, results).ValueOrDie();
  ASSERT_EQ(committed.left.size(), 1u);
  EXPECT_THAT(committed.left[0].reason, IsError(ErrorKind::kCommitConflict, "other values"));
  EXPECT_EQ(Content(Open(), false), content);
}

// Only when its rows were changed tells the difference.
TEST(RewriteResultsTest, ColumnsThatWereUpdatedInPlaceAreAnotherLineage) {
  const Registered registered(io::MakeMemoryStore());
  const Dataset table = MakeTable(true);
  const auto results = Compacted(table);
  operation::Update update{.updated_fragments = {table.Fragments().ValueOrDie()[2]},
                           .fields_modified = {0},
                           .mode = operation::Update::Mode::kRewriteColumns};
  const RowRange rows = {0, 3};
  update.updated_fragment_offsets = {{2, table::SerializeRoaring({&rows, 1})}};
  ASSERT_THAT(Commit(table, {.read_version = table.version(), .operation = update}), IsOk());
  const auto committed = CommitCompaction(table, results).ValueOrDie();
  ASSERT_EQ(committed.left.size(), 1u);
  EXPECT_THAT(committed.left[0].reason,
              IsError(ErrorKind::kCommitConflict, "other row ids or row versions"));
}

// Lets somebody else in before the first few manifests are put.
class RacedStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;
  std::function<void()> race;
  int num_races = 0;

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    const bool publishes =
        call.kind == StoreCallKind::kPutIfAbsent && call.path.ends_with(".manifest");
    if (publishes && num_races > 0 && race && !is_racing_) {
      is_racing_ = true;
      --num_races;
      race();
      is_racing_ = false;
    }
    return perform();
  }

 private:
  bool is_racing_ = false;
};

TEST_P(RewriteCommitTest, EachAttemptMeetsWhatCameBefore) {
  const bool stable = GetParam();
  const auto inner = io::MakeMemoryStore();
  const auto store = std::make_shared<RacedStore>(inner);
  const Registered registered(store);
  const Dataset table = MakeTable(stable);
  const auto results = Compacted(table);
  ASSERT_THAT(Delete(table, Predicate::Sql("a IN (7, 45)")), IsOk());
  int turn = 0;
  store->race = [&] {
    ++turn;
    // Takes ids, so that deletion files get other names; then deletes; then nothing of ours.
    if (turn == 1) {
      ARROW_CHECK_OK(WriteDataset(Rows(60, 65), Open(), {.mode = WriteMode::kAppend}).status());
    } else if (turn == 2) {
      ARROW_CHECK_OK(Delete(Open(), Predicate::Sql("a IN (8, 27)")).status());
    } else {
      ARROW_CHECK_OK(UpdateConfig(Open(), {.entries = {{"k", "v"}}}).status());
    }
  };
  store->num_races = 3;
  const auto committed = CommitCompaction(table, results);
  ASSERT_THAT(committed, IsOk());
  EXPECT_EQ(turn, 3);
  EXPECT_THAT(committed->left, IsEmpty());
  const auto content = Content(Open(), stable);
  EXPECT_EQ(content.size(), 60u - 4 - 4 + 5);
  for (const int64_t gone : {3, 4, 7, 8, 25, 27, 41, 45}) EXPECT_FALSE(content.contains(gone));
  // Deletion files of versions 2, 3 and 5, and of the rewrite's three fragments. The third one's is
  // from the first attempt, but for its name.
  EXPECT_EQ(FilesIn(*inner, "_deletions").size(), 3u + 2 + 2 + 3);
  EXPECT_THAT(Validate(Open()), IsOk());
}

TEST_P(RewriteCommitTest, TheTableIsWholeWhicheverCallFails) {
  for (const Fault fault : {Fault::kBeforeEffect, Fault::kAfterEffect}) {
    for (uint64_t call = 0;; ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const auto inner = io::MakeMemoryStore();
      const auto store = std::make_shared<FaultyStore>(inner);
      const Registered registered(store);
      const Dataset table = MakeTable(GetParam());
      const auto results = Compacted(table);
      ARROW_CHECK_OK(Delete(table, Predicate::Sql("a IN (1, 30)")).status());
      const auto content = Content(Open(), GetParam());
      const uint64_t version = Open().version();
      const auto files = Files(*inner);
      store->FailAt(call, fault);
      const auto committed = CommitCompaction(table, results);
      const bool has_failed = store->has_failed();
      store->Disarm();
      const Dataset after = Open();
      EXPECT_EQ(Content(after, GetParam()), content);
      EXPECT_THAT(Validate(after), IsOk());
      if (committed.ok()) {
        EXPECT_EQ(after.version(), version + 1);
      } else if (KindOf(committed.status()) != ErrorKind::kCommitUnknown) {
        EXPECT_EQ(after.version(), version);
        EXPECT_EQ(Files(*inner), files);
        // The results are as good as before.
        EXPECT_THAT(CommitCompaction(table, results), IsOk());
      }
      if (!has_failed) break;
    }
  }
}

}  // namespace
}  // namespace glaive
