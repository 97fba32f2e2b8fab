// What every verb that changes a table leaves behind when the store fails it, or when the machine
// stops: some version as a whole, at least the last one that was reported.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/compaction.h"
#include "glaive/config.h"
#include "glaive/dataset.h"
#include "glaive/refs.h"
#include "glaive/repair.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"
#include "testing/recording_store.h"

namespace glaive {
namespace {

using glaive::testing::Crash;
using glaive::testing::Fault;
using glaive::testing::FaultyStore;
using glaive::testing::IsOk;
using glaive::testing::RecordingStore;
using glaive::testing::StoreCallKind;
using ::testing::IsEmpty;

constexpr char kUri[] = "faults://table";

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t begin, int64_t end) {
  arrow::Int64Builder ids;
  arrow::StringBuilder texts;
  for (int64_t i = begin; i < end; ++i) {
    ARROW_CHECK_OK(ids.Append(i));
    ARROW_CHECK_OK(texts.Append("row " + std::to_string(i)));
  }
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("text", arrow::utf8())});
  const auto batch = arrow::RecordBatch::Make(
      schema, end - begin, {ids.Finish().ValueOrDie(), texts.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

// A cache of its own each time, so that nothing is remembered from before a fault.
arrow::Result<Dataset> Open(std::optional<uint64_t> version = std::nullopt) {
  return Dataset::Open(kUri, {.version = version, .session = std::make_shared<Session>()});
}

arrow::Status Write(WriteMode mode, int64_t begin, int64_t end, bool stable_row_ids) {
  return WriteDataset(Rows(begin, end), kUri,
                      {.mode = mode,
                       .limits = {.max_rows_per_file = 10},
                       .enable_stable_row_ids = stable_row_ids,
                       .session = std::make_shared<Session>()})
      .status();
}

struct Verb {
  std::string name;
  std::function<arrow::Status(const Dataset&)> run;
};

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> verbs = {
      {"append", [](const Dataset&) { return Write(WriteMode::kAppend, 100, 125, false); }},
      {"overwrite", [](const Dataset&) { return Write(WriteMode::kOverwrite, 200, 215, false); }},
      {"delete",
       [](const Dataset& dataset) {
         return Delete(dataset, Predicate::Sql("id % 3 = 1")).status();
       }},
      {"delete of fragments",
       [](const Dataset& dataset) { return Delete(dataset, Predicate::Sql("id < 20")).status(); }},
      {"compact", [](const Dataset& dataset) { return CompactFiles(dataset).status(); }},
      {"add_columns",
       [](const Dataset& dataset) {
         return AddColumns(dataset, std::vector<ComputedColumn>{{"twice", "id * 2"}}).status();
       }},
      {"drop_columns",
       [](const Dataset& dataset) {
         return DropColumns(dataset, std::vector<std::string>{"text"}).status();
       }},
      {"update_config",
       [](const Dataset& dataset) {
         return UpdateConfig(dataset, {.entries = {{"key", "value"}}}).status();
       }},
      {"update",
       [](const Dataset& dataset) {
         return Update(dataset, std::vector<ColumnUpdate>{{"text", "'updated'"}},
                       Predicate::Sql("id % 4 = 1"))
             .status();
       }},
      {"merge_insert",
       [](const Dataset& dataset) {
         return MergeInsert(dataset, Rows(30, 230),
                            {.on = {"id"},
                             .when_matched = WhenMatched::kUpdateAll,
                             .insert_not_matched = true,
                             .delete_not_matched_by_source = true})
             .status();
       }},
      {"restore",
       [](const Dataset& dataset) -> arrow::Status {
         ARROW_ASSIGN_OR_RAISE(const Dataset first, dataset.Checkout(1));
         return Restore(first).status();
       }},
      {"create_tag",
       [](const Dataset& dataset) { return CreateTag(dataset, "tag", Reference(uint64_t{1})); }},
      {"create_branch",
       [](const Dataset& dataset) { return CreateBranch(dataset, "branch").status(); }},
      {"alter_columns, which casts",
       [](const Dataset& dataset) {
         return AlterColumns(dataset,
                             std::vector<ColumnAlteration>{{.path = "id", .type = arrow::int32()}})
             .status();
       }},
      {"alter_columns, which renames",
       [](const Dataset& dataset) {
         return AlterColumns(dataset,
                             std::vector<ColumnAlteration>{{.path = "text", .name = "words"}})
             .status();
       }},
  };
  return verbs;
}

// Version 3: six fragments, some rows of which are deleted.
void MakeTable(bool stable_row_ids) {
  ARROW_CHECK_OK(Write(WriteMode::kCreate, 0, 40, stable_row_ids));
  ARROW_CHECK_OK(Write(WriteMode::kAppend, 40, 60, stable_row_ids));
  ARROW_CHECK_OK(Delete(Open().ValueOrDie(), Predicate::Sql("id IN (3, 4, 45)")).status());
}

class Registered {
 public:
  explicit Registered(const std::shared_ptr<io::ObjectStore>& store) {
    io::RegisterStore("faults", store);
  }
  ~Registered() { io::RegisterStore("faults", nullptr); }
};

RowHash HashOf(const Dataset& dataset) { return ContentOf(dataset).ValueOrDie().rows; }

class VerbFaultTest : public ::testing::TestWithParam<std::tuple<Fault, bool>> {};

TEST_P(VerbFaultTest, TheTableIsWholeWhicheverCallFails) {
  const auto [fault, stable_row_ids] = GetParam();
  for (const Verb& verb : Verbs()) {
    std::optional<RowHash> after;  // a run without a fault
    {
      const Registered store(io::MakeMemoryStore());
      MakeTable(stable_row_ids);
      ASSERT_THAT(verb.run(Open().ValueOrDie()), IsOk()) << verb.name;
      after = HashOf(Open().ValueOrDie());
    }
    uint64_t call = 0;
    for (;; ++call) {
      SCOPED_TRACE(verb.name + ", call " + std::to_string(call));
      const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
      const Registered registered(store);
      MakeTable(stable_row_ids);
      const Dataset before = Open().ValueOrDie();
      const RowHash hash_before = HashOf(before);
      store->FailAt(call, fault);
      const arrow::Status status = verb.run(before);
      const bool has_failed = store->has_failed();
      const auto failed_kind = store->failed_kind();
      store->Disarm();

      const Dataset newest = Open().ValueOrDie();
      const bool unknown = !status.ok() && KindOf(status) == ErrorKind::kCommitUnknown;
      if (status.ok()) {
        ASSERT_EQ(HashOf(newest), *after);
      } else if (!unknown) {
        ASSERT_EQ(HashOf(newest), hash_before) << status.ToString();
      }
      ASSERT_EQ(HashOf(Open(before.version()).ValueOrDie()), hash_before);
      const FileSurvey survey = SurveyFiles(kUri).ValueOrDie();
      ASSERT_THAT(survey.missing, IsEmpty()) << survey.missing[0].path;
      // Only what could not be removed, or may belong to a version, stays behind.
      if (!unknown && failed_kind != StoreCallKind::kDelete) {
        ASSERT_THAT(survey.orphans, IsEmpty()) << survey.orphans[0].path << status.ToString();
      }
      if (!has_failed) {
        ASSERT_THAT(status, IsOk());
        break;
      }
    }
    EXPECT_GE(call, 3u) << verb.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, VerbFaultTest,
                         ::testing::Combine(::testing::Values(Fault::kBeforeEffect,
                                                              Fault::kAfterEffect),
                                            ::testing::Bool()));

// What is kept stays whole, and a clean-up that was cut short is finished by the next one.
TEST(CleanUpFaultTest, TheNextOneFinishesIt) {
  uint64_t call = 0;
  for (;; ++call) {
    SCOPED_TRACE(call);
    const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
    const Registered registered(store);
    MakeTable(false);
    ASSERT_THAT(CompactFiles(Open().ValueOrDie()), IsOk());
    const Dataset before = Open().ValueOrDie();
    const RowHash hash = HashOf(before);
    store->FailAt(call, Fault::kBeforeEffect, /*and_later_ones=*/true);
    const auto cleaned = CleanUp(before, {.retain_versions = 1});
    const bool has_failed = store->has_failed();
    store->Disarm();
    ASSERT_EQ(HashOf(Open().ValueOrDie()), hash);
    if (!has_failed) {
      ASSERT_THAT(cleaned, IsOk());
    }
    ASSERT_THAT(CleanUp(Open().ValueOrDie(), {.retain_versions = 1, .delete_unverified = true}),
                IsOk());
    ASSERT_EQ(HashOf(Open().ValueOrDie()), hash);
    const FileSurvey survey = SurveyFiles(kUri).ValueOrDie();
    EXPECT_EQ(survey.num_versions, 1u);
    EXPECT_THAT(survey.missing, IsEmpty());
    EXPECT_THAT(survey.orphans, IsEmpty());
    if (!has_failed) break;
  }
  EXPECT_GT(call, 10u);
}

// What had been reported when the log of the store was so long.
struct Acknowledged {
  size_t num_effects = 0;
  uint64_t version = 0;
};

// Every version of the history with its rows.
std::vector<RowHash> History() {
  std::vector<RowHash> hashes = {{}};
  const uint64_t newest = Open().ValueOrDie().version();
  for (uint64_t version = 1; version <= newest; ++version) {
    hashes.push_back(HashOf(Open(version).ValueOrDie()));
  }
  return hashes;
}

TEST(PowerLossTest, WhatWasReportedIsThereAfterEveryPrefixOfTheLog) {
  const auto recorder = std::make_shared<RecordingStore>(io::MakeMemoryStore());
  std::vector<Acknowledged> reported;
  std::vector<RowHash> history;
  {
    const Registered registered(recorder);
    const auto report = [&] {
      reported.push_back({recorder->log().size(), Open().ValueOrDie().version()});
    };
    ASSERT_THAT(Write(WriteMode::kCreate, 0, 40, false), IsOk());
    report();
    for (const Verb& verb : Verbs()) {
      if (verb.name == "drop_columns") continue;  // the next append has to fit
      ASSERT_THAT(verb.run(Open().ValueOrDie()), IsOk()) << verb.name;
      report();
      if (verb.name != "add_columns") continue;
      ASSERT_THAT(DropColumns(Open().ValueOrDie(), std::vector<std::string>{"twice"}), IsOk());
      report();
    }
    history = History();
  }
  const auto log = recorder->log();
  for (size_t length = reported.front().num_effects; length <= log.size(); ++length) {
    uint64_t version = 0;
    for (const Acknowledged& entry : reported) {
      if (entry.num_effects <= length) version = entry.version;
    }
    for (const Crash crash : {Crash::kKeepsAll, Crash::kLosesUnsynced, Crash::kEmptiesUnsynced,
                              Crash::kTearsUnsynced, Crash::kMixed}) {
      SCOPED_TRACE("after " + std::to_string(length) + " effects, crash " +
                   std::to_string(static_cast<int>(crash)));
      const Registered registered(Replay(log, length, crash).ValueOrDie());
      const auto found = Open();
      ASSERT_THAT(found, IsOk());
      ASSERT_GE(found->version(), version);
      ASSERT_EQ(HashOf(*found), history.at(found->version()));
      // What came before is still there as well.
      ASSERT_EQ(HashOf(Open(1).ValueOrDie()), history.at(1));
    }
  }
}

}  // namespace
}  // namespace glaive
