#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace glaive::io {
namespace {

using testing::BytesOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

std::vector<std::shared_ptr<arrow::Buffer>> Parts(std::vector<std::string> texts) {
  std::vector<std::shared_ptr<arrow::Buffer>> parts;
  for (std::string& text : texts) parts.push_back(arrow::Buffer::FromString(std::move(text)));
  return parts;
}

std::vector<std::string> Names(arrow::Result<std::vector<ObjectInfo>> objects,
                               const std::string& folder) {
  std::vector<std::string> names;
  for (const ObjectInfo& object : objects.ValueOrDie()) {
    names.push_back(object.path.substr(folder.size() + 1));
  }
  return names;
}

// What every store must do, run over the local and the memory store.
class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  StoreTest() {
    if (GetParam() == "memory") {
      store_ = MakeMemoryStore();
      root_ = "/root";
    } else {
      store_ = LocalStore();
      root_ = folder_.path();
    }
  }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }

  std::string Content(const std::string& name) {
    auto reader = store_->OpenRead(Path(name));
    if (!reader.ok()) return "(" + reader.status().ToString() + ")";
    const auto buffer = (*reader)->Read({0, (*reader)->size_bytes()});
    return buffer.ok() ? (*buffer)->ToString() : "(" + buffer.status().ToString() + ")";
  }

  TemporaryFolder folder_;
  std::shared_ptr<ObjectStore> store_;
  std::string root_;
};

TEST_P(StoreTest, WhatIsPutIsReadBack) {
  ASSERT_THAT(store_->Put(Path("a/b/c"), BytesOf("hello")), IsOk());
  EXPECT_EQ(Content("a/b/c"), "hello");
  ASSERT_THAT(store_->Put(Path("a/b/c"), BytesOf("")), IsOk());
  EXPECT_EQ(Content("a/b/c"), "");
}

TEST_P(StoreTest, AnObjectIsThereFromFinishOnAndWhole) {
  const std::string big(700'000, 'x');  // more than a writer buffers
  {
    auto writer = store_->OpenWrite(Path("data/f")).ValueOrDie();
    ASSERT_THAT(writer->Write(BytesOf("head")), IsOk());
    ASSERT_THAT(writer->Write(BytesOf(big)), IsOk());
    ASSERT_THAT(writer->Write(BytesOf("tail")), IsOk());
    EXPECT_EQ(writer->position(), big.size() + 8);
    EXPECT_FALSE(store_->Head(Path("data/f")).ValueOrDie().has_value());
    ASSERT_THAT(writer->Finish(), IsOk());
  }
  EXPECT_EQ(Content("data/f"), "head" + big + "tail");
  EXPECT_THAT(Names(store_->List(Path("data")), Path("data")), ElementsAre("f"));
}

TEST_P(StoreTest, ALinkHasTheBytesAndStaysWhenTheOtherNameGoes) {
  const std::string big(9'000'000, 'x');  // more than a copy moves at once
  ASSERT_THAT(store_->Put(Path("data/f"), BytesOf(big)), IsOk());
  ASSERT_THAT(store_->Link(Path("data/f"), Path("other/g")).status(), IsOk());
  ASSERT_THAT(store_->Delete(Path("data/f")), IsOk());
  EXPECT_EQ(Content("other/g"), big);
}

TEST_P(StoreTest, ALinkReplacesNothing) {
  ASSERT_THAT(store_->Put(Path("f"), BytesOf("one")), IsOk());
  ASSERT_THAT(store_->Put(Path("g"), BytesOf("two")), IsOk());
  EXPECT_THAT(store_->Link(Path("f"), Path("g")).status(),
              IsError(ErrorKind::kAlreadyExists, "of this name"));
  EXPECT_EQ(Content("g"), "two");
  EXPECT_THAT(store_->Link(Path("none"), Path("h")).status(),
              IsError(ErrorKind::kFileNotFound, "none"));
}

TEST_P(StoreTest, AnUnfinishedWriteLeavesNothing) {
  ASSERT_THAT(store_->Put(Path("data/f"), BytesOf("old")), IsOk());
  {
    auto writer = store_->OpenWrite(Path("data/f")).ValueOrDie();
    ASSERT_THAT(writer->Write(BytesOf(std::string(700'000, 'x'))), IsOk());
  }
  EXPECT_EQ(Content("data/f"), "old");
  EXPECT_THAT(Names(store_->ListRecursive(root_), root_), ElementsAre("data/f"));
}

TEST_P(StoreTest, ANewObjectIsThereOnceFinishedAndElseNotAtAll) {
  {
    auto writer = store_->OpenNew(Path("data/f")).ValueOrDie();
    ASSERT_THAT(writer->Write(BytesOf("head")), IsOk());
    ASSERT_THAT(writer->Write(BytesOf(std::string(700'000, 'x'))), IsOk());
    ASSERT_THAT(writer->Finish(), IsOk());
    const auto unfinished = store_->OpenNew(Path("data/g")).ValueOrDie();
    ASSERT_THAT(unfinished->Write(BytesOf(std::string(700'000, 'y'))), IsOk());
  }
  EXPECT_EQ(Content("data/f"), "head" + std::string(700'000, 'x'));
  EXPECT_THAT(Names(store_->ListRecursive(root_), root_), ElementsAre("data/f"));
}

TEST_P(StoreTest, FinishReplaces) {
  ASSERT_THAT(store_->Put(Path("f"), BytesOf("old and long")), IsOk());
  auto writer = store_->OpenWrite(Path("f")).ValueOrDie();
  ASSERT_THAT(writer->Write(BytesOf("new")), IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  EXPECT_EQ(Content("f"), "new");
}

TEST_P(StoreTest, PutIfAbsentKeepsWhatIsThere) {
  for (const bool sync : {false, true}) {
    const std::string name = sync ? "s/1" : "n/1";
    ASSERT_THAT(store_->PutIfAbsent(Path(name), Parts({"one", "", "two"}), sync), IsOk());
    EXPECT_THAT(store_->PutIfAbsent(Path(name), Parts({"three"}), sync),
                IsError(ErrorKind::kAlreadyExists, Path(name)));
    EXPECT_EQ(Content(name), "onetwo");
  }
  EXPECT_THAT(Names(store_->ListRecursive(root_), root_), UnorderedElementsAre("s/1", "n/1"));
}

TEST_P(StoreTest, OfRacingThreadsOneMakesTheObject) {
  constexpr int kThreads = 4;
  constexpr int kObjects = 50;
  std::vector<std::atomic<int>> winners(kObjects);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kObjects; ++i) {
        const auto status =
            store_->PutIfAbsent(Path(std::to_string(i)), Parts({std::to_string(thread)}), false);
        if (status.ok()) {
          winners[static_cast<size_t>(i)] += 1 + 10 * thread;
        } else {
          EXPECT_THAT(status, IsError(ErrorKind::kAlreadyExists, ""));
        }
      }
    });
  }
  threads.clear();
  for (int i = 0; i < kObjects; ++i) {
    const int winner = winners[static_cast<size_t>(i)];
    EXPECT_EQ(winner % 10, 1) << i;
    EXPECT_EQ(Content(std::to_string(i)), std::to_string(winner / 10)) << i;
  }
}

TEST_P(StoreTest, ErrorsNameKindAndPath) {
  EXPECT_THAT(store_->OpenRead(Path("none")), IsError(ErrorKind::kFileNotFound, Path("none")));
  ASSERT_THAT(store_->Put(Path("f"), BytesOf("0123456789")), IsOk());
  const auto reader = store_->OpenRead(Path("f")).ValueOrDie();
  EXPECT_THAT(reader->Read({4, 7}), IsError(ErrorKind::kCorrupt, "byte 4: 7 bytes expected"));
  EXPECT_THAT(reader->Read({11, 0}), IsError(ErrorKind::kCorrupt, Path("f")));
  EXPECT_THAT(reader->Read({UINT64_MAX, 2}), IsError(ErrorKind::kCorrupt, Path("f")));
  const ByteRange ranges[] = {{0, 1}, {2, UINT64_MAX}};
  EXPECT_THAT(reader->ReadMany(ranges), IsError(ErrorKind::kCorrupt, "byte 2"));
  EXPECT_THAT(store_->Delete(Path("none")), IsOk());
  EXPECT_THAT(store_->Delete(Path("f/none")), IsOk());
}

TEST_P(StoreTest, ReadManyGivesTheRangesInTheirOrder) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>('a' + i % 23);
  ASSERT_THAT(store_->Put(Path("f"), BytesOf(bytes)), IsOk());
  const auto reader = store_->OpenRead(Path("f"), bytes.size()).ValueOrDie();
  const std::vector<ByteRange> ranges = {{90'000, 10'000}, {0, 5},      {7, 0},
                                         {3, 4},           {50'000, 1}, {0, 100'000}};
  const auto buffers = reader->ReadMany(ranges).ValueOrDie();
  ASSERT_EQ(buffers.size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(buffers[i]->ToString(), bytes.substr(ranges[i].offset, ranges[i].size)) << i;
  }
  EXPECT_THAT(reader->ReadMany({}).ValueOrDie(), IsEmpty());
}

TEST_P(StoreTest, ListsTellNamesAndSizes) {
  ASSERT_THAT(store_->Put(Path("a/1"), BytesOf("x")), IsOk());
  ASSERT_THAT(store_->Put(Path("a/2"), BytesOf("xyz")), IsOk());
  ASSERT_THAT(store_->Put(Path("a/b/3"), BytesOf("")), IsOk());
  ASSERT_THAT(store_->Put(Path("ab/4"), BytesOf("")), IsOk());
  EXPECT_THAT(Names(store_->List(Path("a")), Path("a")), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(store_->ListNames(Path("a")).ValueOrDie(), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(Names(store_->ListRecursive(Path("a")), Path("a")),
              UnorderedElementsAre("1", "2", "b/3"));
  EXPECT_THAT(store_->List(Path("none")).ValueOrDie(), IsEmpty());
  EXPECT_THAT(store_->ListRecursive(Path("none")).ValueOrDie(), IsEmpty());
  const auto info = store_->Head(Path("a/2")).ValueOrDie();
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->size_bytes, 3);
  EXPECT_GT(info->modified_ns.value_or(0), 1'600'000'000'000'000'000);
  EXPECT_FALSE(store_->Head(Path("a")).ValueOrDie().has_value());
  ASSERT_THAT(store_->Delete(Path("a/2")), IsOk());
  EXPECT_FALSE(store_->Head(Path("a/2")).ValueOrDie().has_value());
}

TEST_P(StoreTest, SyncTakesManyFiles) {
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) {
    paths.push_back(Path(std::to_string(i % 3) + "/" + std::to_string(i)));
    ASSERT_THAT(store_->Put(paths.back(), BytesOf("x")), IsOk());
  }
  EXPECT_THAT(store_->Sync(paths), IsOk());
  EXPECT_THAT(store_->Sync({}), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, ::testing::Values("local", "memory"),
                         [](const auto& test) { return test.param; });

TEST(LocalStoreTest, OfRacingProcessesOneMakesTheObject) {
  const TemporaryFolder folder;
  constexpr int kProcesses = 4;
  constexpr int kObjects = 50;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      int won = 0;
      for (int i = 0; i < kObjects; ++i) {
        const auto status = LocalStore()->PutIfAbsent(folder.path() + "/v/" + std::to_string(i),
                                                      Parts({std::to_string(process)}), false);
        if (status.ok()) ++won;
        if (!status.ok() && KindOf(status) != ErrorKind::kAlreadyExists) _exit(255);
      }
      _exit(won);
    }
    children.push_back(child);
  }
  int won = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 255);
    won += WEXITSTATUS(status);
  }
  EXPECT_EQ(won, kObjects);
  EXPECT_EQ(LocalStore()->List(folder.path() + "/v").ValueOrDie().size(), kObjects);
}

TEST(LocalStoreTest, SyncOfWhatIsNotThereFails) {
  const TemporaryFolder folder;
  const std::string paths[] = {folder.path() + "/none"};
  EXPECT_THAT(LocalStore()->Sync(paths), IsError(ErrorKind::kFileNotFound, paths[0]));
}

TEST(LocalStoreTest, AFinishedFileKeepsNoRoomBehindItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  auto writer = LocalStore()->OpenWrite(path).ValueOrDie();
  std::string all;
  for (int i = 0; i < 30; ++i) {
    const std::string part(100'000, static_cast<char>('a' + i % 26));
    ASSERT_THAT(writer->Write(BytesOf(part)), IsOk());
    all += part;
  }
  ASSERT_THAT(writer->Finish(), IsOk());
  EXPECT_EQ(LocalStore()->ReadWhole(path).ValueOrDie()->ToString(), all);
  ASSERT_THAT(LocalStore()->Sync({&path, 1}), IsOk());
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, static_cast<int64_t>(all.size()) + 64 * 1024);
}

TEST(LocalStoreTest, NoFolderComesToBeBelowADanglingLink) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder.path() + "/nothing", folder.path() + "/link");
  EXPECT_THAT(LocalStore()->PutIfAbsent(folder.path() + "/link/v/1", Parts({"x"}), false),
              IsError(ErrorKind::kFileNotFound, "/link/v"));
}

TEST(LocalStoreTest, AFolderIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(LocalStore()->OpenRead(folder.path()), IsError(ErrorKind::kFileNotFound, "folder"));
  EXPECT_THAT(LocalStore()->Delete(folder.path()), IsError(ErrorKind::kIO, folder.path()));
}

TEST(LocalStoreTest, LinksToFilesAreFilesAndLinksToFoldersAreNotFollowed) {
  const TemporaryFolder folder;
  ASSERT_THAT(LocalStore()->Put(folder.path() + "/f", BytesOf("x")), IsOk());
  std::filesystem::create_symlink("f", folder.path() + "/link");
  std::filesystem::create_symlink(".", folder.path() + "/circle");
  EXPECT_THAT(LocalStore()->ListNames(folder.path()).ValueOrDie(),
              UnorderedElementsAre("f", "link"));
  EXPECT_THAT(Names(LocalStore()->ListRecursive(folder.path()), folder.path()),
              UnorderedElementsAre("f", "link"));
}

TEST(LocalStoreTest, AWriterInheritedByAForkedChildLeavesTheFileToTheParent) {
  const TemporaryFolder folder;
  auto writer = LocalStore()->OpenWrite(folder.path() + "/f").ValueOrDie();
  ASSERT_THAT(writer->Write(BytesOf("x")), IsOk());
  const pid_t child = fork();
  if (child == 0) {
    writer.reset();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_THAT(writer->Finish(), IsOk());
}

TEST(MemoryStoreTest, AForkedChildSeesTheObjects) {
  ASSERT_THAT(MemoryStore()->Put("/fork/f", BytesOf("abc")), IsOk());
  const pid_t child = fork();
  if (child == 0) {
    const auto info = MemoryStore()->Head("/fork/f");
    _exit(info.ok() && *info && (*info)->size_bytes == 3 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace glaive::io
