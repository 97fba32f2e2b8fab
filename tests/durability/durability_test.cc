// A version that was reported with durability "commit" is whole after a loss of power: by what
// reached the kernel, and in which order, before the verb returned.
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "durability/system_calls.h"
#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/files.h"
#include "glaive/refs.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/staged_columns.h"
#include "glaive/write.h"
#include "io/object_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "testing/temporary_folder.h"

namespace glaive::durability {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;
using glaive::testing::TemporaryFolder;

namespace fs = std::filesystem;

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t begin, int64_t end) {
  const auto rows = NumberedRows(begin, end);
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

bool IsManifest(const std::string& path) { return path.ends_with(".manifest"); }

std::string Above(const std::string& path) { return fs::path(path).parent_path().string(); }

// The calls of one verb, and what has to be among them.
class Trace {
 public:
  explicit Trace(std::vector<Call> calls) : calls_(std::move(calls)) {}

  // A place behind all calls, where there is none such.
  size_t Last(CallKind kind, const std::string& path) const {
    for (size_t i = calls_.size(); i > 0; --i) {
      if (calls_[i - 1].kind == kind && calls_[i - 1].path == path) return i - 1;
    }
    return calls_.size();
  }

  bool HasSync(const std::string& path, size_t from, size_t to) const {
    for (size_t i = from; i < std::min(to, calls_.size()); ++i) {
      if (calls_[i].kind == CallKind::kSync && calls_[i].path == path) return true;
    }
    return false;
  }

  // The call that gave the manifest its name.
  size_t Publication() const {
    const auto published = std::ranges::find_if(calls_, [](const Call& call) {
      return (call.kind == CallKind::kLink || call.kind == CallKind::kRename) &&
             IsManifest(call.to);
    });
    return static_cast<size_t>(published - calls_.begin());
  }

  // From where on a file has all its bytes and its name. 0 for one that another process wrote.
  size_t WholeFrom(const std::string& path) const {
    size_t from = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const bool has_name = calls_[i].kind == CallKind::kRename && calls_[i].to == path;
      const bool is_written = calls_[i].kind == CallKind::kWrite && calls_[i].path == path;
      if (has_name || is_written) from = i + 1;
    }
    return from;
  }

  // What the file was called when its bytes were synced.
  std::string WrittenAs(const std::string& path) const {
    for (const Call& call : calls_) {
      if (call.kind == CallKind::kRename && call.to == path) return call.path;
    }
    return path;
  }

  const Call& at(size_t i) const { return calls_[i]; }
  size_t size() const { return calls_.size(); }

 private:
  std::vector<Call> calls_;
};

// Every folder above has its name synced between two places, up to the root of the test.
void ExpectNamesSynced(const Trace& trace, const std::string& root, const std::string& path,
                       size_t to) {
  for (std::string folder = Above(path); folder != root; folder = Above(folder)) {
    const size_t made = trace.Last(CallKind::kMakeFolder, folder);
    const size_t from = made == trace.size() ? 0 : made;
    EXPECT_TRUE(trace.HasSync(Above(folder), from, to)) << "the name of " << folder;
  }
}

// Those files were synced, by byte and name, before the manifest got its name; its own bytes were
// before, and its name was after that.
void ExpectDurable(const Trace& trace, const std::string& root,
                   const std::set<std::string>& brought, bool knows_folders) {
  const size_t published = trace.Publication();
  ASSERT_LT(published, trace.size());
  for (const std::string& path : brought) {
    const size_t whole = trace.WholeFrom(path);
    EXPECT_TRUE(trace.HasSync(path, whole, published)) << "the bytes of " << path;
    EXPECT_TRUE(trace.HasSync(Above(path), whole, published)) << "the name of " << path;
    if (!knows_folders) ExpectNamesSynced(trace, root, path, published);
  }
  const Call& manifest = trace.at(published);
  const size_t written = trace.Last(CallKind::kWrite, manifest.path);
  ASSERT_LT(written, published);
  EXPECT_TRUE(trace.HasSync(manifest.path, written, published)) << "the manifest's bytes";
  EXPECT_TRUE(trace.HasSync(Above(manifest.to), published, trace.size())) << "its name";
  if (!knows_folders) ExpectNamesSynced(trace, root, manifest.to, trace.size());
}

// Data and deletion files of the table.
std::set<std::string> FilesOf(const std::string& table) {
  std::set<std::string> files;
  for (const char* folder : {"/data", "/_deletions"}) {
    if (!fs::exists(table + folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(table + folder)) {
      if (entry.is_regular_file()) files.insert(entry.path().string());
    }
  }
  return files;
}

class DurabilityTest : public ::testing::Test {
 protected:
  DurabilityTest() { setenv("GLAIVE_DURABILITY", "commit", 1); }

  Dataset Open() {
    return Dataset::Open(table_, {.session = std::make_shared<Session>()}).ValueOrDie();
  }

  // Runs a verb, and looks at what reached the kernel for the files that came with it.
  void Expect(const std::function<arrow::Status()>& verb, bool knows_folders) {
    const auto before = FilesOf(table_);
    const Recording recording(folder_.path());
    const arrow::Status done = verb();
    const Trace trace(recording.Calls());
    ASSERT_THAT(done, IsOk());
    std::set<std::string> brought = FilesOf(table_);
    std::erase_if(brought, [&](const auto& path) { return before.contains(path); });
    EXPECT_FALSE(brought.empty());
    ExpectDurable(trace, folder_.path(), brought, knows_folders);
  }

  // Does something in a process of its own, which syncs nothing. What it returns is passed on.
  std::string InAnotherProcess(const std::function<std::string()>& work) {
    const std::string answer = folder_.path() + "/answer";
    const pid_t child = fork();
    if (child == 0) {
      setenv("GLAIVE_DURABILITY", "none", 1);
      std::ofstream(answer) << work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    std::ifstream file(answer);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void MakeTable() {
    ASSERT_THAT(WriteDataset(Rows(0, 60), table_, {.limits = {.max_rows_per_file = 10}}).status(),
                IsOk());
  }

  TemporaryFolder folder_;
  const std::string table_ = folder_.path() + "/of/nobody/table";
};

TEST_F(DurabilityTest, Create) {
  Expect([&] { return WriteDataset(Rows(0, 10), table_, {}).status(); }, false);
}

TEST_F(DurabilityTest, Append) {
  MakeTable();
  Expect([&] { return WriteDataset(Rows(60, 70), table_, {.mode = WriteMode::kAppend}).status(); },
         true);
}

TEST_F(DurabilityTest, Delete) {
  MakeTable();
  Expect([&] { return Delete(Open(), Predicate::Sql("a IN (3, 14)")).status(); }, true);
}

// The file that holds the rows of both is written by the commit.
TEST_F(DurabilityTest, ADeleteThatMeetsAnother) {
  MakeTable();
  const Dataset table = Open();
  ASSERT_THAT(Delete(Open(), Predicate::Sql("a = 3")).status(), IsOk());
  Expect([&] { return Delete(table, Predicate::Sql("a = 4")).status(); }, true);
}

TEST_F(DurabilityTest, Update) {
  MakeTable();
  const std::vector<ColumnUpdate> updates = {{"s", "'new'"}};
  Expect([&] { return Update(Open(), updates, Predicate::Sql("a = 3")).status(); }, true);
}

TEST_F(DurabilityTest, Compaction) {
  MakeTable();
  ASSERT_THAT(Delete(Open(), Predicate::Sql("a IN (3, 14)")).status(), IsOk());
  Expect([&] { return CompactFiles(Open()).status(); }, true);
}

TEST_F(DurabilityTest, DeletionsThatACompactionMeets) {
  MakeTable();
  const Dataset table = Open();
  const auto plan = PlanCompaction(table).ValueOrDie();
  const auto result = ExecuteCompaction(table, plan.tasks.front(), plan.options).ValueOrDie();
  ASSERT_THAT(Delete(Open(), Predicate::Sql("a IN (3, 14)")).status(), IsOk());
  Expect([&] { return CommitCompaction(table, {{result}}).status(); }, true);
}

TEST_F(DurabilityTest, DeepClone) {
  MakeTable();
  const std::string source = table_;
  const std::string clone = folder_.path() + "/a/clone";
  const Recording recording(folder_.path());
  ASSERT_THAT(DeepClone(Open(), clone, Reference{uint64_t{1}}, {}).status(), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), FilesOf(clone), false);
}

TEST_F(DurabilityTest, ATableOfFragmentsThatAnotherProcessWrote) {
  const std::string json = InAnotherProcess(
      [&] { return WriteFragments(Rows(0, 10), table_).ValueOrDie().front().ToJson(); });
  const auto files = FilesOf(table_);
  ASSERT_EQ(files.size(), 1u);
  Transaction transaction;
  transaction.operation = operation::Overwrite{
      .fragments = {FragmentMetadata::FromJson(json).ValueOrDie()},
      .schema = TableSchema::FromArrow(*NumberedRows(0, 0)->schema()).ValueOrDie()};
  const Recording recording(folder_.path());
  ASSERT_THAT(Commit(table_, transaction).status(), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), files, false);
}

TEST_F(DurabilityTest, AppendOfFragmentsThatAnotherProcessWrote) {
  const std::string json = InAnotherProcess([&] {
    const Dataset table = WriteDataset(Rows(0, 10), table_, {}).ValueOrDie().dataset;
    return WriteFragments(Rows(10, 20), table, {.mode = WriteMode::kAppend})
        .ValueOrDie()
        .front()
        .ToJson();
  });
  const auto fragment = FragmentMetadata::FromJson(json).ValueOrDie();
  const std::string file = table_ + "/data/" + fragment.files().front().path;
  const Recording recording(folder_.path());
  ASSERT_THAT(
      Commit(table_, {.read_version = 1, .operation = operation::Append{.fragments = {fragment}}})
          .status(),
      IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), {file}, false);
}

TEST_F(DurabilityTest, ColumnsThatAnotherProcessStaged) {
  const auto column = [] {
    arrow::Int64Builder builder;
    ARROW_CHECK_OK(builder.AppendValues({1, 2, 3, 4, 5}));
    const auto schema = arrow::schema({arrow::field("b", arrow::int64())});
    const auto batch = arrow::RecordBatch::Make(schema, 5, {builder.Finish().ValueOrDie()});
    return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
  };
  const std::string json = InAnotherProcess([&] {
    const Dataset table = WriteDataset(Rows(0, 5), table_, {}).ValueOrDie().dataset;
    const auto stream = column();
    const auto schema = NewColumnSchema(table, *stream->schema()).ValueOrDie();
    return StageColumns(table, 0, stream, schema).ValueOrDie().ToJson();
  });
  const auto staged = StagedColumns::FromJson(json).ValueOrDie();
  const Dataset table = Open();
  const Recording recording(folder_.path());
  ASSERT_THAT(CommitColumns(table, {{staged}}).status(), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), {table_ + "/data/" + staged.path()},
                false);
}

// What was laid into the table's folder by others, in whichever form a commit brings it.
std::string WriteColumn(const std::string& table, const std::string& name, int64_t rows) {
  const auto batch = NumberedRows(0, rows, /*with_text=*/false);
  const auto writer =
      DataFileWriter::Create(table + "/data/" + name, batch->schema(), {}).ValueOrDie();
  EXPECT_THAT(writer->Write(batch), IsOk());
  EXPECT_THAT(writer->Finish(), IsOk());
  return table + "/data/" + name;
}

TEST_F(DurabilityTest, AnOverlayThatAnotherProcessWrote) {
  setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1", 1);
  MakeTable();
  const Dataset table = Open();
  const std::string path = InAnotherProcess([&] { return WriteColumn(table_, "o.lance", 2); });
  operation::DataOverlay overlay;
  overlay.groups.push_back({0,
                            {{.data_file = DescribeDataFile(table, "o.lance").ValueOrDie(),
                              .offset_bitmaps = {MakeBitmap({1, 3}).ValueOrDie()}}}});
  const Recording recording(folder_.path());
  ASSERT_THAT(Commit(table, {.read_version = 1, .operation = overlay}), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), {path}, true);
}

TEST_F(DurabilityTest, AColumnInPlaceOfAnotherThatAnotherProcessWrote) {
  MakeTable();
  const Dataset table = Open();
  const std::string path = InAnotherProcess([&] { return WriteColumn(table_, "c.lance", 10); });
  operation::DataReplacement replacement;
  replacement.replacements.push_back({0, DescribeDataFile(table, "c.lance").ValueOrDie()});
  const Recording recording(folder_.path());
  ASSERT_THAT(Commit(table, {.read_version = 1, .operation = replacement}), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), {path}, true);
}

TEST_F(DurabilityTest, AnIndexThatAnotherProcessWrote) {
  MakeTable();
  const std::string uuid = "01234567-89ab-cdef-0123-456789abcdef";
  const std::string path = table_ + "/_indices/" + uuid + "/page_data.lance";
  InAnotherProcess([&] {
    fs::create_directories(Above(path));
    std::ofstream(path) << "an index";
    return std::string();
  });
  const operation::CreateIndex index{
      .new_indices = {{.uuid = uuid,
                       .name = "i",
                       .fields = {0},
                       .dataset_version = 1,
                       .fragment_bitmap = MakeBitmap({0}).ValueOrDie(),
                       .details = IndexMetadata::Details{"/lance.table.BTreeIndexDetails", ""}}}};
  const Recording recording(folder_.path());
  ASSERT_THAT(Commit(Open(), {.read_version = 1, .operation = index}), IsOk());
  const Trace trace(recording.Calls());
  ExpectDurable(trace, folder_.path(), {path}, true);
  ExpectNamesSynced(trace, table_, path, trace.Publication());
}

TEST_F(DurabilityTest, LargeValuesThatAnotherProcessWrote) {
  const auto blob = arrow::field("s", arrow::utf8(), true,
                                 arrow::key_value_metadata({{"lance-encoding:blob", "true"}}));
  const auto schema = arrow::schema({arrow::field("a", arrow::int64()), blob});
  const std::string path = InAnotherProcess([&] {
    const std::string name = WriteFragments(Rows(0, 10), table_).ValueOrDie().front().ToJson();
    return name;
  });
  const auto fragment = FragmentMetadata::FromJson(path).ValueOrDie();
  std::string folder = table_ + "/data/" + fragment.files().front().path;
  folder.resize(folder.rfind('.'));
  fs::create_directories(folder);
  std::ofstream(folder + "/1.blob") << "a large value";
  Transaction transaction;
  transaction.operation = operation::Overwrite{
      .fragments = {fragment}, .schema = TableSchema::FromArrow(*schema).ValueOrDie()};
  const Recording recording(folder_.path());
  ASSERT_THAT(Commit(table_, transaction).status(), IsOk());
  ExpectDurable(Trace(recording.Calls()), folder_.path(), {folder + "/1.blob"}, false);
}

// A tag is there after a loss of power once it was reported, and is never half of one.
TEST_F(DurabilityTest, TagsAndBranches) {
  MakeTable();
  const Dataset table = Open();
  const auto expect = [&](const std::string& path, const std::function<arrow::Status()>& verb) {
    const Recording recording(folder_.path());
    ASSERT_THAT(verb(), IsOk());
    const Trace trace(recording.Calls());
    size_t named = 0;
    while (named < trace.size() && trace.at(named).to != path) ++named;
    ASSERT_LT(named, trace.size());
    const size_t written = trace.Last(CallKind::kWrite, trace.at(named).path);
    EXPECT_LT(written, named) << path;
    EXPECT_TRUE(trace.HasSync(trace.at(named).path, written, named)) << "the bytes of " << path;
    EXPECT_TRUE(trace.HasSync(Above(path), named, trace.size())) << "the name of " << path;
  };
  const std::string refs = table_ + "/_refs/";
  expect(refs + "tags/t.json", [&] { return CreateTag(table, "t"); });
  expect(refs + "tags/t.json", [&] { return UpdateTag(table, "t"); });
  expect(refs + "branches/b.json", [&] { return CreateBranch(table, "b").status(); });
  expect(refs + "branches/b.json", [&] { return ReplaceBranchMetadata(table, "b", {{"k", "v"}}); });
}

TEST_F(DurabilityTest, AFileThatIsMissing) {
  MakeTable();
  const auto fragments =
      WriteFragments(Rows(60, 70), Open(), {.mode = WriteMode::kAppend}).ValueOrDie();
  const std::string file = fragments.front().files().front().path;
  fs::remove(table_ + "/data/" + file);
  EXPECT_THAT(
      Commit(table_, {.read_version = 1, .operation = operation::Append{.fragments = fragments}})
          .status(),
      IsError(ErrorKind::kFileNotFound, file));
  EXPECT_EQ(Open().version(), 1u);
}

TEST_F(DurabilityTest, NothingIsSyncedWhereItIsNotAskedFor) {
  const Recording recording(folder_.path());
  ASSERT_THAT(
      WriteDataset(Rows(0, 10), table_, {.version = {.durability = Durability::kNone}}).status(),
      IsOk());
  const auto calls = recording.Calls();
  EXPECT_EQ(std::ranges::count(calls, CallKind::kSync, &Call::kind), 0);
}

// The kernel may take a part of what it is given, or be interrupted before it takes any.
TEST(WriteTest, WhatIsTakenInPartsIsWhole) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 700'000; ++i) bytes += static_cast<char>('a' + i % 23);
  const std::string path = folder.path() + "/f";
  SetMostWritten(300'000);
  const arrow::Status put = io::LocalStore()->Put(path, std::as_bytes(std::span(bytes)));
  SetMostWritten(0);
  ASSERT_THAT(put, IsOk());
  EXPECT_EQ(io::LocalStore()->ReadWhole(path).ValueOrDie()->ToString(), bytes);
}

class LinkTest : public ::testing::Test {
 protected:
  ~LinkTest() override { SetBeforeLink({}); }

  arrow::Status Put() {
    const auto bytes = arrow::Buffer::FromString("ours");
    return io::LocalStore()->PutIfAbsent(path_, {{bytes}}, true);
  }

  std::string Content() {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/object";
};

TEST_F(LinkTest, ACopyByLinksDoesNotMakeAnothersObjectOurs) {
  SetBeforeLink([&](const std::string& from, const std::string& to) {
    SetBeforeLink({});
    std::ofstream(to) << "theirs";
    fs::create_hard_link(from, folder_.path() + "/snapshot");
  });
  EXPECT_THAT(Put(), IsError(ErrorKind::kAlreadyExists, "object"));
  EXPECT_EQ(Content(), "theirs");
}

TEST_F(LinkTest, AnAnswerThatWasLostIsFound) {
  SetBeforeLink([&](const std::string& from, const std::string& to) {
    SetBeforeLink({});
    fs::create_hard_link(from, to);
    fs::create_hard_link(from, folder_.path() + "/snapshot");
  });
  EXPECT_THAT(Put(), IsOk());
  EXPECT_EQ(Content(), "ours");
}

}  // namespace
}  // namespace glaive::durability
